"""Reads a whole definition of the older dialect: its lists of steps become scopes, jumps become transitions."""

from __future__ import annotations

from local_sim.definition.collector import Collector
from local_sim.definition.model import Flow, Scope, SerialList, State
from local_sim.definition.nodes import MapNode
from local_sim.definition.readers import Reader
from local_sim.definition.scopes import Move
from local_sim.expression.spelling import nearest

from .mappings import read_mappings
from .steps import STEP_FIELDS, STEP_TYPES, StepReader, read_step

VERSIONS = ("v1", "v1.0", "v1beta1")
MAX_DEPTH = 60
"""Lists of steps inside each other (B12)."""
_FLOW_FIELDS = ("version", "type", "name", "description", "steps", "inputMappings", "outputMappings", "timeoutSeconds")
_MAX_SECONDS = 31_536_000


def build_legacy(root: MapNode, collector: Collector) -> Flow | None:
    """Return the lowered flow, or None when it has errors, which are in the collector."""
    message = "a flow of the older dialect; its data rules are documented in outline only (B01)"
    collector.add("SK601", root, message, fix="rewrite it with 'local-sim convert'")
    reader = Reader(root, "the flow", collector)
    reader.check_fields(_FLOW_FIELDS)
    reader.choice("type", ("flow",), required=True)
    version = reader.choice("version", VERSIONS, required=True)
    name, description = reader.text("name"), reader.text("description")
    timeout = reader.integer("timeoutSeconds", 1, _MAX_SECONDS)
    if timeout is not None:
        collector.add("SK601", root.key("timeoutSeconds"), "timeoutSeconds of a flow is not documented (B13)")
    serial = SerialList(read_mappings(reader, "inputMappings"), read_mappings(reader, "outputMappings"))
    steps = read_list(root, "the flow", collector, serial=serial, depth=1)
    if steps is None or collector.failed:
        return None
    return Flow(
        name=name or "",
        root=steps,
        source=collector.source,
        spec_version=version or "v1",
        description=description or "",
        timeout=timeout,
    )


def read_list(
    owner: MapNode, what: str, collector: Collector, *, depth: int, serial: SerialList | None = None
) -> Scope | None:
    """Read the `steps` of a flow, branch or iteration; None when they have errors."""
    reader = Reader(owner, what, collector)
    if depth > MAX_DEPTH:
        collector.add("SK007", owner, f"lists of steps nested deeper than {MAX_DEPTH} levels", fix="call a sub-flow")
        return None
    readers = _readers(reader, depth)
    moves: list[Move] = []
    states: dict[str, State] = {}
    for number, step in enumerate(readers):
        follower = readers[number + 1].name if number + 1 < len(readers) else None
        ends = step.reader.flag("end") or step.kind in ("succeed", "fail")
        made = read_step(step, None if ends else follower, moves, read_list)
        if made is not None:
            states[step.name] = made
    _check_targets(moves, [step.name for step in readers], what, collector)
    if not readers or len(states) < len(readers):
        return None
    return Scope(readers[0].name, states, serial or SerialList())


def _readers(owner: Reader, depth: int) -> list[StepReader]:
    found: dict[str, StepReader] = {}
    for node in owner.maps("steps", required=True):
        step = _identify(node, owner, depth)
        if step is None:
            continue
        if step.name in found:
            first = found[step.name].reader.node.position
            message = f"{step.name!r} is used twice in {owner.what}; first in line {first.line}"
            owner.collector.add("SK205", node.entries["name"][1], message, fix="rename one of the two", related=first)
            continue
        found[step.name] = step
    return list(found.values())


def _identify(node: MapNode, owner: Reader, depth: int) -> StepReader | None:
    reader = Reader(node, f"a step of {owner.what}", owner.collector)
    name = reader.text("name", required=True, fix="add 'name:' with a name of its own")
    kind = reader.text("type", required=True, fix=f"add 'type:' with one of {', '.join(STEP_TYPES)}")
    if kind is not None and kind not in STEP_FIELDS:
        near = nearest(kind, STEP_TYPES)
        fix = f"did you mean {near}?" if near else f"the types are {', '.join(STEP_TYPES)}"
        owner.collector.add("SK104", node.entries["type"][1], f"there is no step type {kind[:60]!r}", fix=fix)
        return None
    if name is None or kind is None:
        return None
    if not name.strip():
        owner.collector.add("SK105", node.entries["name"][1], "a step's name is empty", fix="give it a name")
        return None
    shown = name if len(name) <= 60 else f"{name[:57]}..."
    return StepReader(name, kind, Reader(node, f"the {kind} step '{shown}'", owner.collector), depth)


def _check_targets(moves: list[Move], names: list[str], what: str, collector: Collector) -> None:
    for move in moves:
        if move.target not in names:
            near = nearest(move.target, names)
            listed = ", ".join(names[:10])
            fix = f"did you mean {near}?" if near else f"goto names a step of the same list: {listed}"
            message = f"goto {move.target[:60]!r} names no step of {what}"
            collector.add("SK201", move.position, message, fix=fix, text=move.target[:60])
