"""The Task state: attempts, timeouts, callbacks and the reports on them (language page 6.1, API page 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from local_sim.definition.model import TaskMode, TaskState

from . import log
from .commands import CancelTask, Ignored, InvokeTask, Reason
from .cursor import Cursor, Task
from .evaluation import check_input, check_size, compute, number_between, number_of, view
from .events import CallbackFailed, CallbackSucceeded, Json, TaskFailed, TaskSubmitted, TaskSucceeded
from .failure import fail
from .faults import OUTPUT_SIZE, RUNTIME_ERROR, TASK_TIMEOUT, StateFailure
from .reports import Report, content_of
from .tokens import make_token
from .visit import enter

if TYPE_CHECKING:
    from .machine import Machine


TaskReport: TypeAlias = TaskSubmitted | TaskSucceeded | TaskFailed | CallbackSucceeded | CallbackFailed


def attempt_task(run: Machine, cursor: Cursor, state: TaskState) -> bool:
    """Schedule one attempt and wait for it. Its id is that of its TaskScheduled event, and so is its token's (A16)."""
    enter(run, cursor, state)
    task_id = len(run.log) + 1
    token = _token(run, state, task_id)
    parameters: Json = {}
    if state.parameters is not None:
        scope = view(run, cursor)
        scope.task_token = token
        parameters = compute(state.parameters, scope)
        check_input(run, parameters, f"Parameters of {state.name}")
    timeout_ms = _timeout_ms(run, cursor, state)
    command = InvokeTask(
        task_id, cursor.path(), state.action, state.mode, parameters, cursor.retries, timeout_ms, token
    )
    _record(run, cursor, command)
    task = run.tasks[task_id] = cursor.waits = Task(command, cursor)
    run.commands.append(command)
    if timeout_ms is not None:
        task.timer = run.start_timer(run.now + timeout_ms, "task timeout", cursor, _on_timeout)
    return False


def on_submitted(run: Machine, event: TaskSubmitted) -> Ignored | None:
    """The call of a task in a callback mode was accepted."""
    task = run.tasks.get(event.task_id)
    if task is None:
        return refuse(run, event)
    if task.command.mode is TaskMode.REQUEST_COMPLETE or task.submitted:
        return Ignored(Reason.NOT_EXPECTED, event.task_id)
    task.submitted = True
    cursor = task.cursor
    cursor.last = run.log.add(cursor.last, cursor.state.name, log.TASK_SUBMITTED, run.now, event.output)
    return None


def on_succeeded(run: Machine, event: TaskSucceeded | CallbackSucceeded) -> Ignored | None:
    """A task's call returned, or its callback reported success. The output is checked before the state sees it."""
    task = run.tasks.get(event.task_id)
    if task is None:
        return refuse(run, event)
    if not _expected(task, event):
        return Ignored(Reason.NOT_EXPECTED, event.task_id)
    cursor = task.cursor
    run.close_task(task, Report(Reason.ALREADY_REPORTED, content_of(event)))
    try:
        check_size(run, event.output, f"the result of {cursor.state.name}", OUTPUT_SIZE)
    except StateFailure as failure:
        _failed(run, cursor, log.TASK_FAILED, failure)
        return None
    cursor.last = run.log.add(cursor.last, cursor.state.name, log.TASK_SUCCEEDED, run.now, event.output)
    cursor.arrived = event.output
    run.ready.append(cursor)
    return None


def on_failed(run: Machine, event: TaskFailed | CallbackFailed) -> Ignored | None:
    """A task's call failed, or its callback reported failure."""
    task = run.tasks.get(event.task_id)
    if task is None:
        return refuse(run, event)
    if not _expected(task, event):
        return Ignored(Reason.NOT_EXPECTED, event.task_id)
    run.close_task(task, Report(Reason.ALREADY_REPORTED, content_of(event)))
    unsent = isinstance(event, TaskFailed) and task.command.mode is not TaskMode.REQUEST_COMPLETE and not task.submitted
    kind = log.TASK_SUBMIT_FAILED if unsent else log.TASK_FAILED
    _failed(run, task.cursor, kind, StateFailure(event.error, event.cause))
    return None


def refuse(run: Machine, event: TaskReport) -> Ignored:
    """Say why a report changes nothing: terminal states are final (C21, C40)."""
    report = run.closed.get(event.task_id)
    if report is None:
        return Ignored(Reason.UNKNOWN, event.task_id)
    return report.answer(event.task_id, content_of(event))


def _token(run: Machine, state: TaskState, task_id: int) -> str | None:
    if state.mode is TaskMode.REQUEST_COMPLETE:
        return None
    if not run.limits.callbacks:
        raise StateFailure(
            RUNTIME_ERROR, f"{state.name}: an Express flow has no {state.mode.value}, only RequestComplete"
        )
    return make_token(run.secret, run.flow_name, run.name, task_id)


def _timeout_ms(run: Machine, cursor: Cursor, state: TaskState) -> int | None:
    if state.timeout is None:
        return None
    value = number_of(run, cursor, state.timeout)
    seconds = number_between(value, f"Timeout of {state.name}", 0, run.limits.max_task_timeout_seconds)
    return round(seconds * 1000) or None


def _record(run: Machine, cursor: Cursor, command: InvokeTask) -> None:
    detail: dict[str, Json] = {
        "action": command.action,
        "mode": command.mode.value,
        "parameters": command.parameters,
        "attempt": command.attempt,
    }
    if command.timeout_ms is not None:
        detail["timeoutMs"] = command.timeout_ms
    name = cursor.state.name
    cursor.last = run.log.add(cursor.last, name, log.TASK_SCHEDULED, run.now, detail)
    cursor.last = run.log.add(cursor.last, name, log.TASK_STARTED, run.now, log.NOTHING)


def _expected(task: Task, event: object) -> bool:
    """A callback needs a token, and a call's return ends no WaitForCustomCallback task."""
    mode = task.command.mode
    if isinstance(event, CallbackSucceeded | CallbackFailed):
        return mode is not TaskMode.REQUEST_COMPLETE
    return not (isinstance(event, TaskSucceeded) and mode is TaskMode.CUSTOM_CALLBACK)


def _on_timeout(run: Machine, cursor: Cursor) -> None:
    task = cursor.waits
    if not isinstance(task, Task):
        return
    command = task.command
    run.close_task(task, Report(Reason.TIMED_OUT))
    run.commands.append(CancelTask(command.task_id, "the task timed out"))
    waited = "no report came" if command.token else "no result came"
    cause = f"{cursor.state.name}: {waited} within {(command.timeout_ms or 0) / 1000:g} s"
    _failed(run, cursor, log.TASK_TIMED_OUT, StateFailure(TASK_TIMEOUT, cause))


def _failed(run: Machine, cursor: Cursor, kind: str, failure: StateFailure) -> None:
    detail = {"error": failure.error, "cause": failure.cause}
    cursor.last = run.log.add(cursor.last, cursor.state.name, kind, run.now, detail)
    fail(run, cursor, failure)
