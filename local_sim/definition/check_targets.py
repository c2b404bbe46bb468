"""Checks that every transition leads to a state of its own scope. What fails here cannot run."""

from __future__ import annotations

from collections.abc import Sequence

from local_sim.expression.spelling import nearest

from .collector import Collector
from .scopes import Move, ScopeInfo


def check_targets(scopes: Sequence[ScopeInfo], collector: Collector) -> None:
    """Report targets that do not exist (SK201) or lie in another scope (SK202)."""
    homes = {name: scope.what for scope in reversed(scopes) for name in scope.states}
    for scope in scopes:
        moves = [move for state in scope.states.values() for move in state.moves]
        for move in [scope.start, *moves] if scope.start else moves:
            if move.target not in scope.states and not collector.full:
                _report(move, scope, homes, collector)


def _report(move: Move, scope: ScopeInfo, homes: dict[str, str], collector: Collector) -> None:
    names = ", ".join(list(scope.states)[:10]) + (", ..." if len(scope.states) > 10 else "")
    target = move.target[:60]
    if move.target in homes:
        message = f"{move.field} leads to {target!r}, a state of {homes[move.target]}, and not of {scope.what}"
        fix = f"transitions stay inside their scope; its states are {names}"
        collector.add("SK202", move.position, message, fix=fix, text=target)
        return
    near = nearest(move.target, scope.states)
    fix = f"did you mean {near}?" if near else f"the states of {scope.what} are {names}" if names else "add states"
    collector.add(
        "SK201",
        move.position,
        f"{move.field} leads to {target!r}, and there is no such state in {scope.what}",
        fix=fix,
        text=target,
    )
