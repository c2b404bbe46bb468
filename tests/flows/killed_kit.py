"""An order that is run by `local-sim run --workers process` in a child, killed with SIGKILL and resumed until it ends.

The local cloud and the shop live in that child, so a kill takes everything at once; only the data folder is left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flow_kit import ROOT

from ledger import Ledger, StepRow, Transition
from local_sim.cloud import LocalCloud
from local_sim.errors import LocalSimError
from local_sim.journal import Journal
from local_sim.project import load_project
from scripts.shop import Fault, FaultKind, Store

NUMBER = "order-1"
SKU = "tea"
DEAD = -9

# The shop, which kills the whole process at the moments that a file lists, each once: `PLACE before` (nothing of the
# request applied), `PLACE applied` (applied, not answered) or `PLACE answered`.
KILLER = """\
import os, signal
from scripts.shop import create_app as create_shop


class Killer:
    def __init__(self, shop, moments):
        self.shop, self.moments, self.close = shop, moments, shop.close

    def reached(self, moment):
        left = self.moments.read_text().splitlines() if self.moments.exists() else []
        if left[:1] == [moment]:
            self.moments.write_text("".join(line + "\\n" for line in left[1:]))
            os.kill(os.getpid(), signal.SIGKILL)

    async def __call__(self, scope, receive, send):
        place = scope["path"].strip("/") if scope["method"] == "POST" else ""
        self.reached(place + " before")

        async def sending(message):
            self.reached(place + " applied")
            await send(message)

        await self.shop(scope, receive, sending)
        self.reached(place + " answered")


def create_app(folder):
    return Killer(create_shop(folder), folder / "moments")
"""
SETTINGS = """\
[tool.local-sim]
setup = "scripts.provision:provision"
code = {{ "build/code" = ["{root}", "{root}/functions/entry"] }}

[tool.local-sim.environment]
STEPKEEPER_OUTBOX = "{{data}}/outbox"
STEPKEEPER_LEASE_SECONDS = "2"

[tool.local-sim.services]
shop = {{ app = "killer:create_app", variable = "SHOP_ENDPOINT" }}
"""


@dataclass
class KilledOrder:
    """A project of its own in `folder`: the shipped flow, functions and template, a short lease, and the killer."""

    folder: Path
    runs: int = 0

    def __post_init__(self) -> None:
        shutil.copy(ROOT / "s.yaml", self.folder)
        shutil.copytree(ROOT / "flows", self.folder / "flows")
        (self.folder / "pyproject.toml").write_text(SETTINGS.format(root=ROOT), encoding="utf-8")
        (self.folder / "killer.py").write_text(KILLER, encoding="utf-8")
        store = self.store()
        store.set_stock(SKU, 5)
        store.close()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def moments(self) -> Path:
        return self.data / "outside/shop/moments"

    def store(self) -> Store:
        return Store(self.data / "outside/shop/shop.sqlite3")

    def undeliverable(self) -> None:
        store = self.store()
        store.switch(Fault("carrier/shipments", FaultKind.REFUSE, 99))
        store.close()

    def begun(self) -> bool:
        """Whether the execution is in the journal: a run may be killed before it is."""
        try:
            with Journal(self.data, read_only=True) as journal:
                return journal.find("run").name == "run"
        except LocalSimError:
            return False

    def start(self) -> subprocess.Popen[str]:
        """Run the order, or go on with it."""
        order = {"lines": [{"sku": SKU, "quantity": 2}], "amount": 100, "currency": "CNY"}
        given = {"task_id": NUMBER, **order, "method": "card-1", "address": "Hangzhou"}
        begin = ["order_saga", "--name", "run", "--input", json.dumps(given), "--virtual-time"]
        command = [sys.executable, "-m", "local_sim.cli", "run", *(["--resume", "run"] if self.begun() else begin)]
        command += ["--workers", "process", "--data", str(self.data), "--project", str(self.folder)]
        self.runs += 1
        return subprocess.Popen(
            [*command, "--decide", "ManualReview=abandon"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kill_at(self, moments: list[str]) -> str:
        """Run and resume through all moments, to the end; returns what the last run said."""
        self.moments.write_text("".join(f"{moment}\n" for moment in moments), encoding="utf-8")
        for left in range(len(moments), 0, -1):
            process = self.start()
            said, _ = process.communicate(timeout=100)
            assert process.returncode == DEAD, said
            assert len(self.moments.read_text(encoding="utf-8").splitlines()) == left - 1
        return self.finish()

    def kill_after(self, seconds: float) -> bool:
        """Run or resume, and kill after so many seconds; True when it was still running."""
        process = self.start()
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        return process.returncode == DEAD

    def finish(self) -> str:
        process = self.start()
        said, _ = process.communicate(timeout=100)
        assert process.returncode == 0, said
        return said

    def effects(self) -> list[str]:
        store = self.store()
        try:
            return [effect.kind for effect in store.effects()]
        finally:
            store.close()

    def stock(self) -> int:
        store = self.store()
        try:
            return store.stock(SKU)
        finally:
            store.close()

    def ledger(self, environment: Any) -> tuple[list[StepRow], list[Transition]]:
        """What the ledger says, read through the services on the same data folder."""
        with LocalCloud(load_project(self.folder, environment={}), self.data) as cloud:
            for name, value in cloud.environment.items():
                environment.setenv(name, value)
            ledger = Ledger.open()
            return ledger.rows(NUMBER), ledger.transitions(NUMBER)
