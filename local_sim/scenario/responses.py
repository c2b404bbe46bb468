"""What a mocked state answers: one response, some in turn, one for ever, or a function of the event."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .durations import seconds_of
from .errors import BadScenario

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Response:
    """One answer. `value` is what a handler returns (for other actions the whole `$Output`), or `error` is raised.

    `after_seconds` is how long the call takes by the run's clock; None means it never ends, so that a Timeout strikes.
    """

    value: Json = None
    error: str = ""
    cause: str = ""
    after_seconds: float | None = 0

    def after(self, duration: float | str) -> Response:
        """Return the same answer, given after a duration: seconds, or a text such as `500ms`, `3s`, `2h`, `7d`."""
        return replace(self, after_seconds=seconds_of(duration))


@dataclass(frozen=True, slots=True)
class Repeated:
    """A response for every call that is left; it must be used at least once."""

    response: Response


Answer: TypeAlias = Callable[[Json], Json]
"""A function of the call's event (for other actions its Parameters): returns the value or raises the error."""

Step: TypeAlias = Response | Repeated | Mapping[str, Json]
Mock: TypeAlias = Step | Sequence[Step] | Answer


def returns(value: Json) -> Response:
    """Return a mock that answers once with `value`. Raises BadScenario when it is no JSON."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadScenario(f"a response must be JSON: {error}") from None
    return Response(value)


def raises(error: str, cause: str = "") -> Response:
    """Return a mock that fails once under the name `error`, the name that Retry and Catch match."""
    if not error:
        raise BadScenario("raises() needs the error's name, such as TemporaryUpstreamError")
    return Response(error=error, cause=cause)


def never() -> Response:
    """Return a mock whose call never ends: the state's Timeout strikes."""
    return Response(after_seconds=None)


def repeats(response: Response | Mapping[str, Json]) -> Repeated:
    """Return a mock that gives one answer to every call from here on."""
    return Repeated(_response(response))


class Script:
    """The answers of one state, handed out in turn."""

    def __init__(self, mock: Mock) -> None:
        self._answer: Answer | None = None
        self._steps: list[Response | Repeated] = []
        self.given = 0
        if isinstance(mock, Response | Repeated | Mapping):
            self._steps = [_step(mock)]
        elif callable(mock):
            self._answer = mock
        elif isinstance(mock, list | tuple):
            self._steps = [_step(one) for one in mock]
        else:
            raise BadScenario(f"a mock is a response, a list of responses or a function, not {mock!r}")
        if any(isinstance(step, Repeated) for step in self._steps[:-1]):
            raise BadScenario("repeats() must be the last response of a list: what follows would never be used")

    @property
    def planned(self) -> int:
        """How many responses the script holds."""
        return len(self._steps)

    @property
    def left(self) -> int:
        """How many responses nobody has used."""
        return max(0, (len(self._steps) or 1) - self.given)

    def take(self, event: Json) -> Response | None:
        """Return the next answer; None when there is none left."""
        number, self.given = self.given, self.given + 1
        if self._answer is not None:
            return _called(self._answer, event)
        if number < len(self._steps):
            step = self._steps[number]
            return step.response if isinstance(step, Repeated) else step
        last = self._steps[-1] if self._steps else None
        return last.response if isinstance(last, Repeated) else None


def _step(one: Step) -> Response | Repeated:
    return one if isinstance(one, Repeated) else _response(one)


def _response(one: Response | Mapping[str, Json]) -> Response:
    if isinstance(one, Response):
        return one
    if isinstance(one, Mapping):
        return returns(dict(one))
    raise BadScenario(f"a response is returns(...), raises(...), never() or a map, not {one!r}")


def _called(answer: Answer, event: Json) -> Response:
    from local_sim.actions import ActionFailure

    try:
        value = answer(event)
    except ActionFailure as failure:
        return Response(error=failure.error, cause=failure.cause)
    except Exception as error:  # noqa: BLE001 - what a stand-in raises is its answer, as a handler's would be
        return Response(error=type(error).__name__, cause=str(error))
    return value if isinstance(value, Response) else returns(value)
