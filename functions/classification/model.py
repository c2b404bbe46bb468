"""What is known of an error, and what it is taken for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from functions.errors import redact

__all__ = ["Classification", "ErrorClass", "Facts", "Rule", "Severity", "facts_of"]


class ErrorClass(str, Enum):
    """Transient passes by itself, business needs another input or decision, uncertain must be looked into before
    anything is repeated, systemic needs a repair."""

    TRANSIENT = "transient"
    BUSINESS = "business"
    UNCERTAIN = "uncertain"
    SYSTEMIC = "systemic"


class Severity(str, Enum):
    """P0 stops at once and calls somebody; P1 today, P2 this week, P3 only counted."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


@dataclass(frozen=True)
class Facts:
    """What rules look at: the names of the error's types and of its causes', HTTP status, the vendor's code, all texts
    (redacted), and what kind of business it happened in."""

    types: tuple[str, ...]
    status: int | None = None
    code: str = ""
    text: str = ""
    business: str = ""


@dataclass(frozen=True)
class Rule:
    """What is done: `retry` the step, `record` the error, `notify` these roles, `hand_over` to a person."""

    retry: bool = False
    record: bool = True
    notify: tuple[str, ...] = ()
    hand_over: bool = False


@dataclass(frozen=True)
class Classification:
    """What an error was taken for. `place` is the line of the table that says so, empty for the default."""

    error_class: ErrorClass
    severity: Severity
    rule: Rule
    place: str = ""

    @property
    def stops(self) -> bool:
        """True when nothing may go on before a person has looked (P0)."""
        return self.severity is Severity.P0


def facts_of(error: BaseException, *, business: str = "") -> Facts:
    """Gather the facts of an error and of everything it was raised from."""
    types: list[str] = []
    texts: list[str] = []
    status: int | None = None
    code = ""
    seen: BaseException | None = error
    for _ in range(20):
        if seen is None:
            break
        types += [kind.__name__ for kind in type(seen).__mro__ if kind not in (object, BaseException, Exception)]
        texts.append(str(seen))
        status = status if status is not None else _status(seen)
        code = code or _code(seen)
        seen = seen.__cause__ or seen.__context__
    return Facts(tuple(dict.fromkeys(types)), status, code, redact("\n".join(texts), 4000), business)


def _known(error: BaseException, *names: str) -> Any:
    details = getattr(error, "details", None)
    for name in names:
        value = getattr(error, name, None)
        if value is None and isinstance(details, dict):
            value = details.get(name)
        if value is not None:
            return value
    return None


def _status(error: BaseException) -> int | None:
    value = _known(error, "status", "status_code")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _code(error: BaseException) -> str:
    value = _known(error, "code", "reason")
    return value if isinstance(value, str) else ""
