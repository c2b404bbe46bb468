"""The fixture `local_cloud`, used as a project would use it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config

from local_sim.project import Project
from local_sim.server import LocalServer
from local_sim.testing.local_cloud import local_cloud, local_cloud_project

assert local_cloud is not None
assert local_cloud_project is not None


@pytest.fixture(name="local_cloud_project")
def other_project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_environment_points_at_the_server(local_cloud: LocalServer) -> None:
    assert os.environ["FNF_ENDPOINT"] == os.environ["FC_ENDPOINT"] == local_cloud.endpoint
    client = Client(Config(endpoint=os.environ["FNF_ENDPOINT"], access_key_id="a", access_key_secret="b"))
    assert client.list_flows(fnf.ListFlowsRequest()).body.flows == []
    assert os.environ["TABLESTORE_ENDPOINT"].startswith("http://127.0.0.1:")


def test_it_leaves_nothing_behind() -> None:
    assert "FNF_ENDPOINT" not in os.environ
