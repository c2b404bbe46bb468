"""Converts a whole flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from local_sim.definition.build_flow import is_legacy
from local_sim.definition.collector import Collector
from local_sim.definition.errors import InvalidFlowError
from local_sim.definition.loader import load_flow
from local_sim.definition.nodes import MapNode, plain_value
from local_sim.definition.reading import read_root
from local_sim.expression import Position

from .comments import comments_of
from .emit import emit_flow
from .keys import keys_of
from .lists import ListWork, State, StepWork, Work
from .remarks import Remark, Remarks, Weight
from .sources import step_text
from .steps import convert_step

Json: TypeAlias = Any
_START = Position(1, 1)
OUTPUT = "output"
"""The state that makes the flow's output."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A flow in the newer language, as YAML, and what there is to say about it."""

    text: str
    remarks: tuple[Remark, ...]

    @property
    def lost(self) -> bool:
        """Whether a part has no equivalent."""
        return any(remark.weight is Weight.LOST for remark in self.remarks)


def convert(text: str | bytes, source: str = "<text>") -> Converted:
    """Rewrite a flow of the older dialect. Raises InvalidFlowError when it is none, or has errors."""
    old = load_flow(text, source)
    root = read_root(text, Collector(source))
    if not isinstance(root, MapNode) or not is_legacy(root):
        collector = Collector(source)
        collector.add("SK106", root or _START, "this flow is written in the newer language already")
        raise InvalidFlowError(source, collector.report().findings)
    name = old.name or _name_from(source)
    work = Work(old.name, Remarks())
    finish = _finish_name(root)
    states = ListWork(root, work, finish).convert(convert_step, _begin(root, work))
    states["States"].append(_finish(root, work, finish))
    header: dict[str, Json] = {"Type": "StateMachine", "SpecVersion": "v1", "Name": name}
    if old.description:
        header["Description"] = old.description
    if old.timeout is not None:
        header["Timeout"] = int(old.timeout)
    header["StartAt"] = states["StartAt"]
    decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    comments = _assign(comments_of(decoded), work.first_states)
    return Converted(emit_flow(header, states["States"], comments), work.remarks.all())


def _name_from(source: str) -> str:
    stem = Path(source).stem.strip("<>")
    return stem or "flow"


def _finish_name(root: MapNode) -> str:
    taken = {step.get("name") for step in _steps(root)}
    name, number = OUTPUT, 2
    while name in taken:
        name, number = f"{OUTPUT}-{number}", number + 1
    return name


def _steps(root: MapNode) -> Sequence[Mapping[str, Json]]:
    steps: Sequence[Mapping[str, Json]] = plain_value(root)["steps"]
    return steps


def _flow_step(root: MapNode, work: Work) -> StepWork:
    return StepWork(root, {"name": "", **plain_value(root)}, None, ListWork(root, work))


def _begin(root: MapNode, work: Work) -> State:
    step = _flow_step(root, work)
    mappings = step.data.get("inputMappings")
    given: dict[str, Json] = {"input.$": "$Input"}
    if mappings is not None:
        given = {"input": step.mapped(mappings, input_at="$Input", local=None)}
    return {"Type": "Pass", "Name": "begin", "OutputConstructor": {**given, "local": {}}}


def _finish(root: MapNode, work: Work, name: str) -> State:
    step = _flow_step(root, work)
    mappings = step.data.get("outputMappings")
    if mappings is not None:
        output = step.mapped(mappings, input_at="$Input.input", local="$Input.local")
    elif (keys := keys_of(_steps(root)).exact) is not None:
        output = {f"{key}.$": step_text("$Input.local", (key,)) for key in sorted(keys)}
    else:
        output = {"local.$": "$Input.local"}
        message = "the output's keys are known when it runs only, so the output is {local: ...}; give outputMappings"
        work.remarks.add(Weight.CHANGED, root.line, "", message)
    return {"Type": "Pass", "Name": name, "OutputConstructor": output, "End": True}


def _assign(comments: Mapping[int, str], first_states: Sequence[tuple[State, int, int]]) -> dict[int, list[str]]:
    """Give each comment to the step it stands in, or right before; those before the first step to the flow."""
    starts = sorted((line, id(state)) for state, line, _ in first_states)
    found: dict[int, list[str]] = {}
    lines = [line for line, _ in starts]
    for number, comment in comments.items():
        owner = 0
        following = next((index for index, line in enumerate(lines) if line > number), len(lines))
        block_end = number
        while block_end + 1 in comments and block_end + 1 not in lines:
            block_end += 1
        if following < len(lines) and lines[following] == block_end + 1:
            owner = starts[following][1]
        elif following > 0:
            owner = starts[following - 1][1]
        found.setdefault(owner, []).append(comment)
    return found
