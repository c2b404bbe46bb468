"""The whole life of a deployment on the local cloud, by the scripts and the real SDKs: nothing, running, changed,
gradually changed, gone back, gone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import oss2
import pytest
from life_kit import ROOT, Deployed, code_archive, empty_cloud

from ledger import LedgerSettings, environment_credentials
from ledger.client import tablestore_client
from scripts.build import build
from scripts.building import Target
from scripts.cloud import Route

FLOW = "opc_minimal"
TEXT = "Stepkeeper keeps steps. " * 40


@pytest.fixture(params=["sources", pytest.param("built", marks=[pytest.mark.soak, pytest.mark.timeout(900)])])
def deployed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """With the package's own code only, or with a whole build (wheels included) for this interpreter."""
    if request.param == "built":
        target = Target(f"{sys.version_info[0]}.{sys.version_info[1]}")
        archive = shutil.copy(build(ROOT, ROOT / "build" / "coldstart", target).archive, tmp_path)
    else:
        archive = code_archive(tmp_path)
    with empty_cloud(tmp_path, Path(archive), monkeypatch) as cloud:
        yield cloud


def wait_until_it_waits(deployed: Deployed, execution: str) -> None:
    for _ in range(600):
        found = deployed.json("status", FLOW, execution)
        if found["waiting_in"]:
            return
        assert found["status"] in ("Running", "Starting"), deployed.run("logs", FLOW, execution, "--errors", "--all")
        time.sleep(0.1)
    raise AssertionError(f"{execution} never waited")


def begin(deployed: Deployed, task: str, folder: Path) -> None:
    document = folder / f"{task}.txt"
    document.write_text(TEXT, encoding="utf-8")
    deployed.run("start", FLOW, "--task", task, "--document", str(document))
    wait_until_it_waits(deployed, task)


def finish(deployed: Deployed, task: str) -> None:
    token = deployed.token(FLOW, task, "HumanReview")
    deployed.flows.succeed(token, json.dumps({"decision": "approved", "reviewer": "li"}))
    found = deployed.flows.execution(FLOW, task, 60)
    assert found is not None
    assert found.status == "Succeeded"


def changed_code(archive: Path) -> Path:
    """The same package with one more file: other code."""
    other = archive.with_name("changed.zip")
    other.write_bytes(archive.read_bytes())
    with zipfile.ZipFile(other, "a") as package:
        package.writestr("marker.txt", "second version")
    return other


def versions_called(deployed: Deployed, execution: str) -> set[str]:
    """The versions of the functions that an execution called."""
    scheduled = [event for event in deployed.flows.history(FLOW, execution) if event.type == "TaskScheduled"]
    return {str(event.detail["parameters"]["resourceArn"]).rpartition("/")[2] for event in scheduled}


def deploy(deployed: Deployed, *more: str) -> None:
    deployed.run("provision")
    deployed.run("deploy_functions", "--zip", str(deployed.archive))
    deployed.run("publish", *more)
    deployed.run("deploy_flows", *more)


@pytest.mark.timeout(600)  # a busy machine: a dozen worker processes come and go
def test_from_nothing_to_a_result_to_nothing(
    deployed: Deployed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is there, and saying so changes nothing.
    assert len(deployed.json("provision", "--plan")["changes"]) == 5
    assert deployed.json("doctor", status=1)
    deploy(deployed)

    # A second run changes nothing.
    before = _picture(deployed)
    assert deployed.json("provision")["changes"] == []
    assert deployed.json("deploy_functions")["changes"] == []
    assert not any(one["made"] for one in deployed.json("publish"))
    assert {one["action"] for one in deployed.json("deploy_flows")["flows"]} == {"nothing"}
    assert _picture(deployed) == before
    assert [one for one in deployed.json("doctor") if one["level"] != "good"] == []

    # A task runs until a person is asked, and to its end.
    begin(deployed, "t-1", tmp_path)
    begin(deployed, "t-2", tmp_path)
    finish(deployed, "t-1")
    used = deployed.json("cost", FLOW, "t-1")["quantities"]
    assert used["fc_invocations"] == 4
    assert used["cloudflow_transitions"] >= 5
    assert used["oss_put_requests"] >= 2
    assert "TaskSubmitted" in deployed.run("logs", FLOW, "t-1")

    # New code goes out to one start in ten; the task that waits keeps its own.
    deployed.archive = changed_code(deployed.archive)
    monkeypatch.setenv("STEPKEEPER_FUNCTION_VERSION", "2")
    deploy(deployed, "--canary", "10")
    assert [(route.version, route.weight) for route in _routes(deployed)] == [("1", 90), ("2", 10)]
    alias = deployed.functions.alias("stepkeeper-validate-input", "live")
    assert alias is not None
    assert (alias.version, dict(alias.weights)) == ("1", {"2": 0.1})
    assert [one["level"] for one in deployed.json("doctor") if one["subject"] == f"flow {FLOW}"] == ["warning"]
    finish(deployed, "t-2")

    # Back: everything starts with the first version again; forward: with the second.
    deployed.run("deploy_flows", "--rollback")
    deployed.run("publish", "--rollback")
    assert [(route.version, route.weight) for route in _routes(deployed)] == [("1", 100)]
    deploy(deployed)
    assert [(route.version, route.weight) for route in _routes(deployed)] == [("2", 100)]
    begin(deployed, "t-3", tmp_path)
    finish(deployed, "t-3")
    assert versions_called(deployed, "t-2") == {"1"}
    assert versions_called(deployed, "t-3") == {"2"}

    # Away, and nothing is left.
    gone = deployed.json("destroy", "--data", "--yes")
    assert f"flow {FLOW}" in gone["deleted"]
    assert deployed.json("destroy", "--data", "--yes")["deleted"] == []
    assert deployed.functions.names("") == []
    assert deployed.flows.find(FLOW) is None
    assert _tables_and_buckets() == ([], [])


def _routes(deployed: Deployed) -> tuple[Route, ...]:
    alias = deployed.flows.alias(FLOW, "live")
    assert alias is not None
    return alias.routes


def _picture(deployed: Deployed) -> object:
    """Everything a deploy makes, as the services show it."""
    functions = deployed.functions
    names = functions.names("stepkeeper-")
    return [
        [(name, functions.find(name), functions.versions(name), functions.aliases(name)) for name in names],
        [
            (flow, deployed.flows.find(flow), deployed.flows.versions(flow), deployed.flows.alias(flow, "live"))
            for flow in ("content_review", "opc_minimal", "order_saga")
        ],
    ]


def _tables_and_buckets() -> tuple[list[str], list[str]]:
    tables = list(tablestore_client(LedgerSettings(), environment_credentials).list_table())
    service = oss2.Service(oss2.Auth("local", "local"), os.environ["OSS_ENDPOINT"])
    return tables, [bucket.name for bucket in service.list_buckets().buckets]
