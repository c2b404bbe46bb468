"""What the jobs share: calls, errors, settings, documents of functions, the umbrella."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alibabacloud_fnf20190315 import models as fnf
from loopback import Answer, Loopback, closed_port, loopback

import scripts.cloud
from scripts.__main__ import jobs, main
from scripts.cloud import (
    CloudSettings,
    FlowAlias,
    Flows,
    Functions,
    NotConfigured,
    NotThere,
    Route,
    ServiceFault,
    current_keys,
)
from scripts.cloud.calls import call
from scripts.cloud.deployment import adopt_environment, read_deployment, role_arn
from scripts.cloud.plan import Change
from scripts.flow_rollout import fill, functions_in, routes_of, workflow_of
from scripts.publish import settled
from scripts.start import execution_name

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "local")
    with loopback() as running:
        monkeypatch.setenv("FNF_ENDPOINT", running.url)
        monkeypatch.setenv("FC_ENDPOINT", running.url)
        yield running


def refusal(status: int, code: str) -> Answer:
    return Answer.of({"Code": code, "Message": "told so", "RequestId": "r-1"}, status)


def test_a_throttled_call_is_sent_again_with_growing_pauses(service: Loopback) -> None:
    pauses: list[float] = []
    service.answers = [refusal(429, "ResourceThrottled")] * 3 + [Answer.of({"Name": "f", "Definition": "d"})]
    flows = Flows(CloudSettings())
    request = fnf.DescribeFlowRequest(name="f")
    found = call("CloudFlow", "DescribeFlow", lambda: flows._client.describe_flow(request), pauses.append)
    assert found.body.definition == "d"
    assert pauses == [0.5, 1.0, 2.0]
    assert len(service.asked) == 4


def test_a_version_waits_until_the_function_has_settled(service: Loopback) -> None:
    def shown(state: str, update: str) -> Answer:
        return Answer.of({"functionName": "f", "functionArn": "a", "state": state, "lastUpdateStatus": update})

    pauses: list[float] = []
    functions = Functions(CloudSettings())
    service.answers = [shown("Pending", "InProgress"), shown("Active", "InProgress"), shown("Active", "Successful")]
    found = settled(functions, "f", pauses.append)
    assert found is not None
    assert pauses == [1, 1]
    service.answers = [shown("Active", "Failed")]
    with pytest.raises(NotThere, match="its last update Failed"):
        settled(functions, "f", pauses.append)
    service.answers = [shown("Pending", "")]
    with pytest.raises(NotThere, match="after 3 s"):
        settled(functions, "f", pauses.append, 3)
    service.answers = [refusal(404, "FunctionNotFound")]
    assert settled(functions, "f", pauses.append) is None


def test_what_may_have_taken_effect_is_not_sent_again(service: Loopback) -> None:
    service.answers = [refusal(500, "InternalServerError")]
    with pytest.raises(ServiceFault) as caught:
        Flows(CloudSettings()).publish("f", "")
    assert (caught.value.service, caught.value.action) == ("CloudFlow", "PublishFlowVersion")
    assert (caught.value.code, caught.value.status, caught.value.request_id) == ("InternalServerError", 500, "r-1")
    assert len(service.asked) == 1


def test_a_message_is_told_in_the_services_words(service: Loopback) -> None:
    service.answers = [refusal(403, "AccessDenied")]
    with pytest.raises(ServiceFault, match=r"FC GetFunction: 403 AccessDenied: told so \(request r-1\)"):
        Functions(CloudSettings()).find("f")


def test_missing_things_are_none_and_pages_are_followed(service: Loopback) -> None:
    service.answers = [refusal(404, "FlowNotExists")]
    assert Flows(CloudSettings()).find("f") is None
    assert Flows(CloudSettings()).versions("f") == []
    service.answers = [
        Answer.of({"FlowVersions": [{"Version": "9"}, {"Version": "10"}], "NextToken": "t"}),
        Answer.of({"FlowVersions": [{"Version": "2"}]}),
    ]
    assert [version.number for version in Flows(CloudSettings()).versions("f")] == ["10", "9", "2"]
    assert "NextToken=t" in service.asked[-1].path


def test_no_answer_is_a_fault_without_status(service: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FNF_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(ServiceFault) as caught:
        Flows(CloudSettings()).find("f")
    assert caught.value.status == 0
    assert not caught.value.missing


def test_credentials_come_from_either_pair_and_are_named_when_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALIBABA_CLOUD_ACCESS_KEY_ID", "AccessKeyID", "ALIBABA_CLOUD_SECURITY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NotConfigured) as caught:
        current_keys()
    assert caught.value.variable == "ALIBABA_CLOUD_ACCESS_KEY_ID"
    monkeypatch.setenv("AccessKeyID", "from-s")
    monkeypatch.setenv("AccessKeySecret", "hidden")
    assert current_keys().key_id == "from-s"
    assert "hidden" not in repr(current_keys())


def test_jobs_reach_the_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("TABLESTORE_ENDPOINT", "OSS_ENDPOINT", "OSS_BUCKET", "STEPKEEPER_LEDGER_TABLE", "TABLESTORE_INSTANCE"):
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "local")
    monkeypatch.setenv("ALIBABA_CLOUD_REGION", "cn-beijing")
    adopt_environment(CloudSettings())

    assert os.environ["TABLESTORE_ENDPOINT"] == "https://stepkeeper.cn-beijing.tablestore.aliyuncs.com"
    assert os.environ["OSS_ENDPOINT"] == "https://oss-cn-beijing.aliyuncs.com"
    assert os.environ["OSS_BUCKET"] == "stepkeeper-payloads"


def test_documents_of_functions_hold_what_the_api_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPKEEPER_TEMPLATE", str(ROOT / "s.prod.yaml"))
    monkeypatch.setenv("ALIBABA_CLOUD_ACCOUNT_ID", "42")
    first = read_deployment(CloudSettings()).functions[0]
    assert first.document["role"] == "acs:ram::42:role/stepkeeper-functions"
    assert first.document["memorySize"] == 1024
    assert first.document["logConfig"]["project"] == "stepkeeper-logs"
    assert first.async_config == {"maxAsyncRetryAttempts": 0, "maxAsyncEventAgeInSeconds": 3600}
    for apart in ("region", "code", "triggers", "asyncInvokeConfig", "concurrencyConfig", "tags"):
        assert apart not in first.document


def test_roles_are_arns_in_lower_case() -> None:
    settings = CloudSettings(account="42")
    assert role_arn("MyRole", settings) == "acs:ram::42:role/myrole"
    assert role_arn("acs:ram::7:role/X", settings) == "acs:ram::7:role/x"
    with pytest.raises(NotConfigured, match="ALIBABA_CLOUD_ACCOUNT_ID"):
        role_arn("MyRole", CloudSettings(account=""))


def test_arns_are_filled_in_and_nothing_else_changes() -> None:
    text = (ROOT / "flows" / "content_review.yaml").read_text(encoding="utf-8")
    names = functions_in(text)
    assert len(names) == len(set(names)) == 11
    filled = fill(text, lambda name: f"acs:fc:cn-hangzhou:42:functions/{name}/7", "cn-hangzhou", "42")
    assert "acs:fc:::" not in filled
    assert "${" not in filled
    assert filled.replace("acs:fc:cn-hangzhou:42:", "acs:fc:::").replace("/7", "/LATEST") == text
    assert fill("acs:fnf:::flow/child", str, "r-1", "42") == "acs:fnf:r-1:42:flow/child"
    assert workflow_of(text) == "content_review-1"


@pytest.mark.parametrize(
    ("routes", "version", "canary", "wanted"),
    [
        ([], "1", None, [("1", 100)]),
        ([], "1", 10, [("1", 100)]),
        ([("1", 100)], "2", 10, [("1", 90), ("2", 10)]),
        ([("1", 40), ("2", 60)], "2", 60, [("1", 40), ("2", 60)]),
        ([("1", 40), ("2", 60)], "2", None, [("2", 100)]),
        ([("1", 90), ("2", 10)], "3", 10, [("1", 90), ("3", 10)]),
        ([("2", 100)], "2", 10, [("2", 100)]),
    ],
)
def test_an_alias_moves_gradually(
    routes: list[tuple[str, int]], version: str, canary: int | None, wanted: list[tuple[str, int]]
) -> None:
    alias = FlowAlias("live", tuple(Route(*route) for route in routes)) if routes else None
    assert [(route.version, route.weight) for route in routes_of(alias, version, canary)] == wanted


@pytest.mark.parametrize(
    ("task", "name"), [("t-1", "t-1"), ("", ""), ("9", "_9"), ("a b/中", "a_b__"), ("x" * 200, "x" * 126)]
)
def test_an_execution_is_named_after_its_task(task: str, name: str) -> None:
    assert execution_name(task) == name


def test_changes_are_told_short() -> None:
    assert str(Change("f", "code", None, "x" * 200)) == f"f: code: nothing -> {'x' * 97}..."


def test_the_umbrella_lists_and_runs_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"start", "status", "logs", "redrive", "doctor", "destroy", "cost", "report"} <= set(jobs())
    assert all(text for text in jobs().values())
    assert main([]) == 0
    assert main(["nothing"]) == 2
    assert "python -m scripts JOB" in capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-m", "scripts", "deploy-flows", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "--canary" in done.stdout


def test_the_list_of_exports_is_complete_and_sorted() -> None:
    exported = scripts.cloud.__all__
    assert all(hasattr(scripts.cloud, name) for name in exported)
    public = {
        name for name, value in vars(scripts.cloud).items() if not name.startswith("_") and hasattr(value, "__module__")
    }
    assert {name for name in public if name in exported} == set(exported)
