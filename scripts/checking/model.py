"""What a check finds, and where it collects it."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from scripts.template import Node, Place

__all__ = ["Finding", "Findings", "nearest"]

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong. `rule` is its id, explained in docs/operations.md."""

    place: Place
    rule: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.severity} {self.rule}: {self.message}"


@dataclass
class Findings:
    """Collects findings; each once, though several resources inherit the line it stands in."""

    found: set[Finding] = field(default_factory=set)

    def error(self, rule: str, message: str, place: Place) -> None:
        """Something a deploy or the service refuses, or that cannot be meant."""
        self.found.add(Finding(place, rule, "error", message))

    def warning(self, rule: str, message: str, place: Place) -> None:
        """Something that works and probably should not be so."""
        self.found.add(Finding(place, rule, "warning", message))

    def unknown_keys(self, node: Node, known: tuple[str, ...], what: str) -> None:
        """Report keys that nobody reads: an error when a known one is near, a warning otherwise (C50)."""
        for key in node.fields:
            if key in known:
                continue
            near = nearest(key, known)
            if near:
                self.error("SD04", f"unknown key {key!r} in {what}; did you mean {near!r}?", node.key_place(key))
            else:
                self.warning("SD04", f"unknown key {key!r} in {what}: nothing reads it", node.key_place(key))


def nearest(name: str, known: tuple[str, ...]) -> str:
    """The known name that `name` may be a misspelling of; empty when none is near."""
    lower = {key.lower(): key for key in known}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=0.75)
    return lower[near[0]] if near else ""
