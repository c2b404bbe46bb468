"""Going through a definition: its scopes, and its states with their paths."""

from __future__ import annotations

from collections.abc import Iterator

from .model import Flow, MapState, Scope, State

StatePath = tuple[str, ...]
"""Names from the root to a state; a Parallel's branches are `Branch0`, ..., a Map's processor adds nothing."""


def scopes_of(root: Scope) -> Iterator[Scope]:
    """Yield a scope and all scopes inside it, outer ones first."""
    waiting = [root]
    while waiting:
        scope = waiting.pop()
        yield scope
        for state in scope.states.values():
            waiting.extend(inner for _, inner in _inside(state))


def states_of(flow: Flow) -> Iterator[tuple[StatePath, State]]:
    """Yield every state with its path, in the order of the text within a scope, the inside of a state after it."""
    waiting: list[tuple[StatePath, Scope]] = [((), flow.root)]
    while waiting:
        above, scope = waiting.pop()
        inside: list[tuple[StatePath, Scope]] = []
        for state in scope.states.values():
            path = (*above, state.name)
            yield path, state
            inside.extend(((*path, label) if label else path, inner) for label, inner in _inside(state))
        waiting.extend(reversed(inside))


def _inside(state: State) -> list[tuple[str, Scope]]:
    if isinstance(state, MapState):
        return [("", state.processor)]
    # A Parallel's branches, and the nested steps of a choice in the older dialect.
    branches = [part for part in getattr(state, "branches", ()) if isinstance(part, Scope)]
    return [(f"Branch{index}", scope) for index, scope in enumerate(branches)]
