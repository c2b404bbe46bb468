"""Reads a whole definition: finds its scopes, builds them from the inside out, never recursing into nested ones."""

from __future__ import annotations

from dataclasses import dataclass

from local_sim.expression.spelling import nearest

from .build_states import read_state
from .collector import Collector
from .fields import ALL_STATE_FIELDS, FLOW_FIELDS, PROCESSOR_FIELDS, SCOPE_FIELDS, STATE_FIELDS
from .model import Flow, Scope
from .nodes import ListNode, MapNode, Node, ScalarNode, describe
from .readers import Reader
from .scopes import Move, ScopeInfo, StateInfo

MAX_SCOPES_DEEP = 250
"""Levels of Parallel and Map inside each other (A42)."""
MAX_EXECUTION_SECONDS = 31_536_000
_MAX_NAME = 128
_FOREIGN = frozenset(("specVersion", "states", "functions", "start", "Comment", "id"))


@dataclass(frozen=True, slots=True)
class Built:
    """What could be read: the flow (None when it has errors) and every scope, outer ones before inner ones."""

    flow: Flow | None
    scopes: tuple[ScopeInfo, ...]


def build_flow(root: Node, collector: Collector, *, express: bool = False) -> Built:
    """Read a definition. Everything wrong goes to the collector."""
    if not isinstance(root, MapNode):
        fix = "start with 'Type: StateMachine'"
        collector.add("SK103", root, f"a definition must be a map, not {describe(root)}", fix=fix)
        return Built(None, ())
    if _other_dialect(root, collector):
        return Built(None, ())
    reader = Reader(root, "the flow", collector)
    reader.check_fields(FLOW_FIELDS)
    header = _header(reader, express=express)
    scopes = _discover(root, collector)
    for scope in reversed(scopes):
        _read_scope(scope, collector, express=express)
    top = scopes[0].scope if scopes else None
    if top is None or collector.failed:
        return Built(None, tuple(scopes))
    name, version, description, timeout = header
    flow = Flow(
        name=name, root=top, source=collector.source, spec_version=version, description=description, timeout=timeout
    )
    return Built(flow, tuple(scopes))


def is_legacy(root: Node) -> bool:
    """Say whether a document is written in the older dialect (`type: flow`, `steps:`), which `legacy` reads."""
    if not isinstance(root, MapNode) or "Type" in root.entries or "States" in root.entries:
        return False
    kind = root.get("type")
    return "steps" in root.entries or (isinstance(kind, ScalarNode) and kind.value == "flow")


def _other_dialect(root: MapNode, collector: Collector) -> bool:
    keys = root.entries.keys()
    if "Type" in keys or isinstance(root.get("States"), ListNode):
        return False
    if isinstance(root.get("States"), MapNode):
        message = "States is a map, as Amazon States Language has it; CloudFlow has a list of states with names"
        collector.add("SK106", root.key("States"), message, fix="write States as a list; see docs/findings.md")
    elif _FOREIGN & keys:
        message = f"{', '.join(sorted(_FOREIGN & keys))}: this is another flow language"
        collector.add("SK106", root, message, fix="start with 'Type: StateMachine' and 'SpecVersion: v1'")
    else:
        return False
    return True


def _header(reader: Reader, *, express: bool) -> tuple[str, str, str, float | None]:
    reader.choice("Type", ("StateMachine",), required=True)
    version = reader.choice("SpecVersion", ("v1",))
    name = reader.text("Name")
    for field, example in (("SpecVersion", "SpecVersion: v1"), ("Name", "Name: my-flow")):
        if reader.node.get(field) is None:
            reader.collector.add("SK111", reader.node, f"the flow has no {field}", fix=f"add '{example}'")
    timeout = reader.integer("Timeout", 1, 300 if express else MAX_EXECUTION_SECONDS)
    return name or "", version or "v1", reader.text("Description") or "", timeout


def _discover(root: MapNode, collector: Collector) -> list[ScopeInfo]:
    """Return all scopes, each before the scopes inside it. A scope reached through an alias again is listed once."""
    order: list[ScopeInfo] = []
    known: dict[int, ScopeInfo] = {}
    entered: set[int] = set()
    waiting: list[tuple[ScopeInfo, int, bool]] = [(_scope_info(root, "the flow", None, known), 1, False)]
    while waiting:
        scope, depth, done = waiting.pop()
        if done:
            order.append(scope)
        elif id(scope) not in entered:
            entered.add(id(scope))
            waiting.append((scope, depth, True))
            _list_states(scope, collector)
            children = _adopt(scope, known)
            if depth < MAX_SCOPES_DEEP:
                waiting.extend((child, depth + 1, False) for child in children)
            elif children:
                message = f"scopes nested deeper than {MAX_SCOPES_DEEP} levels"
                collector.add("SK007", children[0].node, message, fix="call a sub-flow")
    # A scope is finished after everything inside it; the reverse has each scope before its own.
    return order[::-1]


def _adopt(scope: ScopeInfo, known: dict[int, ScopeInfo]) -> list[ScopeInfo]:
    """Give every state of a scope the scopes inside it and return them all."""
    for state in scope.states.values():
        state.children.extend(_scope_info(node, what, state, known) for node, what in _inner_scopes(state))
    return [child for state in scope.states.values() for child in state.children]


def _scope_info(node: MapNode, what: str, owner: StateInfo | None, known: dict[int, ScopeInfo]) -> ScopeInfo:
    return known.setdefault(id(node), ScopeInfo(node, what, owner=owner))


def _inner_scopes(state: StateInfo) -> list[tuple[MapNode, str]]:
    if state.type == "Parallel":
        branches = state.node.get("Branches")
        items = branches.items if isinstance(branches, ListNode) else []
        return [
            (item, f"Branch{index} of {state.what}") for index, item in enumerate(items) if isinstance(item, MapNode)
        ]
    processor = state.node.get("Processor") if state.type == "Map" else None
    return [(processor, f"the Processor of {state.what}")] if isinstance(processor, MapNode) else []


def _list_states(scope: ScopeInfo, collector: Collector) -> None:
    """Find the states of a scope by name and type."""
    reader = Reader(scope.node, scope.what, collector)
    for node in reader.maps("States", required=True):
        info = _identify(node, scope, collector)
        if info is None:
            continue
        if info.name in scope.states:
            first = scope.states[info.name].position
            message = f"{info.name!r} is used twice in {scope.what}; first in line {first.line}, column {first.column}"
            collector.add("SK205", info.position, message, fix="rename one of the two", text=info.name, related=first)
            continue
        scope.states[info.name] = info


def _identify(node: MapNode, scope: ScopeInfo, collector: Collector) -> StateInfo | None:
    reader = Reader(node, f"a state of {scope.what}", collector)
    name = reader.text("Name", required=True, fix="add 'Name:' with a name of its own")
    kind = reader.text("Type", required=True, fix=f"add 'Type:' with one of {', '.join(STATE_FIELDS)}")
    if kind is not None and kind not in STATE_FIELDS:
        near = nearest(kind, STATE_FIELDS)
        fix = f"did you mean {near}?" if near else f"the types are {', '.join(STATE_FIELDS)}"
        collector.add("SK104", node.entries["Type"][1], f"there is no state type {kind[:60]!r}", fix=fix)
        kind = None
    if name is not None:
        _check_name(name, node, collector)
    if name is None:
        return None
    place = node.entries["Name"][1].position
    return StateInfo(name, kind or "", node, place, f"the {kind or 'state'} {_quote(name)}")


def _check_name(name: str, node: MapNode, collector: Collector) -> None:
    at = node.entries["Name"][1]
    if not name.strip():
        collector.add("SK105", at, "a state's name is empty", fix="give it a name")
    elif name != name.strip() or any(ord(char) < 32 for char in name):
        collector.add("SK105", at, f"the name {name!r} has blanks at its ends or control characters", fix="remove them")
    elif len(name) > _MAX_NAME:
        message = f"a state's name has {len(name)} characters, at most {_MAX_NAME} are allowed (A57)"
        collector.add("SK105", at, message, fix="shorten it")


def _quote(name: str) -> str:
    return f"'{name}'" if len(name) <= 60 else f"'{name[:57]}...'"


def _read_scope(scope: ScopeInfo, collector: Collector, *, express: bool) -> None:
    reader = Reader(scope.node, scope.what, collector)
    if scope.owner is not None:
        reader.check_fields(PROCESSOR_FIELDS if scope.owner.type == "Map" else SCOPE_FIELDS)
    listed = ", ".join(list(scope.states)[:10])
    start = reader.text("StartAt", required=True, fix=f"add 'StartAt:' with one of {listed}" if listed else "")
    if start is not None:
        scope.start = Move(start, scope.node.entries["StartAt"][1].position, "StartAt")
    for info in scope.states.values():
        if not info.type:
            continue
        state = Reader(info.node, info.what, collector)
        state.check_fields(STATE_FIELDS[info.type], ALL_STATE_FIELDS)
        info.state = read_state(state, info, express=express)
    states = {name: info.state for name, info in scope.states.items() if info.state is not None}
    if start is not None and states and len(states) == len(scope.states):
        scope.scope = Scope(start, states)


def is_text(node: Node | None) -> bool:
    """Say whether a node is a text."""
    return isinstance(node, ScalarNode) and isinstance(node.value, str)
