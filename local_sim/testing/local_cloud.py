"""The pytest fixture `local_cloud`: a whole local cloud for one test.

Use it by naming this module in a conftest::

    pytest_plugins = ["local_sim.testing.local_cloud"]

    def test_something(local_cloud):
        client = Client(Config(endpoint=local_cloud.environment["FNF_ENDPOINT"], ...))
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from local_sim.project import Project, ProjectNotFound, find_project, load_project
from local_sim.server import LocalServer


@pytest.fixture
def local_cloud_project(request: pytest.FixtureRequest) -> Project:
    """The project that `local_cloud` serves: the one around the test's file. Override it to serve another."""
    try:
        return load_project(find_project(Path(str(request.path)).parent))
    except ProjectNotFound:
        return Project(request.config.rootpath)


@pytest.fixture
def local_cloud(local_cloud_project: Project, tmp_path: Path) -> Iterator[LocalServer]:
    """A running server on a fresh data folder, its variables in os.environ for the length of the test."""
    with LocalServer(local_cloud_project, tmp_path / "local-cloud") as server, mock.patch.dict(os.environ):
        os.environ.update(server.environment)
        yield server
