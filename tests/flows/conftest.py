"""One local cloud for all flow tests of a worker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from flow_kit import ROOT, Flows
from loopback import Loopback, loopback

from local_sim.cloud import LocalCloud
from local_sim.project import load_project


@pytest.fixture(scope="session")
def shared_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    project = load_project(ROOT, environment={})
    with LocalCloud(project, Path(tmp_path_factory.mktemp("flows"))) as cloud:
        yield cloud


@pytest.fixture
def flows(shared_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> Flows:
    """The flows, and this process's environment pointed at the same cloud, to look at what they left."""
    for name, value in shared_cloud.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "local")
    return Flows(shared_cloud)


@pytest.fixture
def task_id() -> str:
    return "t-" + uuid.uuid4().hex[:10]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running
