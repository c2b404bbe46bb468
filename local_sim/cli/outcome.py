"""What a run came to: as lines, as JSON, as an exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator

from local_sim.engine import Status
from local_sim.runner import Decision, RunResult

from .causes import error_text

FAILED = 1
WAITING = 3


def exit_status(result: RunResult) -> int:
    """Return 0 when the execution succeeded, 3 when it waits for an answer, 1 for every other end."""
    if result.succeeded:
        return 0
    return WAITING if result.status is Status.RUNNING else FAILED


def as_json(result: RunResult) -> str:
    """Return the result as one JSON object; `input` is the execution's."""
    waiting = [{"state": w.state, "token": w.token, "choices": list(w.form.choices)} for w in result.waiting]
    document = {
        "execution": result.execution,
        "status": result.status.value,
        "input": result.history[0].detail.get("input") if result.history else None,
        "output": result.output,
        "error": result.error,
        "cause": result.cause,
        "path": list(result.path),
        "calls": dict(result.calls),
        "waiting": waiting,
        "unused": [_decision_text(decision) for decision in result.unused],
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def unused_lines(result: RunResult) -> Iterator[str]:
    """Yield a line for each decision that no state asked for."""
    for decision in result.unused:
        waits = ", ".join(sorted({waiting.state for waiting in result.waiting}))
        rest = f"; {waits} waits" if waits else ""
        yield f"not used: --decide {_decision_text(decision)[:120]} (nothing asked for it{rest})"


def _decision_text(decision: Decision) -> str:
    value = decision.value if isinstance(decision.value, str) else json.dumps(decision.value, ensure_ascii=False)
    return f"{decision.state}={value}" if decision.state else value


def summary(result: RunResult, resume: str) -> Iterator[str]:
    """Yield the closing lines for a person; `resume` is the command that goes on."""
    if result.status is Status.RUNNING:
        for waiting in result.waiting:
            choices = f" ({', '.join(waiting.form.choices)})" if waiting.form.choices else ""
            yield f"{waiting.state} waits for a decision{choices}."
        yield f"Go on with: {resume} --decide VALUE"
        return
    yield f"{result.execution}: {result.status.value}"
    if result.error:
        yield f"  {result.error}: {error_text(result.cause)}"
        yield f"  all of it: local-sim history {result.execution} --format json"
    elif result.output is not None:
        yield f"  {json.dumps(result.output, ensure_ascii=False)}"
