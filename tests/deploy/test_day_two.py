"""The commands of day two on a small deployment: starting, watching, going on, going back, examining, pricing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from life_kit import Deployed
from tiny_kit import FLOW, answer, start, tiny_deployment


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with pytest.MonkeyPatch.context() as patch, tiny_deployment(tmp_path_factory.mktemp("tiny"), patch) as cloud:
        yield cloud


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with tiny_deployment(tmp_path, monkeypatch) as cloud:
        yield cloud


def flow_file(cloud: Deployed) -> Path:
    return Path(cloud.archive.parent / "flows" / "tiny.yaml")


def test_starting_a_task_twice_is_one_execution(shared: Deployed) -> None:
    start(shared, "twice")
    again = shared.json("start", "tiny", "--name", "twice", "--input", '{"mode": "go", "task_id": "twice"}')
    assert again["status"] == "Running"
    assert len(shared.flows.executions("tiny", prefix="twice")) == 1
    answer(shared, "twice")
    told = shared.run("start", "tiny", "--name", "twice", "--input", "{}", status=2)
    assert "redrive tiny twice" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "--input", "{}"), "flow 'nowhere' with alias or version 'live' does not exist"),
        (("tiny", "--input", "[1]"), "must be a JSON object"),
        (("tiny", "--input", "{"), "is not JSON"),
        (("tiny", "--input", "no-such-file.json"), "No such file"),
        (("tiny", "--document", "x.pdf"), "needs --task"),
    ],
)
def test_what_cannot_be_started_is_said_in_one_line(shared: Deployed, arguments: tuple[str, ...], message: str) -> None:
    assert message in " ".join(shared.run("start", *arguments, status=2).split())


def test_input_comes_from_standard_input_and_ids_become_names(shared: Deployed) -> None:
    told = shared.run("start", "tiny", "--input", "-", "--json", input='{"mode": "fail", "task_id": "9/中"}')
    assert json.loads(told)["name"] == "_9__"


def test_status_says_who_waits_and_why_something_failed(shared: Deployed) -> None:
    start(shared, "waits")
    start(shared, "fails", "fail")
    listed = {one["name"]: one for one in shared.json("status", "tiny")}
    assert listed["waits"]["waiting_in"] == "Ask"
    assert listed["fails"]["status"] == "Failed"
    assert "last error: Refused" in shared.run("status", "tiny", "fails")
    assert "waits in Ask since" in shared.run("status", "tiny", "waits")
    (line,) = shared.json("status")
    assert (line["flow"], line["workflow_version"], line["alias"]) == ("tiny", "tiny-1", "1 for 100 %")
    assert "does not exist" in shared.run("status", "tiny", "never", status=2)
    assert "does not exist" in shared.run("status", "never", status=2)


def test_logs_tell_what_went_wrong(shared: Deployed) -> None:
    start(shared, "logged", "fail")
    whole = shared.run("logs", "tiny", "logged", "--follow")
    assert "ExecutionFailed  Refused" in whole
    assert "StepEntered" not in whole
    lines = [json.loads(line) for line in shared.run("logs", "tiny", "logged", "--errors", "--json").splitlines()]
    assert {line["error"] for line in lines} == {"Refused"}


def test_a_failed_execution_is_gone_on_with_under_its_version(shared: Deployed) -> None:
    start(shared, "broken", "fail")
    again = shared.json("redrive", "tiny", "broken")
    assert again["name"] == "broken-redrive-1"
    assert json.loads(again["input"]) == {"mode": "fail", "task_id": "broken"}
    ended = shared.flows.execution("tiny", "broken-redrive-1", 30)
    assert ended is not None
    assert ended.status == "Failed"
    assert shared.json("redrive", "tiny", "broken-redrive-1", "--wait", status=1)["name"] == "broken-redrive-2"
    start(shared, "well")
    assert "is still running" in shared.run("redrive", "tiny", "well", status=1)
    answer(shared, "well")
    assert "has succeeded" in shared.run("redrive", "tiny", "well", status=1)
    assert "does not exist" in shared.run("redrive", "tiny", "never", status=2)


def test_the_cost_of_an_execution_is_counted_and_priced(shared: Deployed, tmp_path: Path) -> None:
    start(shared, "priced")
    answer(shared, "priced")
    used = shared.json("cost", "tiny", "priced")
    assert used["quantities"]["fc_invocations"] == 2
    assert used["quantities"]["cloudflow_transitions"] == 2
    assert used["quantities"]["fc_gb_seconds"] == pytest.approx(used["quantities"]["fc_vcpu_seconds"] * 2, abs=0.002)
    assert used["total"] == 0
    assert "cloudflow_transitions" in used["unpriced"]
    prices = tmp_path / "prices.json"
    prices.write_text('{"date": "2030-01-01", "currency": "CNY", "prices": {"cloudflow_transitions": 0.5}}')
    priced = shared.json("cost", "tiny", "priced", "--prices", str(prices))
    assert priced["total"] == pytest.approx(1.0)
    assert priced["prices_of"] == "2030-01-01"
    prices.write_text("[]")
    assert "is no price file" in shared.run("cost", "tiny", "priced", "--prices", str(prices), status=2)


def test_a_change_that_would_strand_a_waiting_task_wants_to_be_meant(fresh: Deployed) -> None:
    start(fresh, "stranded")
    flow_file(fresh).write_text(FLOW.replace("Ask", "Question"), encoding="utf-8")
    told = fresh.run("deploy_flows", status=1)
    assert "stranded waits in Ask, which is gone" in told
    assert "--yes" in told
    assert [version.number for version in fresh.flows.versions("tiny")] == ["1"]
    plan = fresh.run("deploy_flows", "--plan")
    assert "-    Name: Ask" in plan
    assert "+    Name: Question" in plan
    fresh.run("deploy_flows", "--yes")
    answer(fresh, "stranded")
    start(fresh, "after")
    assert fresh.json("status", "tiny", "after")["waiting_in"] == ["Question"]


def test_another_role_is_a_change_that_needs_no_version(fresh: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPKEEPER_FLOW_ROLE", "others")
    assert fresh.json("deploy_flows")["flows"][0]["action"] == "update"
    found = fresh.flows.find("tiny")
    assert found is not None
    assert found.role.endswith(":role/others")
    assert fresh.json("deploy_flows")["flows"][0]["action"] == "nothing"


def test_a_canary_takes_some_starts_and_is_taken_back(fresh: Deployed) -> None:
    text = FLOW.replace("tiny-1", "tiny-2")
    flow_file(fresh).write_text(text, encoding="utf-8")
    (done,) = fresh.json("deploy_flows", "--canary", "30")["flows"]
    assert done["workflow_version"] == "tiny-2"
    assert done["alias_after"] == [{"version": "1", "weight": 70}, {"version": "2", "weight": 30}]
    assert fresh.json("deploy_flows", "--canary", "60")["flows"][0]["action"] == "move alias"
    warnings = [one for one in fresh.json("doctor") if one["level"] == "warning"]
    assert [one["finding"] for one in warnings] == ["a canary is under way: 1 for 40 %, 2 for 60 %"]
    fresh.run("deploy_flows", "--rollback")
    assert fresh.json("status")[0]["alias"] == "1 for 100 %"
    assert "nothing to go back to" in fresh.run("deploy_flows", "--rollback", status=2)
    start(fresh, "failed", "fail")
    fresh.run("deploy_flows")
    told = fresh.run("redrive", "tiny", "failed", "--newest", status=1)
    assert "kept under workflow tiny-1, the alias runs tiny-2" in told
    assert fresh.json("redrive", "tiny", "failed", "--newest", "--yes")["name"] == "failed-redrive-1"


def test_the_doctor_finds_what_is_missing_and_says_the_mend(fresh: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    def bad() -> dict[str, str]:
        return {one["subject"]: one["mend"] for one in fresh.json("doctor", status=1) if one["level"] == "bad"}

    start(fresh, "running")
    fresh.functions.delete_alias("tiny-one", "live")
    assert bad() == {"function tiny-one": "run python -m scripts.publish"}
    fresh.functions.delete_version("tiny-one", "1")
    assert bad()["versions in use"] == "publish that code again and redrive the execution"
    fresh.flows.delete("tiny")
    fresh.run("publish")
    assert bad() == {"flow tiny": "run python -m scripts.deploy_flows"}
    monkeypatch.setenv("STEPKEEPER_LEDGER_TABLE", "other_ledger")
    assert bad()["tables"] == "run python -m scripts.provision"
    monkeypatch.setenv("FC_ENDPOINT", "http://127.0.0.1:1")
    assert "may reach them" in bad()["functions"]
    monkeypatch.delenv("ALIBABA_CLOUD_ACCESS_KEY_ID")
    assert [one["subject"] for one in fresh.json("doctor", status=1)] == ["credentials"]


def test_a_changed_environment_is_a_warning_of_the_doctor(fresh: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINY_STAGE", "2")
    findings = {one["subject"]: one["finding"] for one in fresh.json("doctor") if one["level"] == "warning"}
    assert findings == {"function tiny-one": "its environment differs from s.yaml: STAGE"}


def test_destroying_asks_and_keeps_the_data(fresh: Deployed) -> None:
    start(fresh, "ends")
    told = fresh.run("destroy", input="n\n", status=1)
    assert "1 running executions end" in told
    assert fresh.flows.find("tiny") is not None
    gone = fresh.json("destroy", "--yes")
    assert gone["deleted"] == ["flow tiny", "function tiny-one"]
    assert "bucket local-bucket with 1 objects" in gone["remains"]
    assert any("role tiny-functions" in thing for thing in gone["remains"])
    assert len(fresh.json("provision", "--plan")["changes"]) == 0
