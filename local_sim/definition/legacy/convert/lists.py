"""Converts one list of steps into the states of one scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from local_sim.definition.nodes import ListNode, MapNode, Node, plain_value

from .remarks import Remarks, Weight
from .sources import FRAME, Local, NoEquivalent, constructor, expression_of

Json: TypeAlias = Any
State: TypeAlias = dict[str, Any]


@dataclass
class Work:
    """What the whole conversion shares: the flow's name, the remarks, and the comments of the states made."""

    flow: str
    remarks: Remarks
    first_states: list[tuple[State, int, int]] = field(default_factory=list)
    """The first state of each step, with the first line of the step and the first line of its nested lists."""


@dataclass
class StepWork:
    """A step being converted: its fields, where it leads, and the states it becomes."""

    node: MapNode
    data: Mapping[str, Json]
    onward: str | None
    """The state behind it; None: the scope ends."""
    owner: ListWork
    tokens: tuple[str, ...] = ()
    states: list[State] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The step's name."""
        return str(self.data["name"])

    def lost(self, message: str) -> None:
        """Record what has no equivalent."""
        self.owner.work.remarks.add(Weight.LOST, self.node.line, self.name, message)

    def changed(self, message: str) -> None:
        """Record what is written in another way."""
        self.owner.work.remarks.add(Weight.CHANGED, self.node.line, self.name, message)

    def add(self, state: State, target: str | None = None, *, ends: bool = False) -> State:
        """Append a state that goes to `target`, or where the step leads; `ends`: it has no transition of its own."""
        if not ends:
            target = target or self.onward
            state.update({"End": True} if target is None else {"Next": target})
        self.states.append(state)
        return state

    def expression(self, source: str, *, input_at: str = "$Input.step", local: Local = None) -> str:
        """Return a source as an expression. Raises NoEquivalent."""
        tokens = self.tokens if input_at == "$Input.step" else ()
        return expression_of(source, input_at=input_at, local=local, flow=self.owner.work.flow, tokens=tokens)

    def mapped(self, mappings: Sequence[Mapping[str, Json]], **roots: Any) -> dict[str, Json]:
        """Return mappings as a constructor."""
        entries = {mapping["target"]: mapping.get("source") for mapping in mappings}
        return constructor(entries, lambda text: self.expression(text, **roots), self.lose, deep=False)

    def lose(self, error: NoEquivalent) -> None:
        """Record a source that has no equivalent."""
        self.lost(error.message)

    def entry(self) -> dict[str, Json]:
        """Return the InputConstructor of the step's first state: the frame, and the mapped input under `step`."""
        mappings = self.data.get("inputMappings")
        if mappings is None:
            return {**FRAME, "step.$": "jsonMerge($Input.input, $Input.local)"}
        self.tokens = tuple(one["target"] for one in mappings if one.get("source") == "$context.task.token")
        kept = [one for one in mappings if one["target"] not in self.tokens]
        return {**FRAME, "step": self.mapped(kept, input_at="$Input.input", local="$Input.local")}

    def leave(self, state: State, local: Local, target: str | None = None) -> None:
        """Append a state that ends the step: its output goes into the frame's local. `local` None: an empty one."""
        mappings = self.data.get("outputMappings")
        if mappings:
            output = {**FRAME, "output": self.mapped(mappings, local=local)}
            self.add({**state, "OutputConstructor": output}, self.merge(target))
            self.states.append(self.states.pop(-2))  # the merge comes after
        elif mappings is None and isinstance(local, str):
            output = {"input.$": "$Input.input", "local.$": f"jsonMerge($Input.local, {local})"}
            self.add({**state, "OutputConstructor": output}, target)
        else:
            self.add({**state, "OutputConstructor": dict(FRAME)}, target)

    def merge(self, target: str | None = None, suffix: str = "merge") -> str:
        """Append the state that merges `output` into the local, and return its name."""
        name = self.owner.fresh(f"{self.name}-{suffix}")
        output = {"input.$": "$Input.input", "local.$": "jsonMerge($Input.local, $Input.output)"}
        self.add({"Type": "Pass", "Name": name, "OutputConstructor": output}, target)
        return name

    def target_or_end(self, target: str | None) -> str:
        """Return a state to go to for a Choice, which cannot end a scope itself."""
        return target or self.onward or self.owner.end_state()


class ListWork:
    """A list of steps being converted."""

    def __init__(self, node: MapNode, work: Work, finish: str | None = None) -> None:
        steps = node.get("steps")
        self.nodes = [
            step for step in (steps.items if isinstance(steps, ListNode) else []) if isinstance(step, MapNode)
        ]
        self.work = work
        self.data: list[Mapping[str, Json]] = [plain_value(step) for step in self.nodes]
        self.finish = finish
        self._names = {str(step["name"]) for step in self.data} | ({finish} if finish else set())
        self._end: str | None = None

    def fresh(self, name: str) -> str:
        """Return a name no state of this scope has yet."""
        candidate, number = name, 2
        while candidate in self._names:
            candidate, number = f"{name}-{number}", number + 1
        self._names.add(candidate)
        return candidate

    def end_state(self) -> str:
        """Return the state that ends the scope, made when first asked for."""
        if self.finish:
            return self.finish
        self._end = self._end or self.fresh("end")
        return self._end

    def convert(self, convert_step: Callable[[StepWork], None], start: State) -> Json:
        """Return the scope: `start` builds the list's frame, then come the steps, in their order."""
        start["Name"] = self.fresh(start["Name"])
        start["Next"] = self.data[0]["name"]
        states = [start]
        for number, (node, data) in enumerate(zip(self.nodes, self.data, strict=True)):
            last = number + 1 == len(self.nodes) or data.get("end") is True or data["type"] == "succeed"
            onward = self.finish if last else self.data[number + 1]["name"]
            step = StepWork(node, data, onward, self)
            convert_step(step)
            self.work.first_states.append((step.states[0], node.line, _nested_line(node)))
            states.extend(step.states)
        if self._end:
            states.append({"Type": "Pass", "Name": self._end, "OutputConstructor": dict(FRAME), "End": True})
        return {"StartAt": start["Name"], "States": states}


def _nested_line(node: Node) -> int:
    """Return the line of the first step inside a step; a large number without one."""
    waiting: list[tuple[Node, bool]] = [(node, False)]
    best = 1 << 30
    while waiting:
        one, inside = waiting.pop()
        if isinstance(one, MapNode):
            if inside and "name" in one.entries and "type" in one.entries:
                best = min(best, one.line)
            waiting.extend((value, True) for _, value in one.entries.values())
        elif isinstance(one, ListNode):
            waiting.extend((item, True) for item in one.items)
    return best
