"""Flows that call functions, async invocations included, and what survives a restart."""

from __future__ import annotations

import base64
import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from alibabacloud_fc20230330 import models as fc
from alibabacloud_fc20230330.client import Client as FcClient
from alibabacloud_tea_openapi.models import Config
from darabonba.runtime import RuntimeOptions
from served_world import World, passing
from Tea.exceptions import TeaException

from local_sim.clock import VirtualClock
from local_sim.project import Project
from local_sim.server import LocalServer

SOURCE = """
import json
def handler(event, context):
    given = json.loads(event or b"{}")
    if given.get("error"):
        raise type(given["error"], (Exception,), {})(given.get("text", ""))
    return json.dumps(given)
"""


def install(world: World, name: str = "fn", source: str = SOURCE) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", source)
    code = fc.InputCodeLocation(zip_file=base64.b64encode(buffer.getvalue()).decode())
    body = fc.CreateFunctionInput(
        function_name=name, runtime="python3.10", handler="index.handler", timeout=20, code=code
    )
    world.fc.create_function(fc.CreateFunctionRequest(body=body))


def call(
    body: Any, mode: str = "RequestComplete", kind: str = "Sync", name: str = "fn", **fields: Any
) -> dict[str, Any]:
    parameters = {"resourceArn": f"acs:fc:::functions/{name}", "invocationType": kind, "body": body}
    return {
        "Type": "Task",
        "Name": "T",
        "Action": "FC:InvokeFunction",
        "TaskMode": mode,
        "Parameters": parameters,
        **fields,
    }


@pytest.fixture
def calm(tmp_path: Path) -> Any:
    made = World(tmp_path, clock=VirtualClock(), workers="in-process")
    made.server.start()
    yield made
    made.server.stop()


def test_a_function_made_by_the_api_is_called_by_a_flow(calm: World) -> None:
    install(calm)
    calm.create("f", call({"x": 1}))
    calm.begin("f", "one")
    assert json.loads(calm.end_of("f", "one").output)["Body"] == {"x": 1}


def test_an_exceptions_class_is_the_error_that_catch_matches(calm: World) -> None:
    install(calm)
    catch = [{"Errors": ["QuotaExceeded"], "Next": "Saved"}]
    task = call({"error": "QuotaExceeded", "text": "too many"}, Catch=catch, Next="Lost")
    calm.create("f", task, passing("Lost"), passing("Saved"))
    calm.begin("f", "one")
    calm.end_of("f", "one")
    assert [event.step_name for event in calm.history("f", "one") if event.type == "StepEntered"][-1] == "Saved"


def test_a_missing_function_is_the_services_own_error(calm: World) -> None:
    calm.create("f", call({}, name="ghost"))
    calm.begin("f", "one")
    calm.end_of("f", "one")
    assert json.loads(calm.history("f", "one")[-1].event_detail)["error"] == "FC.FunctionNotFound"


def test_an_async_call_goes_on_at_once_and_still_runs(calm: World) -> None:
    install(calm)
    calm.create("f", call({"x": 1}, kind="Async"))
    calm.begin("f", "one")
    assert "RequestId" in json.loads(calm.end_of("f", "one").output)


def test_the_system_callback_waits_for_the_async_invocation(calm: World) -> None:
    install(calm)
    calm.create("f", call({"x": 1}, mode="WaitForSystemCallback", kind="Async", Timeout=600))
    calm.begin("f", "one")
    assert json.loads(calm.end_of("f", "one").output)["Body"] == {"x": 1}
    types = [event.type for event in calm.history("f", "one")]
    assert types.index("TaskSubmitted") < types.index("TaskSucceeded")


def test_the_system_callback_fails_after_all_retries(calm: World) -> None:
    """S16."""
    install(calm)
    calm.create("f", call({"error": "Stubborn"}, mode="WaitForSystemCallback", kind="Async", Timeout=600))
    calm.begin("f", "one")
    calm.server.advance(0)
    assert calm.end_of("f", "one", seconds=0).status == "Running"
    calm.restart()  # the retries go on where they were
    calm.server.advance(30)
    assert calm.end_of("f", "one").status == "Failed"
    assert json.loads(calm.history("f", "one")[-1].event_detail)["error"] == "Stubborn"


def test_accepted_async_invocations_survive_a_restart(calm: World) -> None:
    install(calm)
    headers = fc.InvokeFunctionHeaders(
        common_headers={"x-fc-async-delay": "60"}, x_fc_invocation_type="Async", x_fc_async_task_id="job"
    )
    request = fc.InvokeFunctionRequest(body=b'{"x": 1}')
    calm.fc.invoke_function_with_options("fn", request, headers, RuntimeOptions())
    calm.restart()
    calm.server.advance(60)
    task = calm.fc.get_async_task("fn", "job", fc.GetAsyncTaskRequest()).body
    assert (task.status, json.loads(task.return_payload)) == ("Succeeded", {"x": 1})


def test_a_worker_process_that_dies_gives_the_documented_error(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.server.start()
    try:
        install(world, source="import os\ndef handler(event, context): os._exit(3)")
        world.create("f", call({}))
        world.begin("f", "one")
        assert world.end_of("f", "one").status == "Failed"
        detail = json.loads(world.history("f", "one")[-1].event_detail)
        assert detail["error"] == "FC.Unknown"
        assert "Process exited unexpectedly before completing request" in detail["cause"]
    finally:
        world.server.stop()


def test_child_processes_see_the_servers_endpoints(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.server.start()
    try:
        install(world, source="import os\ndef handler(event, context): return os.environ['FNF_ENDPOINT']")
        answer = world.fc.invoke_function("fn", fc.InvokeFunctionRequest(body=b""))
        assert answer.body.read().decode() == world.server.endpoint
    finally:
        world.server.stop()


def test_function_compute_checks_signatures_with_a_secret(tmp_path: Path) -> None:
    with LocalServer(Project(tmp_path), tmp_path / "data", secret="right", workers="in-process") as server:

        def client(secret: str) -> FcClient:
            return FcClient(
                Config(
                    endpoint=server.endpoint, access_key_id="local", access_key_secret=secret, region_id="cn-hangzhou"
                )
            )

        assert client("right").list_functions(fc.ListFunctionsRequest(prefix="a b", limit=3)).body.functions == []
        with pytest.raises(TeaException) as refused:
            client("wrong").list_functions(fc.ListFunctionsRequest())
        assert (refused.value.code, refused.value.statusCode) == ("SignatureNotMatch", 403)


def test_a_slow_call_does_not_hold_up_the_others(tmp_path: Path) -> None:
    world = World(tmp_path, workers="process")
    world.server.start()
    try:
        install(world, "slow", "import time\ndef handler(event, context):\n    time.sleep(1.5)\n    return '{}'")
        world.create("slow", call({}, name="slow"))
        world.create("quick", passing("A"))
        world.begin("slow", "one")
        begin = time.monotonic()
        world.begin("quick", "one")
        assert world.end_of("quick", "one").status == "Succeeded"
        assert time.monotonic() - begin < 1.2
        assert world.end_of("slow", "one").status == "Succeeded"
    finally:
        world.server.stop()
