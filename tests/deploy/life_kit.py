"""A deployment against the local cloud: an empty cloud, the code folder, and the scripts run as a person would."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner

from local_sim.project import Project
from local_sim.server import LocalServer
from scripts.building import lay_out, make_zip
from scripts.cloud import CloudSettings, Flows, Functions

ROOT = Path(__file__).resolve().parents[2]
ACCOUNT = "123456789012"


def code_archive(folder: Path) -> Path:
    """The code folder of a build, packed, without the wheels: the workers of this machine have the packages."""
    lay_out(ROOT, [], folder / "code")
    make_zip(folder / "code", folder / "code.zip")
    return folder / "code.zip"


@dataclass
class Deployed:
    """An empty local cloud and this process's environment pointed at it."""

    server: LocalServer
    archive: Path
    environment: Mapping[str, str]

    def run(self, job: str, *arguments: str, status: int = 0, input: str | None = None) -> str:  # noqa: A002
        """Run a job in this process; returns what it printed."""
        result = CliRunner().invoke(import_module(f"scripts.{job}").app, list(arguments), input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result.output

    def json(self, job: str, *arguments: str, status: int = 0) -> Any:
        return json.loads(self.run(job, *arguments, "--json", status=status))

    @property
    def flows(self) -> Flows:
        return Flows(CloudSettings())

    @property
    def functions(self) -> Functions:
        return Functions(CloudSettings())

    def token(self, flow: str, execution: str, state: str) -> str:
        """The callback token that a waiting state handed out last."""
        for event in reversed(self.flows.history(flow, execution)):
            if event.type == "TaskScheduled" and event.step == state:
                return str(event.detail["parameters"]["body"]["token"])
        raise AssertionError(f"{execution} never came to {state}")


@contextmanager
def empty_cloud(folder: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """A local cloud with nothing in it."""
    (folder / "project").mkdir()
    # The jobs fill gaps of the environment in: all of it is put back at the end.
    with LocalServer(Project(folder / "project"), folder / "data") as server, mock.patch.dict(os.environ):
        environment = {
            **server.environment,
            "ALIBABA_CLOUD_ACCOUNT_ID": ACCOUNT,
            "STEPKEEPER_CODE_ZIP": str(archive),
            "STEPKEEPER_TEMPLATE": str(ROOT / "s.yaml"),
            "STEPKEEPER_FLOWS": str(ROOT / "flows"),
            "STEPKEEPER_REVIEW_KEYS": "0123456789abcdef" * 2,
            "STEPKEEPER_OUTBOX": str(folder / "outbox"),
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield Deployed(server, archive, environment)
