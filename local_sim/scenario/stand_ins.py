"""Answers a flow's calls from mocks, and notices everything that does not fit: mocks fail loudly."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from local_sim.actions import Call, CallFailed, CallSucceeded, Outcome
from local_sim.definition.model import Flow, MapState, TaskMode, TaskState
from local_sim.definition.walk import StatePath, states_of
from local_sim.expression.spelling import nearest

from .errors import BadScenario
from .responses import Json, Mock, Response, Script
from .shapes import missing, reads_of

FUNCTION = "FC:InvokeFunction"
NO_ANSWER = "local_sim.NoAnswer"
_NO_TASK = "it makes no call, so it cannot be mocked"


@dataclass(frozen=True, slots=True)
class MockCall:
    """A call a state made. `event` is the handler's event, or the Parameters of another action."""

    state: str
    path: tuple[str, ...]
    action: str
    event: Json
    attempt: int
    mocked: bool


class StandIns:
    """Answers calls by state: a mock's key is a state's name, or the end of its path, such as `Fan/Charge`.

    With `real` the states without a mock are carried out; without, reaching one is a problem. `errors` are the error
    names each function declares, by function name. Mocks that are `optional` may be left unused.
    """

    def __init__(
        self,
        flow: Flow,
        mocks: Mapping[str, Mock],
        *,
        real: bool,
        errors: Mapping[str, tuple[str, ...]],
        optional: Collection[str] = (),
    ) -> None:
        self._flow = flow
        self._real = real
        self._errors = errors
        self._optional = frozenset(optional)
        self._states = {path: state for path, state in states_of(flow) if isinstance(state, TaskState | MapState)}
        self._scripts = {key: Script(mock) for key, mock in mocks.items()}
        for key in mocks:
            self._check_key(key)
        self.calls: list[MockCall] = []
        self._problems: list[str] = []

    def __call__(self, call: Call) -> Outcome | None:
        """Answer a call; None has it carried out."""
        key = self._key(call.path)
        event = _event(call)
        self.calls.append(MockCall(call.path[-1], call.path, call.action, event, call.attempt, key is not None))
        if key is None:
            return None if self._real else self._problem(f"{'/'.join(call.path)} was reached and has no mock")
        script = self._scripts[key]
        response = script.take(event)
        if response is None:
            return self._problem(f"{key} was called {script.given} times, its mock has {script.planned} responses")
        return self._answer(key, call, response)

    def problems(self) -> tuple[str, ...]:
        """Return what went wrong so far, responses nobody used included."""
        unused = tuple(
            f"{key}: {script.left} of {script.planned or 1} responses never used"
            if script.given
            else f"{key}: its mock was never used"
            for key, script in self._scripts.items()
            if script.left and key not in self._optional
        )
        return (*self._problems, *unused)

    def _problem(self, text: str) -> CallFailed:
        if text not in self._problems:
            self._problems.append(text)
        return CallFailed(NO_ANSWER, text)

    def _key(self, path: tuple[str, ...]) -> str | None:
        """Return the mock that fits best: the longest end of the path, with or without the names of branches."""
        ends = [*_ends(_static(path)), *_ends(_named(path))]
        return next((end for end in ends if end in self._scripts), None)

    def _check_key(self, key: str) -> None:
        ends = {end for path in self._states for form in (path, _named(path)) for end in _ends(form)}
        if key in ends:
            return
        known = {path[-1] for path, _ in states_of(self._flow)}
        if key in known:
            raise BadScenario(f"mock of {key}: {_NO_TASK}")
        near = nearest(key, sorted(ends), 0.6)
        listed = f"did you mean {near}?" if near else f"there are {', '.join(sorted({p[-1] for p in self._states}))}"
        raise BadScenario(f"mock of {key}: flow {self._flow.name} has no such state; {listed}")

    def _answer(self, key: str, call: Call, response: Response) -> Outcome:
        if response.error:
            self._check_error(key, call, response.error)
            return CallFailed(response.error, _cause(call, response), after_seconds=response.after_seconds)
        output = response.value
        if call.action == FUNCTION:
            output = {"Code": 200, "Header": {"X-Fc-Request-Id": call.request_id}, "Body": response.value}
        if response.after_seconds is not None:
            self._check_shape(key, call, output)
        return CallSucceeded(output, after_seconds=response.after_seconds)

    def _check_error(self, key: str, call: Call, error: str) -> None:
        declared = self._errors.get(_function(call))
        if declared is not None and "." not in error and error not in declared:
            listed = ", ".join(declared) or "none"
            self._problem(f"{key}: its function declares the errors {listed}, the mock raises {error}")

    def _check_shape(self, key: str, call: Call, output: Json) -> None:
        state = self._states.get(_static(call.path))
        if not isinstance(state, TaskState) or call.mode is TaskMode.CUSTOM_CALLBACK or call.action != state.action:
            return
        for read in reads_of(state):
            lack = missing(read, output)
            if lack:
                place = f"{self._flow.source}:{read.position.line}:{read.position.column}"
                self._problem(f"{key}: the flow reads {read.text} ({place}), and in the mock's response {lack}")


def _event(call: Call) -> Json:
    given = call.parameters
    return given.get("body") if call.action == FUNCTION and isinstance(given, dict) else given


def _function(call: Call) -> str:
    arn = call.parameters.get("resourceArn") if isinstance(call.parameters, dict) else None
    return str(arn or "").split(":functions/")[-1].split("/")[0]


def _cause(call: Call, response: Response) -> str:
    """Return the cause as the action would give it: a function's error is its JSON body (A06)."""
    if call.action != FUNCTION:
        return response.cause
    body: dict[str, Any] = {"errorMessage": response.cause, "errorType": response.error, "stackTrace": []}
    return json.dumps(body, ensure_ascii=False)


def _static(path: StatePath) -> StatePath:
    """Return the path as the definition has it: without the numbers of a Map's iterations."""
    return tuple(part for part in path if not re.fullmatch(r"Iteration\d+", part))


def _named(path: StatePath) -> StatePath:
    return tuple(part for part in path if not re.fullmatch(r"(Iteration|Branch)\d+", part))


def _ends(path: StatePath) -> list[str]:
    """Return the ends of a path, the longest first."""
    return ["/".join(path[start:]) for start in range(len(path))]
