"""Which error names a state can raise, and which ones its rules take, from the inside out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .arns import function_of
from .error_names import ALL
from .model import CatchRule, FailState, MapState, ParallelState, TaskMode, TaskState
from .scopes import ScopeInfo, StateInfo

Names = frozenset[str] | None
"""A set of own error names; None when anything may come."""


def task_errors(info: StateInfo, functions: Mapping[str, Collection[str] | None]) -> Names:
    """Return the own errors of a Task; None when they are not known."""
    state = info.state
    if (
        not isinstance(state, TaskState)
        or state.action != "FC:InvokeFunction"
        or state.mode is TaskMode.CUSTOM_CALLBACK
    ):
        return None
    declared = functions.get(function_of(info) or "")
    return None if declared is None else frozenset(declared)


def raised_by(scopes: Sequence[ScopeInfo], functions: Mapping[str, Collection[str] | None]) -> dict[int, Names]:
    """Return for every state, by the id of its StateInfo, the own errors it raises before its own rules apply."""
    raised: dict[int, Names] = {}
    of_scope: dict[int, Names] = {}
    for scope in reversed(scopes):
        leaving: Names = frozenset()
        for info in scope.states.values():
            raised[id(info)] = _raised(info, functions, of_scope)
            left = _left(info, raised[id(info)])
            leaving = None if leaving is None or left is None else leaving | left
        of_scope[id(scope)] = leaving
    return raised


def _raised(info: StateInfo, functions: Mapping[str, Collection[str] | None], of_scope: dict[int, Names]) -> Names:
    if isinstance(info.state, FailState):
        return frozenset((info.state.code,)) if isinstance(info.state.code, str) else None
    if info.children:
        return _union([of_scope.get(id(child)) for child in info.children])
    if info.type == "Task" or info.state is None:
        return task_errors(info, functions)
    return frozenset()


def _left(info: StateInfo, names: Names) -> Names:
    """Return what still leaves the state once its Catch has taken what it takes."""
    if not isinstance(info.state, TaskState | ParallelState | MapState):
        return names
    rules: tuple[CatchRule, ...] = info.state.catch
    caught = {name for rule in rules for name in rule.errors}
    if ALL in caught:
        return frozenset()
    return None if names is None else names - caught


def _union(parts: Sequence[Names]) -> Names:
    found: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        found |= part
    return found


def taken_around(scopes: Sequence[ScopeInfo]) -> dict[int, frozenset[str]]:
    """Return for every state the error names that its own rules and those of the states around it list."""
    taken: dict[int, frozenset[str]] = {}
    for scope in scopes:
        outer = taken[id(scope.owner)] if scope.owner is not None else frozenset()
        for info in scope.states.values():
            taken[id(info)] = outer | _listed(info)
    return taken


def _listed(info: StateInfo) -> set[str]:
    """Return the names in a state's own rules."""
    if not isinstance(info.state, TaskState | ParallelState | MapState):
        return set()
    lists = [rule.errors for rule in info.state.retry] + [rule.errors for rule in info.state.catch]
    return {name for names in lists for name in names}
