"""Which code carries out which action."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from local_sim.project import Project
from local_sim.workers.model import Worker

from .function import Invocation, read_answer, read_invocation
from .map_io import READ_ITEMS, WRITE_RESULTS
from .model import ActionFailure, Call, CallFailed, CallSucceeded, Json, Outcome

FUNCTION = "FC:InvokeFunction"
HTTP = "HTTP:Request"

Registered = Callable[[Call], Json]
StandIn = Callable[[Call], "Outcome | None"]
"""Answers a call in the place of its action; None lets the action be carried out."""


class Actions:
    """Carries out actions. `registered` maps an action, such as `MNS:SendMessage`, to a callable that returns
    `$Output`.

    A registered callable comes before the built-in ones. It fails its state by raising ActionFailure; any other
    exception fails it under its class name, as a handler's would. `stand_in` is asked before everything else.
    `variables` names the OSS that distributed Maps read from and write to, as docs/architecture.md lists them.
    """

    def __init__(
        self,
        project: Project,
        worker: Worker,
        registered: Mapping[str, Registered] | None = None,
        stand_in: StandIn | None = None,
        variables: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        self.project = project
        self.worker = worker
        self._registered = dict(registered or {})
        self._stand_in = stand_in
        self._variables = variables

    def stand_in(self, call: Call) -> Outcome | None:
        """Return the answer given in the place of the action; None when it is to be carried out."""
        return None if self._stand_in is None else self._stand_in(call)

    def overrides(self, action: str) -> bool:
        """Say whether a callable was registered for the action."""
        return action in self._registered

    def run(self, call: Call) -> Outcome:
        """Carry out a call and wait for its end."""
        if call.action in self._registered:
            return _registered(self._registered[call.action], call)
        if call.action == FUNCTION:
            invocation = read_invocation(self.project, call.parameters)
            return invocation if isinstance(invocation, CallFailed) else self.invoke(invocation, call.request_id)
        if call.action == HTTP:
            from .http import request

            return request(call)
        if self._variables is not None and call.action in (READ_ITEMS, WRITE_RESULTS):
            from .map_objects import MapObjects

            objects = MapObjects(self._variables)
            return _registered(objects.read if call.action == READ_ITEMS else objects.write, call)
        return CallFailed(
            "FnF.ActionNotSupported",
            f"local_sim does not carry out {call.action!r}; give a callable for it: "
            f"run_flow(..., actions={{{call.action!r}: function}}), or a mock of the state (docs/testing.md)",
        )

    def invoke(self, invocation: Invocation, request_id: str) -> Outcome:
        """Invoke a function and wait for its end."""
        return read_answer(self.worker.invoke(invocation.function, invocation.event, request_id))


def _registered(function: Registered, call: Call) -> Outcome:
    try:
        return CallSucceeded(function(call))
    except ActionFailure as failure:
        return CallFailed(failure.error, failure.cause)
    except Exception as error:  # noqa: BLE001 - a stand-in may raise anything, and that is its answer
        return CallFailed(type(error).__name__, str(error))
