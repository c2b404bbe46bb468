"""Scenario files: YAML that says what goes into a flow, how its calls are answered, and what must come out.

    flow: content_review
    input: {task_id: t-1}
    mocks:
      GenerateDraft: [{raise: TemporaryUpstreamError}, {return: {task: {task_id: t-1}}, after: 3s}]
    scenarios:
      - name: approved after two hours
        decisions: [{state: HumanReview, answer: approved, after: 2h}]
        expect: {status: Succeeded, calls: {GenerateDraft: 2}}

Fields of the file are defaults of its scenarios; `mocks` are merged by state. A scenario must use all mocks of its
own; those of the file it need not use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from local_sim.definition.collector import Collector
from local_sim.definition.nodes import ListNode, MapNode, Node, plain_value
from local_sim.definition.reading import read_root
from local_sim.expression.spelling import nearest
from local_sim.runner import Decision

from .durations import seconds_of
from .errors import BadScenario
from .player import START_MS, decide
from .responses import Json, Mock, Repeated, Response, raises, returns

SUFFIXES = (".yaml", ".yml", ".json")
_MAX_BYTES = 16 * 1024 * 1024
_MAX_HEIGHT = 150


def _duration(value: float | str) -> float:
    try:
        return seconds_of(value)
    except BadScenario as error:
        raise ValueError(error.reason) from None


Duration = Annotated[float | str, AfterValidator(_duration)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(_Model):
    """One answer of a mock: `return` or `raise` or `never`; `repeat` gives it to every call from here on."""

    returned: Json = Field(default=None, alias="return")
    raised: str = Field(default="", alias="raise")
    cause: str = ""
    after: Duration = 0
    never: bool = False
    repeat: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> ResponseModel:
        kinds = [name for name in ("returned", "raised", "never") if name in self.model_fields_set]
        if len(kinds) != 1:
            raise ValueError("give exactly one of return, raise and never")
        return self

    def response(self) -> Response | Repeated:
        """Return the answer this stands for."""
        made = raises(self.raised, self.cause) if self.raised else returns(self.returned)
        one = Response(after_seconds=None) if self.never else made.after(self.after)
        return Repeated(one) if self.repeat else one


class DecisionModel(_Model):
    """A report for a callback, `after` its wait began or `at` a time since the start."""

    state: str | None = None
    answer: Json = None
    error: str = ""
    cause: str = ""
    after: Duration = 0
    at: Duration | None = None

    def decision(self) -> Decision:
        """Return the decision this stands for."""
        return decide(self.answer, state=self.state, after=self.after, at=self.at, error=self.error, cause=self.cause)


class Expectation(_Model):
    """What must come of a run; what is left out may be anything."""

    status: Literal["Succeeded", "Failed", "TimedOut", "Stopped", "Running"] | None = None
    output: Json = None
    contains: dict[str, Json] | None = None
    error: str | None = None
    cause: str | None = None
    path: list[str] | None = None
    visits: list[str] = []
    avoids: list[str] = []
    calls: dict[str, int] = {}
    waiting: list[str] | None = None
    duration: Duration | None = None
    history: str | None = None


class ScenarioModel(_Model):
    """One scenario as written. A text for `input` names a JSON file beside the scenario file."""

    name: str = Field(min_length=1)
    flow: str | None = None
    input: dict[str, Json] | str | None = None
    handlers: Literal["mock", "real"] | None = None
    mocks: dict[str, ResponseModel | list[ResponseModel]] = {}
    decisions: list[DecisionModel] | None = None
    start: datetime | None = None
    expect: Expectation


class FileModel(_Model):
    """A scenario file: defaults and the scenarios."""

    flow: str | None = None
    input: dict[str, Json] | str | None = None
    handlers: Literal["mock", "real"] | None = None
    mocks: dict[str, ResponseModel | list[ResponseModel]] = {}
    decisions: list[DecisionModel] | None = None
    start: datetime | None = None
    scenarios: list[ScenarioModel] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario, ready to be played. `place` is `file:line:column`."""

    name: str
    file: Path
    place: str
    flow: str
    input: Json
    handlers: Literal["mock", "real"]
    mocks: Mapping[str, Mock]
    optional: frozenset[str]
    decisions: tuple[Decision, ...]
    expect: Expectation
    start_ms: int = START_MS
    golden: Path | None = field(default=None)


def find_files(paths: list[Path]) -> list[Path]:
    """Return the scenario files meant: those given, and all below the folders given. Raises BadScenario."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        elif path.is_file():
            found.append(path)
        else:
            raise BadScenario("there is no such file or folder", str(path))
    return list(dict.fromkeys(found))


def read_scenarios(file: Path) -> list[Scenario]:
    """Return the scenarios of a file. Raises BadScenario with file, line and column."""
    node = _nodes(file)
    try:
        model = FileModel.model_validate(plain_value(node))
    except ValidationError as error:
        raise _bad(error, node, file) from None
    items = node.get("scenarios") if isinstance(node, MapNode) else None
    places = items.items if isinstance(items, ListNode) else []
    made = [_scenario(model, one, file, _place(file, at)) for one, at in zip(model.scenarios, places, strict=True)]
    _check_names(made)
    return made


def _nodes(file: Path) -> Node:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadScenario(f"the file cannot be read: {error.strerror or error}", str(file)) from None
    if not data.strip():
        raise BadScenario("the file is empty", str(file))
    collector = Collector(str(file))
    node = read_root(data, collector, max_bytes=_MAX_BYTES)
    for finding in collector.report().findings:
        if node is None or finding.severity.value == "error":
            raise BadScenario(finding.message, f"{file}:{finding.position.line}:{finding.position.column}")
    if node is None or node.height > _MAX_HEIGHT:
        raise BadScenario("the file is nested too deeply", str(file))
    return node


def _scenario(model: FileModel, one: ScenarioModel, file: Path, place: str) -> Scenario:
    flow = one.flow or model.flow
    if flow is None:
        raise BadScenario(f"scenario {one.name!r} names no flow; give `flow` in it or at the top of the file", place)
    given = one.input if one.input is not None else model.input
    start = one.start or model.start
    decisions = one.decisions if one.decisions is not None else model.decisions or []
    expect = one.expect
    try:
        return Scenario(
            name=one.name,
            file=file,
            place=place,
            flow=_flow(flow, file),
            input=_input(given, file),
            handlers=one.handlers or model.handlers or "mock",
            mocks={state: _mock(mock) for state, mock in {**model.mocks, **one.mocks}.items()},
            optional=frozenset(model.mocks) - frozenset(one.mocks),
            decisions=tuple(decision.decision() for decision in decisions),
            expect=expect,
            start_ms=START_MS if start is None else round(start.timestamp() * 1000),
            golden=None if expect.history is None else file.parent / expect.history,
        )
    except BadScenario as error:
        raise BadScenario(error.reason, error.place or place) from None


def _mock(mock: ResponseModel | list[ResponseModel]) -> Mock:
    return [one.response() for one in mock] if isinstance(mock, list) else mock.response()


def _flow(flow: str, file: Path) -> str:
    """A flow's name, or a file named from the scenario file's folder."""
    beside = file.parent / flow
    return str(beside) if beside.is_file() else flow


def _input(given: dict[str, Json] | str | None, file: Path) -> Json:
    if not isinstance(given, str):
        return given or {}
    path = file.parent / given
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadScenario(f"input {path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise BadScenario(f"input {path} is not JSON: {error}") from None


def _check_names(scenarios: list[Scenario]) -> None:
    seen: dict[str, str] = {}
    for scenario in scenarios:
        if scenario.name in seen:
            raise BadScenario(
                f"the name {scenario.name!r} is given twice, first at {seen[scenario.name]}", scenario.place
            )
        seen[scenario.name] = scenario.place


def _place(file: Path, node: Node) -> str:
    return f"{file}:{node.position.line}:{node.position.column}"


def _bad(error: ValidationError, node: Node, file: Path) -> BadScenario:
    """Return the first fault of a validation, at the place of the node it is about."""
    first = next(_faults(error))
    steps = [part for part in first["loc"] if part not in ("ResponseModel", "list[ResponseModel]")]
    reason = _reason(first, steps)
    if first["type"] == "extra_forbidden":
        above, _ = _follow(node, steps[:-1])
        key: Node = above.key(str(steps[-1])) if isinstance(above, MapNode) else above
        return BadScenario(reason, _place(file, key))
    at, name = _follow(node, steps)
    return BadScenario(f"{name}: {reason}" if name else reason, _place(file, at))


def _follow(node: Node, steps: list[Any]) -> tuple[Node, str]:
    """Return the node that a fault is about, as far as it exists, and the last key on the way there."""
    name = ""
    for step in steps:
        if isinstance(node, MapNode) and step in node.entries:
            node, name = node.entries[str(step)][1], str(step)
        elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
    return node, name


def _faults(error: ValidationError) -> Iterator[Any]:
    """Yield the faults, unknown keys and deep ones first: of a union they tell most."""
    faults = error.errors(include_url=False)
    yield from sorted(faults, key=lambda fault: (fault["type"] != "extra_forbidden", -len(fault["loc"])))


_FIELDS = {
    *(name for model in (FileModel, ScenarioModel, Expectation, DecisionModel) for name in model.model_fields),
    *("return", "raise", "cause", "after", "never", "repeat"),
}


def _reason(fault: Any, steps: list[Any]) -> str:
    if fault["type"] == "extra_forbidden":
        near = nearest(str(steps[-1]), sorted(_FIELDS), 0.6)
        return f"unknown key {steps[-1]!r}" + (f"; did you mean {near}?" if near else "")
    if fault["type"] == "missing":
        return f"the key {steps[-1]!r} is missing"
    if fault["type"] in ("dict_type", "model_type", "model_attributes_type"):
        return "must be a map"
    return str(fault["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")
