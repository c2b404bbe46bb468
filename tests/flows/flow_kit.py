"""Runs the shipped flows in the local cloud: real handlers, real SDKs, virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from functions.payloads import Payloads
from ledger import Ledger, StepRow
from local_sim.clock import VirtualClock
from local_sim.cloud import LocalCloud
from local_sim.project import Project, load_project
from local_sim.runner import Decision, RunResult, run_flow

ROOT = Path(__file__).resolve().parents[2]
START_MS = 1_700_000_000_000
TEXT = "# 合同\n\n甲方每月支付 48,000 元。The provider deletes all documents within thirty days.\n"


def answers(*given: Any) -> list[Decision]:
    """Decisions for the callbacks, in turn; a dict is the whole report, `(state, report)` names the state."""
    return [Decision(one[1], one[0]) if isinstance(one, tuple) else Decision(one) for one in given]


@dataclass
class Flows:
    """The shipped project in one local cloud. `settings` are environment variables that s.yaml reads."""

    cloud: LocalCloud
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Project:
        return load_project(ROOT, environment=self.settings)

    def run(self, flow: str, task: dict[str, Any], decisions: Iterable[Decision] = (), **more: Any) -> RunResult:
        clock = more.pop("clock", None) or VirtualClock(START_MS)
        return run_flow(
            self.project, flow, task, clock=clock, cloud=self.cloud, decisions=list(decisions), seed="s", **more
        )

    def rows(self, task_id: str) -> list[StepRow]:
        return Ledger.open().rows(task_id)

    def states(self, task_id: str) -> dict[str, str]:
        """State of each step's own row, by step."""
        return {row.step: row.state for row in self.rows(task_id) if row.direction == "forward"}

    def notices(self, task_id: str, kind: str = "") -> list[dict[str, Any]]:
        folder = self.cloud.folder / "outbox"
        found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob(f"{kind}*.json"))]
        return [notice for notice in found if notice["task_id"] == task_id]

    def stored(self, task_id: str) -> list[str]:
        """Kinds of objects that lie in OSS for a task."""
        keys = [info.key for info in Payloads.open().bucket.listing("")]
        return sorted(key.split("/", 1)[0] for key in keys if f"/{task_id}/" in key)


def inline(task_id: str, text: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"task_id": task_id, "document": {"inline": text, "name": "合同.md"}, **more}
