"""Runs probes on whatever the endpoints name, and leaves nothing behind."""

from __future__ import annotations

import base64
import io
import json
import secrets
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.calibration.model import Outcome, Probe
from scripts.cloud import CloudSettings, Execution, Flows, Functions, ServiceFault
from scripts.cloud.deployment import role_arn

__all__ = ["FUNCTION", "Laboratory"]

FUNCTION = "stepkeeper-probe"
_CODE = Path(__file__).parent / "probe_function.py"
_SECONDS = 60
_ENDS = ("ExecutionFailed", "ExecutionTimedOut", "ExecutionStopped")


@dataclass(frozen=True)
class Laboratory:
    """An account with the probe function in it; `run` makes a flow, runs it once and deletes it."""

    settings: CloudSettings
    flows: Flows
    functions: Functions
    run_id: str = field(default_factory=lambda: secrets.token_hex(4))

    @contextmanager
    def opened(self) -> Iterator[str]:
        """The probe function's ARN; the function is deleted at the end."""
        document = {
            "functionName": FUNCTION,
            "runtime": "python3.10",
            "handler": "probe_function.handler",
            "timeout": 30,
        }
        code = {"zipFile": base64.b64encode(_package()).decode()}
        if self.functions.find(FUNCTION) is None:
            self.functions.create({**document, "cpu": 0.35, "memorySize": 512, "diskSize": 512, "code": code})
        else:
            self.functions.update(FUNCTION, {"code": code})
        found = self.functions.find(FUNCTION)
        assert found is not None
        try:
            yield f"{found.arn}/LATEST"
        finally:
            self.functions.delete(FUNCTION)

    def run(self, probe: Probe, function: str) -> Outcome:
        """What the service does with the probe. Raises `ServiceFault` for what is no answer to the question."""
        account = function.split(":")[3]
        known = self.settings if self.settings.account else self.settings.model_copy(update={"account": account})
        self.flows.delete(probe.flow)
        try:
            self.flows.create(probe.flow, probe.definition(function), "a probe", role_arn(known.flow_role, known))
        except ServiceFault as fault:
            if fault.status != 400:
                raise
            return Outcome(refused=fault.code)
        try:
            return self._asked(probe) if probe.ask else self._executed(probe)
        finally:
            self.flows.delete(probe.flow)

    def _asked(self, probe: Probe) -> Outcome:
        name = f"probe-{self.run_id}"
        self.flows.start(probe.flow, name, "{}", None)
        if probe.ask == "start the ended name again":
            self.flows.execution(probe.flow, name, _SECONDS)
        try:
            if probe.ask == "report to a made-up token":
                self.flows.succeed("bm8gdG9rZW4=", "{}")
                return Outcome(status="taken")
            again = self.flows.start(probe.flow, name, "{}", None)
        except ServiceFault as fault:
            return Outcome(refused=fault.code)
        return Outcome(status="Running" if again.running else again.status, output=again.name == name)

    def _executed(self, probe: Probe) -> Outcome:
        name = f"probe-{self.run_id}"
        execution: Execution | None = self.flows.start(probe.flow, name, json.dumps(probe.input), None)
        while execution is not None and execution.running:
            execution = self.flows.execution(probe.flow, name, _SECONDS)
        if execution is None:
            return Outcome(status="gone")
        ends = [event for event in self.flows.history(probe.flow, name) if event.type in _ENDS]
        error = str(ends[-1].detail.get("error", "")) if ends else ""
        return Outcome(status=execution.status, output=_parsed(execution.output), error=error)


def _package() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("probe_function.py"), _CODE.read_bytes())
    return packed.getvalue()


def _parsed(text: str) -> object:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
