"""What a failed state does: Retry first, then Catch, then the enclosing state, then the execution (language page 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from local_sim.definition.model import CatchRule, MapState, ParallelState, RetryRule, TaskState

from . import log
from .commands import Reason
from .cursor import Cursor
from .evaluation import check_output, compute, view
from .faults import ALL, StateFailure
from .trace import Part
from .visit import move_on

if TYPE_CHECKING:
    from .fan import Fan
    from .machine import Machine

_Rule = TypeVar("_Rule", RetryRule, CatchRule)
_RULED = (TaskState, ParallelState, MapState)
_LONGEST_DELAY_SECONDS = 365 * 24 * 3600
"""What a backoff that grows without `MaxBackoffSeconds` is held to (A61)."""


def fail(run: Machine, cursor: Cursor, failure: StateFailure) -> None:
    """Let the innermost rule that matches take the failure; without one the execution is Failed."""
    while True:
        try:
            if not failure.final and _handled(run, cursor, failure):
                return
        except StateFailure as worse:
            # A Catch whose own constructor fails: the state's rules are used up, the enclosing state may still take it.
            failure = worse
        _record(run, cursor, failure, None)
        cursor.last = run.log.add(cursor.last, cursor.state.name, log.STEP_EXITED, run.now, log.NOTHING)
        fan = cursor.fan
        if fan is None:
            run.fail(failure.error, failure.cause)
            return
        _break_off(run, fan, cursor, failure)
        cursor = fan.owner


def delay_ms(rule: RetryRule, retry: int) -> int:
    """Return the milliseconds before retry number `retry`, which counts from 1 (A17)."""
    ceiling = _LONGEST_DELAY_SECONDS if rule.max_backoff_seconds is None else rule.max_backoff_seconds
    try:
        seconds = rule.interval_seconds * rule.backoff_rate ** (retry - 1)
    except OverflowError:
        seconds = ceiling
    return round(min(seconds, ceiling) * 1000)


def match(rules: Sequence[_Rule], error: str) -> tuple[int, _Rule] | None:
    """Return the first rule that lists the error name or FnF.ALL, with its index. Exact and case-sensitive (A03)."""
    for index, rule in enumerate(rules):
        if error in rule.errors or ALL in rule.errors:
            return index, rule
    return None


def _handled(run: Machine, cursor: Cursor, failure: StateFailure) -> bool:
    state = cursor.state
    return isinstance(state, _RULED) and (_retry(run, cursor, state, failure) or _catch(run, cursor, state, failure))


def _retry(run: Machine, cursor: Cursor, state: TaskState | ParallelState | MapState, failure: StateFailure) -> bool:
    found = match(state.retry, failure.error)
    if found is None:
        return False
    index, rule = found
    uses = cursor.rule_uses = cursor.rule_uses or {}
    spent = uses.get(index, 0) >= rule.max_attempts
    if run.trace is not None:
        run.trace.add(state, Part.EXHAUSTED if spent else Part.RETRIED, index)
    if spent:
        return False
    uses[index] = uses.get(index, 0) + 1
    cursor.retries += 1
    cursor.waits = run.start_timer(run.now + delay_ms(rule, uses[index]), "retry", cursor, _again)
    return True


def _again(run: Machine, cursor: Cursor) -> None:
    cursor.waits = None
    run.ready.append(cursor)


def _catch(run: Machine, cursor: Cursor, state: TaskState | ParallelState | MapState, failure: StateFailure) -> bool:
    found = match(state.catch, failure.error)
    if found is None:
        return False
    index, rule = found
    output = cursor.input
    if rule.output_constructor is not None:
        scope = view(run, cursor)
        scope.error_code, scope.error_detail = failure.error, failure.cause
        output = compute(rule.output_constructor, scope)
        check_output(run, output, f"what a Catch of {state.name} hands on")
    _record(run, cursor, failure, rule.next)
    if run.trace is not None:
        run.trace.add(state, Part.CAUGHT, index)
    move_on(run, cursor, state.name, output, rule.next)
    run.ready.append(cursor)
    return True


def _record(run: Machine, cursor: Cursor, failure: StateFailure, caught_by: str | None) -> None:
    detail = {"error": failure.error, "cause": failure.cause}
    if caught_by is not None:
        detail["next"] = caught_by
    cursor.last = run.log.add(cursor.last, cursor.state.name, log.STEP_FAILED, run.now, detail)


def _break_off(run: Machine, fan: Fan, failed: Cursor, failure: StateFailure) -> None:
    """End a Parallel or Map by its first failure: siblings are cancelled (A12)."""
    owner = fan.owner
    fan.live = False
    detail = {"index": failed.index, "status": "Failed", "error": failure.error, "cause": failure.cause}
    owner.last = run.log.add(failed.last, owner.state.name, fan.exited, run.now, detail)
    failed.live = False
    for sibling in list(fan.children.values()):
        if sibling.live:
            run.abandon(sibling, Reason.CANCELLED, f"{owner.state.name}: {fan.label(failed.index)} failed")
            detail = {"index": sibling.index, "status": "Cancelled"}
            owner.last = run.log.add(sibling.last, owner.state.name, fan.exited, run.now, detail)
    owner.waits = None
