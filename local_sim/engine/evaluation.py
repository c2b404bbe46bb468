"""Evaluating a state's expressions and judging what comes out: objects only, 64 KiB, numbers in range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from local_sim.expression import MISSING, EvaluationError, Expression, Scope, Template
from local_sim.expression.values import type_name

from .cursor import Cursor
from .events import Json
from .faults import INPUT_SIZE, OUTPUT_SIZE, RUNTIME_ERROR, StateFailure
from .size import json_bytes, surely_fits

if TYPE_CHECKING:
    from .machine import Machine


def view(run: Machine, cursor: Cursor, output: Json = MISSING) -> Scope:
    """Point the scope at the cursor's state; `output` is `$Output` where it can be read."""
    scope = run.scope
    scope.state = cursor.target or ""
    scope.input = cursor.input
    scope.output = output
    scope.item = MISSING
    scope.globals = run.globals if cursor.frame is None else cursor.frame.context
    scope.error_code = scope.error_detail = scope.task_token = None
    scope.retry_count = cursor.retries
    return scope


def compute(part: Template | Expression, scope: Scope) -> Json:
    """Evaluate. Raises StateFailure under FnF.RuntimeError; its cause names key, expression and position (A08)."""
    try:
        return part.evaluate(scope)
    except EvaluationError as error:
        raise StateFailure(error.name, str(error)) from None


def check_size(run: Machine, value: Json, what: str, error: str, *, final: bool = False) -> None:
    """Refuse a value over the limit, which counts UTF-8 bytes of compact JSON (A24)."""
    limit = run.limits.max_io_bytes
    if limit is None or surely_fits(value, limit):
        return
    size = json_bytes(value, run.limits.max_json_depth)
    if size > limit:
        raise StateFailure(error, f"{what} has {size} bytes, the limit is {limit}", final=final)


def check_input(run: Machine, value: Json, what: str) -> None:
    """Refuse an input over the limit."""
    check_size(run, value, what, INPUT_SIZE)


def check_output(run: Machine, value: Json, what: str, *, final: bool = False) -> None:
    """Refuse an output that is no object or over the limit; `final` marks the execution's own output (A24)."""
    if type(value) is not dict:
        raise StateFailure(
            RUNTIME_ERROR, f"{what} must be an object, not {type_name(value)}: {_short(value)}", final=final
        )
    check_size(run, value, what, OUTPUT_SIZE, final=final)


def number_between(value: Json, what: str, low: float, high: float) -> float:
    """Return a finite number in a range, both ends included, or fail the state (A22)."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise StateFailure(RUNTIME_ERROR, f"{what} must be a number, not {type_name(value)}: {_short(value)}")
    if not low <= value <= high:
        raise StateFailure(RUNTIME_ERROR, f"{what} must be {low:g} to {high:g}, not {value}")
    return float(value)


def whole_between(value: Json, what: str, low: int, high: int) -> int:
    """Return a whole number in a range, both ends included, or fail the state (A22)."""
    if type(value) is not int:
        raise StateFailure(RUNTIME_ERROR, f"{what} must be a whole number, not {type_name(value)}: {_short(value)}")
    if not low <= value <= high:
        raise StateFailure(RUNTIME_ERROR, f"{what} must be {low} to {high}, not {_short(value)}")
    return value


def number_of(run: Machine, cursor: Cursor, part: Json) -> Json:
    """Return a scalar field's value: itself, or what its expression gives (A39)."""
    return compute(part, view(run, cursor)) if isinstance(part, Expression) else part


def _short(value: Json, limit: int = 80) -> str:
    # Slicing first keeps huge values, and whole numbers too long to print, out of a message.
    if type(value) is int and value.bit_length() > 256:
        return "a number of more than 77 digits"
    text = str(value if type(value) is not str else value[:limit])
    return text if len(text) < limit else f"{text[: limit - 3]}..."
