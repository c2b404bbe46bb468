"""Probes and what came of them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

__all__ = ["Difference", "Outcome", "Probe", "compared", "read_probes"]

_FILE = Path(__file__).parent / "probes.yaml"


@dataclass(frozen=True)
class Probe:
    """A tiny flow that shows one assumption; `id` is the assumption's, with a suffix where it takes several.

    `ask` names a question to the API that is asked while the flow's execution is there; its answer is the outcome.
    """

    id: str
    point: str
    states: str
    input: dict[str, Any] = field(default_factory=dict)
    ask: str = ""

    @property
    def flow(self) -> str:
        """The name of its flow."""
        return f"stepkeeper_probe_{self.id.replace('-', '_')}"

    def definition(self, function: str) -> str:
        """The flow's text; `function` is the ARN of the probe function."""
        body = self.states.replace("FUNCTION", f'"{function}"')
        start = body.split("Name:", 1)[1].replace("}", ",").split(",")[0].split("\n")[0].strip()
        head = f"Type: StateMachine\nSpecVersion: v1\nName: {self.flow}\nStartAt: {start}\nStates:\n"
        return head + textwrap.indent(body, "  ")


@dataclass(frozen=True)
class Outcome:
    """What the service did: `refused` is the code with which it took no such flow; else how the execution ended."""

    refused: str = ""
    status: str = ""
    output: Any = None
    error: str = ""


@dataclass(frozen=True)
class Difference:
    """A point on which the service does not do what local_sim does."""

    id: str
    point: str
    service: Outcome
    local_sim: Outcome


def read_probes(file: Path = _FILE) -> list[Probe]:
    """The probes of a file."""
    return [Probe(**one) for one in yaml.safe_load(file.read_text(encoding="utf-8"))]


def compared(probes: list[Probe], found: dict[str, Outcome], known: dict[str, Outcome]) -> list[Difference]:
    """The points that differ from what local_sim is known to do, in the probes' order."""
    points = {probe.id: probe.point for probe in probes}
    return [
        Difference(id_, points.get(id_, ""), outcome, known[id_])
        for id_, outcome in found.items()
        if id_ in known and outcome != known[id_]
    ]
