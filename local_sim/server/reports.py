"""Reports for waiting tasks: the token is checked, the report is on the disk before it is acknowledged (A31, C46)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from local_sim.definition import DefinitionError
from local_sim.engine import (
    BadTokenError,
    CallbackFailed,
    CallbackSucceeded,
    Command,
    Execution,
    Ignored,
    Reason,
    Token,
    parse_token,
    verify_token,
)
from local_sim.services.cloudflow.errors import Conflict, InvalidArgument

from .hub import Hub
from .live import ServedLive, build_engine

FlowId = Callable[[str], "str | None"]
"""From a flow's name to its id; None when there is none."""
_ENDS = ("TaskSucceeded", "TaskFailed")
_TEXTS = {
    Reason.TIMED_OUT: "The task has timed out.",
    Reason.CANCELLED: "The task has been cancelled.",
    Reason.EXECUTION_OVER: "The execution of the task is over.",
    Reason.NOT_STARTED: "The execution of the task has not started.",
}


class Reports:
    """Takes reports by token."""

    def __init__(self, hub: Hub, flow_id: FlowId) -> None:
        self._hub = hub
        self._flow_id = flow_id

    async def succeed(self, token: str, output: Any) -> int:
        """End a task well and return the id of the event that says so.

        Raises InvalidArgument for a token that is unknown or malformed, Conflict TaskAlreadyCompleted for one whose
        task is over; the message says why.
        """
        return await self._report(token, lambda now, task_id: CallbackSucceeded(now, task_id, output))

    async def fail(self, token: str, error: str, cause: str) -> int:
        """End a task with an error; see `succeed`."""
        return await self._report(token, lambda now, task_id: CallbackFailed(now, task_id, error, cause))

    async def _report(self, text: str, event: Callable[[int, int], CallbackSucceeded | CallbackFailed]) -> int:
        token = _parse(text)
        live = self._live(token)
        if live is None:
            return self._too_late(text, token, event)
        _verify(text, live.record.secret)
        commands = await self._hub.ask(live, event(self._hub.now(live), token.event_id))
        _check(commands)
        return _event_id(live.engine)

    def _live(self, token: Token) -> ServedLive | None:
        flow_id = self._flow_id(token.flow)
        return None if flow_id is None else self._hub.live(flow_id, token.execution)

    def _too_late(
        self, text: str, token: Token, event: Callable[[int, int], CallbackSucceeded | CallbackFailed]
    ) -> int:
        served = self._hub.reader.find_by_token(token.flow, token.execution)
        if served is None:
            raise InvalidArgument("Parameter 'TaskToken' names no task of this service.", "TaskToken")
        _verify(text, served.execution.secret)
        try:
            engine = build_engine(served, self._hub.definitions)
        except (DefinitionError, KeyError):
            text = "The execution has failed: its definition could no longer be read."
            raise Conflict("TaskAlreadyCompleted", text, status=400) from None
        for past in self._hub.reader.events(served.execution.id):
            engine.handle(past)
        _check(engine.handle(event(served.stopped_ms or 0, token.event_id)))
        raise InvalidArgument("Parameter 'TaskToken' names no task of this service.", "TaskToken")


def _parse(text: str) -> Token:
    try:
        return parse_token(text)
    except BadTokenError as error:
        raise InvalidArgument(f"Parameter 'TaskToken' cannot be used: {error.reason}.", "TaskToken") from error


def _verify(text: str, secret: bytes) -> None:
    try:
        verify_token(text, secret)
    except BadTokenError as error:
        raise InvalidArgument(f"Parameter 'TaskToken' cannot be used: {error.reason}.", "TaskToken") from error


def _check(commands: list[Command]) -> None:
    ignored = commands[0] if commands and isinstance(commands[0], Ignored) else None
    if ignored is None:
        return
    if ignored.reason is Reason.UNKNOWN:
        raise InvalidArgument("Parameter 'TaskToken' names no task of this service.", "TaskToken")
    text = _TEXTS.get(ignored.reason)
    if text is None:
        with_what = "the same content" if ignored.same else "another content"
        text = f"The task has already been reported, with {with_what}."
    raise Conflict("TaskAlreadyCompleted", text, status=400)


def _event_id(engine: Execution) -> int:
    history = engine.history
    for index in range(len(history) - 1, -1, -1):
        event = history[index]
        if event.type in _ENDS:
            return event.event_id
    return len(history)
