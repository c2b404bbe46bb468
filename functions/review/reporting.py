"""A decision's way to CloudFlow: report it, and when the answer is missing or a refusal, ask the history.

The decision is in the ledger before the token is used, so whoever finds it due may report it again: our report carries
a receipt, and the history says whether that one was taken (case C46).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from functions.cloudflow import Past, ReportRefused
from functions.errors import TemporaryUpstreamError
from functions.review.model import Decision, Delivery, Report, Review

__all__ = ["Flow", "Found", "How", "deliver", "look", "output_of"]

_TRIES = 2
_ENDS = ("TaskSucceeded", "TaskFailed", "TaskTimedOut")


class Flow(Protocol):
    """What is needed of CloudFlow."""

    def succeed(self, token: str, output: dict[str, Any]) -> None:
        """Report a task's end."""
        ...

    def history(self, flow: str, execution: str) -> list[Past]:
        """Every event of an execution."""
        ...


class How(str, Enum):
    """What the history says of a review's task."""

    WAITING = "waiting"
    OURS = "ours"
    ELSEWHERE = "elsewhere"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Found:
    """How the task ended, and, for an answer from elsewhere, the Output it was ended with."""

    how: How
    output: Any = None


def output_of(review: Review) -> dict[str, Any]:
    """The callback's Output: the flow's `review`. Raises ValueError for a review without a decision."""
    if review.decided is None:
        raise ValueError("nothing is decided")
    vote = review.decided
    notes = [one.comment for one in review.votes if one.comment and one is not vote] if review.approvals > 1 else []
    note = "\n\n".join([*notes, vote.comment]).strip()
    names = [one.by for one in review.votes if one.decision is vote.decision] or [vote.by]
    return {
        "decision": vote.decision.value,
        "note": note,
        "by": ", ".join(names)[:200],
        "receipt": review.report.receipt,
    }


def deliver(flow: Flow, review: Review, tokens: Sequence[str], visit: int, at_ms: int) -> Report:
    """Report the review's decision and return how that went.

    `tokens` are those of this round, newest first: one that is refused while the task waits belongs to an attempt that
    is over. `visit` is the how-manieth visit of the state this round is (from 0), to find it in the history.
    """
    for token in tokens:
        report = _with(flow, review, token, visit, at_ms)
        if report is not None:
            return report
    return _report(review, Delivery.DUE, "the flow waits, but takes none of the tokens", at_ms)


def _with(flow: Flow, review: Review, token: str, visit: int, at_ms: int) -> Report | None:
    output = output_of(review)
    last = ""
    for _ in range(_TRIES):
        try:
            flow.succeed(token, output)
        except ReportRefused as error:  # noqa: PERF203 (a retry loop)
            return _after_refusal(flow, review, visit, error, at_ms)
        except TemporaryUpstreamError as error:
            last = error.message
            if look(flow, review, visit).how is How.OURS:
                return _report(review, Delivery.DONE, "taken; CloudFlow's answer got lost", at_ms)
        else:
            return _report(review, Delivery.DONE, "taken by CloudFlow", at_ms)
    return _report(review, Delivery.DUE, last, at_ms)


def look(flow: Flow, review: Review, visit: int) -> Found:
    """Ask the history what became of the review's task. UNKNOWN when nobody can be asked."""
    if not review.flow or not review.execution:
        return Found(How.UNKNOWN)
    try:
        past = flow.history(review.flow, review.execution)
    except (ReportRefused, TemporaryUpstreamError):
        return Found(How.UNKNOWN)
    return _read(past, review, visit)


def _read(past: Sequence[Past], review: Review, visit: int) -> Found:
    if review.report.receipt and any(review.report.receipt in repr(event.detail) for event in past):
        return Found(How.OURS)  # wherever it stands: the receipt is in no event before our report was taken
    end = next(
        (event for event in reversed(_visit(past, review.step.split("@")[0], visit)) if event.type in _ENDS), None
    )
    over = any(event.type.startswith("Execution") and event.type != "ExecutionStarted" for event in past)
    if end is None:
        return Found(How.STOPPED if over else How.WAITING)
    if end.type != "TaskSucceeded" and not over and not _left(past, end):
        return Found(How.WAITING)  # an attempt that failed; the state tries again
    if end.type == "TaskTimedOut":
        return Found(How.TIMED_OUT)
    return Found(How.ELSEWHERE, end.detail.get("output"))


def _visit(past: Sequence[Past], step: str, visit: int) -> list[Past]:
    """The events of one visit of a state: from its StepEntered to the next one."""
    starts = [index for index, event in enumerate(past) if event.type == "StepEntered" and event.step == step]
    if visit >= len(starts):
        return []
    end = starts[visit + 1] if visit + 1 < len(starts) else len(past)
    return [event for event in past[starts[visit] : end] if event.step == step]


def _left(past: Sequence[Past], end: Past) -> bool:
    return any(event.type == "StepExited" and event.step == end.step and event.number > end.number for event in past)


def _after_refusal(flow: Flow, review: Review, visit: int, error: ReportRefused, at_ms: int) -> Report | None:
    found = look(flow, review, visit)
    if found.how is How.OURS:
        return _report(review, Delivery.DONE, "taken at an earlier try", at_ms)
    if found.how is How.WAITING:
        return None
    texts = {
        How.TIMED_OUT: "too late: the flow had stopped waiting",
        How.STOPPED: "too late: the execution is over",
        How.ELSEWHERE: f"the flow was answered elsewhere: {_word(found.output)}",
    }
    return _report(review, Delivery.REFUSED, texts.get(found.how, error.message), at_ms)


def _word(output: Any) -> str:
    decision = output.get("decision") if isinstance(output, dict) else output
    known = [one.value for one in Decision]
    return str(decision) if decision in known else "with something else"


def _report(review: Review, delivery: Delivery, detail: str, at_ms: int) -> Report:
    return review.report.model_copy(update={"delivery": delivery, "detail": detail[:300], "at_ms": at_ms})
