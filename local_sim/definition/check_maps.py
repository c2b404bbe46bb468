"""Looks at Maps: items that are no objects, and the sub-fields of the distributed ones (language page 5.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from local_sim.expression import Call, Expression, Literal, Path

from .collector import Collector
from .map_fields import problem_of_reader, problem_of_writer
from .model import MapState
from .nodes import ListNode, MapNode, Node
from .scopes import ScopeInfo, StateInfo

_PROBLEMS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "ItemReader": problem_of_reader,
    "ItemBatcher": lambda given: "",
    "ResultWriter": problem_of_writer,
}


def check_maps(scopes: Sequence[ScopeInfo], collector: Collector) -> None:
    """Report SK511, SK513 and SK514."""
    for scope in scopes:
        for info in scope.states.values():
            if isinstance(info.state, MapState):
                _check_items(info, info.state, collector)
                _check_fields(info, collector)


def _check_fields(info: StateInfo, collector: Collector) -> None:
    for field, problem_of in _PROBLEMS.items():
        node = info.node.get(field)
        if not isinstance(node, MapNode):
            continue
        fix = "hand the items over in ItemsPath, and results in the Map's output, where they are small enough"
        message = f"the sub-fields of {field} of {info.what} are not documented"
        collector.add("SK513", info.node.key(field), message, fix=fix)
        if problem := problem_of(_plain(node)):
            collector.add(
                "SK514", info.node.key(field), f"{info.what}: {problem}", fix="docs/assumptions.md, B40, has the fields"
            )


def _plain(node: MapNode) -> dict[str, Any]:
    """Return a map as written, before any expression is evaluated."""
    return {name: _value(value) for name, (_, value) in node.entries.items()}


def _value(node: Node) -> Any:
    if isinstance(node, MapNode):
        return _plain(node)
    if isinstance(node, ListNode):
        return [_value(item) for item in node.items]
    return node.value


def _check_items(info: StateInfo, state: MapState, collector: Collector) -> None:
    """Report items known to be no objects (A19).

    A constant array, written in ItemsPath or in the Map's InputConstructor.
    """
    if state.items_path is None or state.item_constructor is not None:
        return
    items = _known_items(state.items_path, state)
    if items is not None and any(not isinstance(item, dict) for item in items):
        fix = "wrap each item in an object"
        at = state.items_path.position or info.position
        collector.add("SK511", at, f"items of {info.what} are no objects", fix=fix, text=state.items_path.text[:200])


def _known_items(path: Expression, state: MapState) -> list[object] | None:
    tree = path.tree
    if isinstance(tree, Call) and tree.name == "toArray" and all(isinstance(part, Literal) for part in tree.arguments):
        return [part.value for part in tree.arguments if isinstance(part, Literal)]
    if isinstance(tree, Literal) and isinstance(tree.value, list):
        return tree.value
    constructor = state.input_constructor
    if (
        isinstance(tree, Path)
        and tree.root == "$Input"
        and len(tree.steps) == 1
        and constructor
        and constructor.is_constant
    ):
        value = constructor.constant.get(tree.steps[0])
        return value if isinstance(value, list) else None
    return None
