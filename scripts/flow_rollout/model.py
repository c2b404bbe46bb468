"""What is known of one flow before it is deployed, and what is going to be done."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from scripts.cloud import FlowAlias, Route

__all__ = ["FlowPlan", "routes_of", "workflow_of"]

_WORKFLOW = re.compile(r"""^\s*workflow:\s*["']?([^"'\s#]+)""", re.MULTILINE)


@dataclass(frozen=True)
class FlowPlan:
    """One flow: `definition` is what it is going to be, `present` and `present_role` what the service has.

    `version` is the newest published version and `published` its definition. `functions` are the ARNs that were filled
    in, by the function's name. `stranded` says in words which waiting tasks the change would strand.
    """

    name: str
    description: str
    definition: str
    present: str
    present_role: str
    version: str
    published: str
    alias: FlowAlias | None
    wanted: tuple[Route, ...]
    role: str
    functions: Mapping[str, str]
    stranded: tuple[str, ...] = field(default=())

    @property
    def workflow(self) -> str:
        """The workflow version that the definition pins its tasks to; empty when it names none."""
        return workflow_of(self.definition)

    @property
    def digest(self) -> str:
        """First twelve digits of the definition's SHA-256."""
        return hashlib.sha256(self.definition.encode()).hexdigest()[:12]

    @property
    def to_write(self) -> bool:
        """Whether the flow has to be made or changed."""
        return self.definition != self.present or self.role != self.present_role

    @property
    def to_publish(self) -> bool:
        """Whether a version has to be published."""
        return self.definition != self.published

    @property
    def to_move(self) -> bool:
        """Whether the alias has to be made or moved."""
        return self.to_publish or self.alias is None or self.alias.routes != self.wanted

    @property
    def diff(self) -> str:
        """The change of the definition, line by line; empty when there is none."""
        before, after = self.present.splitlines(), self.definition.splitlines()
        return "\n".join(
            difflib.unified_diff(before, after, f"{self.name} (deployed)", f"{self.name} (new)", "", "", 2, "")
        )


def workflow_of(definition: str) -> str:
    """The first `workflow:` of a definition; empty when there is none."""
    match = _WORKFLOW.search(definition)
    return match[1] if match else ""


def routes_of(alias: FlowAlias | None, version: str, canary: int | None) -> tuple[Route, ...]:
    """Where the alias should point: all at `version`, or `canary` per cent of the starts beside the version it had."""
    others = [route for route in alias.routes if route.version != version] if alias else []
    if canary is None or not others:
        return (Route(version, 100),)
    old = max(others, key=lambda route: route.weight).version
    return (Route(old, 100 - canary), Route(version, canary))
