"""Looks at the paths through each scope: unreachable states, loops without end, loops without a visible limit."""

from __future__ import annotations

from collections.abc import Sequence

from local_sim.expression import Call, Compare, Literal, walk

from .collector import Collector
from .graph import loops, reachable, reverse
from .model import ChoiceState
from .scopes import ScopeInfo, StateInfo
from .uses import expressions_of


def check_graph(scopes: Sequence[ScopeInfo], collector: Collector) -> None:
    """Report SK203, SK204, SK208 and SK209."""
    _check_names(scopes, collector)
    for scope in scopes:
        if scope.start is None or scope.start.target not in scope.states:
            continue
        graph = {name: [move.target for move in info.moves] for name, info in scope.states.items()}
        seen = reachable(graph, [scope.start.target])
        for name, info in scope.states.items():
            if name not in seen:
                message = f"nothing leads to {info.what}"
                fix = f"lead a Next to it, or remove it; {scope.what} starts at {scope.start.target!r}"
                collector.add("SK203", info.position, message, fix=fix, text=name)
        _check_loops(scope, graph, seen, collector)


def _check_names(scopes: Sequence[ScopeInfo], collector: Collector) -> None:
    first: dict[str, tuple[ScopeInfo, StateInfo]] = {}
    for scope in scopes:
        for name, info in scope.states.items():
            other, earlier = first.setdefault(name, (scope, info))
            if other is not scope:
                place = earlier.position
                message = f"the name {name[:60]!r} is also used in {other.what}, line {place.line}"
                collector.add(
                    "SK208", info.position, message, fix="give it a name of its own", text=name, related=place
                )


def _check_loops(scope: ScopeInfo, graph: dict[str, list[str]], seen: set[str], collector: Collector) -> None:
    # A target that does not exist is reported elsewhere; here it counts as a way out.
    exits = [
        name
        for name, info in scope.states.items()
        if info.ends or any(to not in graph for to in graph[name]) or not info.state
    ]
    can_end = reachable(reverse(graph), exits)
    for loop in loops(graph):
        members = [name for name in graph if name in loop]
        if members[0] not in seen:
            continue
        head = scope.states[members[0]]
        if not loop & can_end:
            message = f"no path leads out of the loop {_circle(members)}"
            fix = "add a Choice that leaves it, or End: true"
            collector.add("SK204", head.position, message, fix=fix, text=head.name)
        elif not _is_bounded([scope.states[name] for name in members]):
            message = (
                f"the loop {_circle(members)} has no visible limit and can exceed the 5,000 events of an execution"
            )
            fix = "count the laps with intAdd and leave by a Choice that compares the count with a number"
            collector.add("SK209", head.position, message, fix=fix, text=head.name)


def _circle(members: list[str]) -> str:
    shown = members if len(members) <= 6 else [*members[:5], "..."]
    return " -> ".join([*shown, members[0]])


def _is_bounded(members: list[StateInfo]) -> bool:
    """Say whether a loop counts its laps (intAdd) and a Choice in it compares with a number."""
    counts = any(
        isinstance(node, Call) and node.name == "intAdd"
        for info in members
        for use in expressions_of(info)
        for node in walk(use.expression.tree)
    )
    return counts and any(_compares_number(info) for info in members)


def _compares_number(info: StateInfo) -> bool:
    if not isinstance(info.state, ChoiceState):
        return False
    trees = [node for branch in info.state.branches for node in walk(branch.condition.tree)]
    compares = [node for node in trees if isinstance(node, Compare) and node.operator != "in"]
    sides = [side for node in compares for side in (node.left, node.right)]
    return any(isinstance(side, Literal) and type(side.value) in (int, float) for side in sides)
