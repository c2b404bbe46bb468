"""Plain graph algorithms on names, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def reachable(graph: Mapping[str, Iterable[str]], starts: Iterable[str]) -> set[str]:
    """Return every node a path from one of the starts leads to, the starts included."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(graph.get(node, ()))
    return found


def reverse(graph: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return the graph with every edge turned round."""
    turned: dict[str, list[str]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            turned.setdefault(target, []).append(node)
    return turned


def loops(graph: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Return the strongly connected components that are loops: more than one node, or a node with an edge to itself."""
    found: list[set[str]] = []
    turned = reverse(graph)
    assigned: set[str] = set()
    # Kosaraju: in the reverse order of finishing, what reaches a node backwards is its component.
    for node in reversed(_finishing_order(graph)):
        if node in assigned:
            continue
        component = _backwards(node, turned, assigned)
        assigned |= component
        if len(component) > 1 or node in graph.get(node, ()):
            found.append(component)
    return found


def _backwards(start: str, turned: Mapping[str, Iterable[str]], assigned: set[str]) -> set[str]:
    component: set[str] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node not in component and node not in assigned:
            component.add(node)
            waiting.extend(turned.get(node, ()))
    return component


def _finishing_order(graph: Mapping[str, Iterable[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root in graph:
        waiting = [(root, False)]
        while waiting:
            node, done = waiting.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting.extend((target, False) for target in graph.get(node, ()) if target not in seen)
    return order
