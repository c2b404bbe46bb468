"""What the API tells of instances that really run in child processes."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from alibabacloud_fc20230330 import models as fc
from alibabacloud_fc20230330.client import Client
from alibabacloud_tea_openapi.models import Config
from darabonba.runtime import RuntimeOptions

from local_sim.project import Project
from local_sim.server import LocalServer

CODE = """
import json, os, sys
def handler(event, context):
    print("secret is", os.environ.get("API_KEY", ""))
    if event == b"hoard":
        kept = bytearray(os.urandom(1 << 20)) * 200
    return json.dumps({"python": sys.version_info[:2], "qualifier": context.function.qualifier})
def pre_stop(context):
    open(os.environ["LEFT"], "a").write(context.function.name)
"""
API = "/2023-03-30/functions/f"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with LocalServer(Project(tmp_path), tmp_path / "data") as server:
        made = Client(
            Config(endpoint=server.endpoint, access_key_id="id", access_key_secret="secret", region_id="cn-hangzhou")
        )
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("a/b/index.py", CODE)
        hooks = fc.InstanceLifecycleConfig(pre_stop=fc.LifecycleHook(handler="a/b/index.pre_stop", timeout=5))
        body = fc.CreateFunctionInput(
            function_name="f",
            runtime="python3.12",
            handler="a/b/index.handler",
            timeout=20,
            memory_size=128,
            instance_lifecycle_config=hooks,
            environment_variables={"LEFT": str(tmp_path / "left"), "API_KEY": "sk-private-value"},
            code=fc.InputCodeLocation(zip_file=base64.b64encode(packed.getvalue()).decode()),
        )
        made.create_function(fc.CreateFunctionRequest(body=body))
        yield made


def invoke(client: Client, event: bytes = b"", qualifier: str | None = None) -> Any:
    request = fc.InvokeFunctionRequest(body=event, qualifier=qualifier)
    return client.invoke_function_with_options(
        "f", request, fc.InvokeFunctionHeaders(x_fc_log_type="Tail"), RuntimeOptions()
    )


def listed(client: Client, qualifier: str | None = None) -> set[tuple[str, str]]:
    found = client.list_instances("f", fc.ListInstancesRequest(qualifier=qualifier)).body.instances
    return {(info.instance_id, info.version_id) for info in found}


def test_headers_name_the_instance_and_its_memory_and_the_log_keeps_secrets(client: Client) -> None:
    assert listed(client) == set()
    cold, warm = invoke(client), invoke(client)
    instance = cold.headers["x-fc-instance-id"]
    assert re.fullmatch(r"c-[0-9a-f]{12}", instance)
    assert warm.headers["x-fc-instance-id"] == instance
    assert 5 < int(warm.headers["x-fc-max-memory-usage"]) < 128
    assert re.fullmatch(r"1-[0-9a-f]{8}-[0-9a-f]{24}", warm.headers["x-fc-request-id"])
    log = base64.b64decode(warm.headers["x-fc-log-result"]).decode()
    assert log.startswith(f"FC Invoke Start RequestId: {warm.headers['x-fc-request-id']}\n")
    assert ("secret is ******" in log, "sk-private-value" in log) == (True, False)
    assert listed(client) == {(instance, "LATEST")}


def test_versions_have_instances_of_their_own(client: Client) -> None:
    client.publish_function_version("f", fc.PublishFunctionVersionRequest(body=fc.PublishVersionInput()))
    client.create_alias("f", fc.CreateAliasRequest(body=fc.CreateAliasInput(alias_name="live", version_id="1")))
    latest, first = invoke(client), invoke(client, qualifier="live")
    assert [json.loads(answer.body.read())["qualifier"] for answer in (latest, first)] == ["LATEST", "1"]
    assert first.headers["x-fc-invocation-service-version"] == "1"
    assert listed(client, "live") == {(first.headers["x-fc-instance-id"], "1")}
    assert len(listed(client)) == 2


def test_too_much_memory_is_the_documented_error_and_the_next_call_a_cold_start(client: Client) -> None:
    before = invoke(client).headers["x-fc-instance-id"]
    failed = invoke(client, b"hoard")
    assert (failed.status_code, failed.headers["x-fc-error-type"]) == (200, "UnhandledInvocationError")
    body = json.loads(failed.body.read())
    assert list(body) == ["errorMessage"]
    assert body["errorMessage"].startswith("Process exited unexpectedly before completing request (duration: ")
    assert int(failed.headers["x-fc-max-memory-usage"]) > 128
    assert invoke(client).headers["x-fc-instance-id"] != before


def test_new_settings_stop_the_old_instance_in_order(client: Client, tmp_path: Path) -> None:
    before = invoke(client).headers["x-fc-instance-id"]
    shown = client.get_function("f", fc.GetFunctionRequest()).body.instance_lifecycle_config.pre_stop
    assert (shown.handler, shown.timeout) == ("a/b/index.pre_stop", 5)
    client.update_function("f", fc.UpdateFunctionRequest(body=fc.UpdateFunctionInput(timeout=10)))
    assert invoke(client).headers["x-fc-instance-id"] != before
    assert before not in {instance for instance, _ in listed(client)}


def test_the_other_commands_of_fc3_find_what_they_ask_for(client: Client) -> None:
    """`s info`, `s version publish`, `s alias publish`, `s provision put`, `s concurrency put`, `s invoke`."""
    with httpx.Client(base_url=f"http://{client._endpoint.removeprefix('http://')}", trust_env=False) as http:
        assert http.get(f"{API}").json()["functionName"] == "f"
        assert http.post(f"{API}/versions", json={"description": "v"}).json()["versionId"] == "1"
        assert http.get(f"{API}/versions?direction=BACKWARD&limit=20").json()["versions"][0]["versionId"] == "1"
        alias = {"aliasName": "live", "versionId": "1"}
        assert http.get(f"{API}/aliases/live").status_code == 404
        assert http.post(f"{API}/aliases", json=alias).json()["aliasName"] == "live"
        target = {"defaultTarget": 2, "alwaysAllocateCPU": True, "scheduledActions": [], "targetTrackingPolicies": []}
        assert http.get(f"{API}/provision-config?qualifier=live").status_code == 404
        assert http.put(f"{API}/provision-config?qualifier=live", json=target).json()["defaultTarget"] == 2
        kept = http.get(f"{API}/provision-config?qualifier=live").json()
        assert (kept["defaultTarget"], kept["alwaysAllocateCPU"], kept["functionArn"][-7:]) == (2, True, "/f/live")
        configs = http.get("/2023-03-30/provision-configs?functionName=f&limit=100").json()["provisionConfigs"]
        assert [config["defaultTarget"] for config in configs] == [2]
        assert http.put(f"{API}/concurrency", json={"reservedConcurrency": 3}).json()["reservedConcurrency"] == 3
        sent = {"x-fc-invocation-type": "Async", "x-fc-async-task-id": "t1"}
        accepted = http.post(f"{API}/invocations", content=b"", headers=sent)
        assert (accepted.status_code, accepted.content, accepted.headers["x-fc-async-task-id"]) == (202, b"", "t1")
        assert http.post(f"{API}/invocations", headers={"x-fc-invocation-type": "async"}).json()["Code"] == (
            "InvalidArgument"
        )
