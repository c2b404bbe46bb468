"""What an examination finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from scripts.cloud import CloudError

__all__ = ["Check", "Result", "run"]

Level = Literal["good", "warning", "bad"]


@dataclass(frozen=True)
class Result:
    """One finding: what was looked at, how it is, and what to do about it when it is not good."""

    subject: str
    level: Level
    finding: str
    mend: str = ""


Check = Callable[[], Iterator[Result]]


def run(subject: str, check: Check) -> Iterator[Result]:
    """The results of a check; what stops it is a result too, so one fault never hides the others."""
    from ledger import LedgerError

    try:
        yield from check()
    except (CloudError, LedgerError) as error:
        yield Result(subject, "bad", str(error), _mend(str(error)))


def _mend(problem: str) -> str:
    if "AccessDenied" in problem or "NoPermission" in problem or " 403 " in problem:
        return "the credentials lack a right: see python -m scripts.provision --print-policies"
    if "no answer" in problem:
        return "check the region and the endpoints, and whether this machine may reach them"
    return "see the message"
