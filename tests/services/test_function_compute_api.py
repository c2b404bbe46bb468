"""Function Compute through the unmodified SDK."""

from __future__ import annotations

import base64
import io
import json
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
from Tea.exceptions import TeaException

from local_sim.clock import VirtualClock
from local_sim.project import Project
from local_sim.server import LocalServer

HANDLER = """
import json, os
calls = []
def handler(event, context):
    calls.append(1)
    print("log of", context.request_id, os.environ.get("SOME_SECRET", ""))
    given = json.loads(event) if event else {}
    if given.get("fail"):
        raise KeyError("as asked")
    return json.dumps({"given": given, "calls": len(calls), "mark": os.environ.get("MARK", "")})
"""


def packed(**files: str) -> str:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.py", text)
    return base64.b64encode(buffer.getvalue()).decode()


class Cloud:
    """A server and a client for it."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.client = Client(
            Config(endpoint=server.endpoint, access_key_id="id", access_key_secret="secret", region_id="cn-hangzhou")
        )

    def create(self, name: str = "f", source: str = HANDLER, **fields: Any) -> Any:
        given = {"runtime": "python3.10", "handler": "index.handler", "timeout": 20, **fields}
        code = fc.InputCodeLocation(zip_file=packed(index=source))
        body = fc.CreateFunctionInput(function_name=name, code=code, **given)
        return self.client.create_function(fc.CreateFunctionRequest(body=body)).body

    def invoke(self, name: str = "f", event: Any = None, qualifier: str | None = None, **headers: str) -> Any:
        request = fc.InvokeFunctionRequest(body=json.dumps(event or {}).encode(), qualifier=qualifier)
        given = fc.InvokeFunctionHeaders(**headers)
        return self.client.invoke_function_with_options(name, request, given, RuntimeOptions())

    def value(self, *arguments: Any, **named: Any) -> Any:
        return json.loads(self.invoke(*arguments, **named).body.read())

    def task(self, name: str, task_id: str) -> Any:
        return self.client.get_async_task(name, task_id, fc.GetAsyncTaskRequest()).body


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with LocalServer(Project(tmp_path), tmp_path / "data", workers="in-process", clock=VirtualClock()) as server:
        yield Cloud(server)


def refusal(call: Any) -> tuple[str, int]:
    with pytest.raises(TeaException) as caught:
        call()
    return caught.value.code, caught.value.statusCode


def test_a_function_made_by_the_api_runs(cloud: Cloud) -> None:
    made = cloud.create(environment_variables={"MARK": "m"})
    assert (made.function_name, made.state, made.memory_size) == ("f", "Active", 512)
    assert made.function_arn.endswith(":functions/f")
    answer = cloud.invoke(event={"x": "文"}, x_fc_log_type="Tail")
    assert json.loads(answer.body.read()) == {"given": {"x": "文"}, "calls": 1, "mark": "m"}
    assert answer.status_code == 200
    log = base64.b64decode(answer.headers["x-fc-log-result"]).decode()
    assert f"log of {answer.headers['x-fc-request-id']}" in log
    assert log.startswith("FC Invoke Start RequestId: ")
    assert "x-fc-error-type" not in answer.headers


def test_a_failing_function_is_a_200_with_the_error_header(cloud: Cloud) -> None:
    cloud.create()
    answer = cloud.invoke(event={"fail": True})
    body = json.loads(answer.body.read())
    assert (answer.status_code, answer.headers["x-fc-error-type"]) == (200, "UnhandledInvocationError")
    assert (body["errorType"], body["errorMessage"]) == ("KeyError", "'as asked'")
    assert "/code/index.py" in body["stackTrace"][-1][0]


def test_credentials_are_masked_in_the_log(cloud: Cloud) -> None:
    cloud.create(environment_variables={"SOME_SECRET": "hunter2-hunter2"})
    log = base64.b64decode(cloud.invoke(x_fc_log_type="Tail").headers["x-fc-log-result"]).decode()
    assert "hunter2" not in log
    assert "******" in log


def test_new_code_and_settings_are_used_by_the_next_call(cloud: Cloud) -> None:
    cloud.create()
    cloud.invoke()
    code = fc.InputCodeLocation(zip_file=packed(index="def handler(event, context): return 'new'"))
    cloud.client.update_function("f", fc.UpdateFunctionRequest(body=fc.UpdateFunctionInput(code=code)))
    assert cloud.invoke().body.read() == b"new"


def test_versions_and_aliases_freeze_and_route(cloud: Cloud) -> None:
    cloud.create(environment_variables={"MARK": "one"})
    publish = fc.PublishFunctionVersionRequest(body=fc.PublishVersionInput(description="first"))
    assert cloud.client.publish_function_version("f", publish).body.version_id == "1"
    update = fc.UpdateFunctionInput(environment_variables={"MARK": "two"})
    cloud.client.update_function("f", fc.UpdateFunctionRequest(body=update))
    alias = fc.CreateAliasInput(alias_name="prod", version_id="1")
    cloud.client.create_alias("f", fc.CreateAliasRequest(body=alias))
    marks = [cloud.value(qualifier=qualifier)["mark"] for qualifier in ("1", "prod", None, "LATEST")]
    assert marks == ["one", "one", "two", "two"]
    assert refusal(lambda: cloud.client.delete_function_version("f", "1")) == ("PreconditionFailed", 412)
    assert refusal(lambda: cloud.invoke(qualifier="ghost")) == ("AliasNotFound", 404)
    assert refusal(lambda: cloud.invoke(qualifier="9")) == ("VersionNotFound", 404)
    listed = cloud.client.list_function_versions("f", fc.ListFunctionVersionsRequest()).body.versions
    assert [(version.version_id, version.description) for version in listed] == [("1", "first")]


def test_an_alias_with_weights_reaches_both_versions(cloud: Cloud) -> None:
    cloud.create(environment_variables={"MARK": "one"})
    publish = fc.PublishFunctionVersionRequest(body=fc.PublishVersionInput())
    cloud.client.publish_function_version("f", publish)
    update = fc.UpdateFunctionInput(environment_variables={"MARK": "two"})
    cloud.client.update_function("f", fc.UpdateFunctionRequest(body=update))
    cloud.client.publish_function_version("f", publish)
    alias = fc.CreateAliasInput(alias_name="prod", version_id="1", additional_version_weight={"2": 0.5})
    cloud.client.create_alias("f", fc.CreateAliasRequest(body=alias))
    marks = {cloud.value(qualifier="prod")["mark"] for _ in range(60)}
    assert marks == {"one", "two"}


def test_the_documented_codes(cloud: Cloud) -> None:
    cloud.create()
    get = fc.GetFunctionRequest()
    assert refusal(lambda: cloud.client.get_function("ghost", get)) == ("FunctionNotFound", 404)
    assert refusal(lambda: cloud.invoke("ghost")) == ("FunctionNotFound", 404)
    assert refusal(cloud.create) == ("FunctionAlreadyExists", 409)
    assert refusal(lambda: cloud.create("1bad")) == ("InvalidArgument", 400)
    assert refusal(lambda: cloud.create("g", memory_size=100)) == ("InvalidArgument", 400)
    assert refusal(lambda: cloud.create("g", environment_variables={"FC_X": "1"})) == ("InvalidArgument", 400)
    trigger = refusal(lambda: cloud.client.get_trigger("f", "none"))
    assert trigger == ("TriggerNotFound", 404)


def test_functions_are_listed_by_name_in_pages(cloud: Cloud) -> None:
    for name in ("c", "a", "b"):
        cloud.create(name)
    first = cloud.client.list_functions(fc.ListFunctionsRequest(limit=2)).body
    assert [function.function_name for function in first.functions] == ["a", "b"]
    rest = cloud.client.list_functions(fc.ListFunctionsRequest(limit=2, next_token=first.next_token)).body
    assert [function.function_name for function in rest.functions] == ["c"]
    assert not rest.next_token


def test_a_deleted_function_is_gone_with_everything(cloud: Cloud) -> None:
    cloud.create()
    cloud.client.delete_function("f")
    assert refusal(lambda: cloud.invoke()) == ("FunctionNotFound", 404)
    cloud.create()
    assert cloud.value()["calls"] >= 1


def test_a_disabled_function_refuses_until_it_is_enabled(cloud: Cloud) -> None:
    cloud.create()
    cloud.client.disable_function_invocation("f", fc.DisableFunctionInvocationRequest(reason="maintenance"))
    assert refusal(cloud.invoke) == ("InvocationDisabled", 403)
    cloud.client.enable_function_invocation("f")
    assert cloud.value()["given"] == {}


def test_the_code_comes_back_as_it_was_sent(cloud: Cloud) -> None:
    cloud.create()
    location = cloud.client.get_function_code("f", fc.GetFunctionCodeRequest()).body.url
    with httpx.Client(trust_env=False) as client:
        content = client.get(location).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.read("index.py").decode() == HANDLER


def test_async_invocations_are_accepted_then_run(cloud: Cloud) -> None:
    cloud.create()
    answer = cloud.invoke(event={"x": 1}, x_fc_invocation_type="Async", x_fc_async_task_id="job-1")
    assert (answer.status_code, answer.body.read()) == (202, b"")
    cloud.server.advance(0)
    task = cloud.task("f", "job-1")
    assert (task.status, json.loads(task.return_payload)["given"]) == ("Succeeded", {"x": 1})
    assert [event.status for event in task.events] == ["Enqueued", "Running", "Succeeded"]


def test_a_repeated_task_id_is_a_conflict(cloud: Cloud) -> None:
    cloud.create()
    cloud.invoke(x_fc_invocation_type="Async", x_fc_async_task_id="job-1")
    again = refusal(lambda: cloud.invoke(x_fc_invocation_type="Async", x_fc_async_task_id="job-1"))
    assert again == ("AsyncTaskAlreadyExists", 409)
    bad = refusal(lambda: cloud.invoke(x_fc_invocation_type="Async", x_fc_async_task_id="1 job"))
    assert bad == ("InvalidArgument", 400)


def test_failing_async_invocations_are_retried_three_times_then_sent_on(cloud: Cloud) -> None:
    cloud.create()
    cloud.create("rescue", "def handler(event, context):\n    print(event.decode()); return event")
    destination = fc.DestinationConfig(on_failure=fc.Destination(destination="acs:fc:cn-hangzhou:1:functions/rescue"))
    config = fc.PutAsyncInvokeConfigInput(async_task=True, destination_config=destination)
    cloud.client.put_async_invoke_config("f", fc.PutAsyncInvokeConfigRequest(body=config))
    cloud.client.put_async_invoke_config(
        "rescue", fc.PutAsyncInvokeConfigRequest(body=fc.PutAsyncInvokeConfigInput(async_task=True))
    )
    cloud.invoke(event={"fail": True}, x_fc_invocation_type="Async", x_fc_async_task_id="job")
    cloud.server.advance(0)
    assert cloud.task("f", "job").status == "Retrying"
    cloud.server.advance(60)
    task = cloud.task("f", "job")
    assert (task.status, task.already_retried_times, task.destination_status) == ("Failed", 3, "Succeeded")
    (sent,) = cloud.client.list_async_tasks("rescue", fc.ListAsyncTasksRequest(include_payload=True)).body.tasks
    document = json.loads(sent.task_payload)
    assert document["requestContext"]["approximateInvokeCount"] == 4
    assert document["responseContext"] == {"statusCode": 200, "functionError": "UnhandledInvocationError"}
    assert json.loads(document["requestPayload"]) == {"fail": True}


def test_no_retries_means_one_attempt(cloud: Cloud) -> None:
    cloud.create()
    config = fc.PutAsyncInvokeConfigInput(async_task=True, max_async_retry_attempts=0)
    cloud.client.put_async_invoke_config("f", fc.PutAsyncInvokeConfigRequest(body=config))
    cloud.invoke(event={"fail": True}, x_fc_invocation_type="Async", x_fc_async_task_id="job")
    cloud.server.advance(0)
    assert (cloud.task("f", "job").status, cloud.task("f", "job").already_retried_times) == ("Failed", 0)


def test_a_delayed_invocation_waits_and_can_be_stopped(cloud: Cloud) -> None:
    cloud.create()

    def later(task_id: str) -> None:
        request = fc.InvokeFunctionRequest(body=b"{}")
        headers = fc.InvokeFunctionHeaders(
            common_headers={"x-fc-async-delay": "60"}, x_fc_invocation_type="Async", x_fc_async_task_id=task_id
        )
        cloud.client.invoke_function_with_options("f", request, headers, RuntimeOptions())

    later("one")
    later("two")
    cloud.server.advance(59)
    assert cloud.task("f", "one").status == "Enqueued"
    cloud.client.stop_async_task("f", "two", fc.StopAsyncTaskRequest())
    cloud.server.advance(1)
    assert (cloud.task("f", "one").status, cloud.task("f", "two").status) == ("Succeeded", "Stopped")


def test_tasks_are_listed_with_filters_and_pages(cloud: Cloud) -> None:
    cloud.create()
    for number in range(3):
        cloud.invoke(event={"fail": number == 1}, x_fc_invocation_type="Async", x_fc_async_task_id=f"job-{number}")
        cloud.server.advance(30)

    def ids(**filters: Any) -> list[str]:
        body = cloud.client.list_async_tasks("f", fc.ListAsyncTasksRequest(**filters)).body
        return [task.task_id for task in body.tasks]

    assert ids() == ["job-2", "job-1", "job-0"]
    assert ids(status="Failed") == ["job-1"]
    assert ids(sort_order_by_time="asc", prefix="job") == ["job-0", "job-1", "job-2"]
    first = cloud.client.list_async_tasks("f", fc.ListAsyncTasksRequest(limit=2)).body
    assert ids(limit=2, next_token=first.next_token) == ["job-0"]


def test_an_async_event_over_its_limit_is_refused_with_the_limit(cloud: Cloud) -> None:
    cloud.create()
    with pytest.raises(TeaException) as refused:
        cloud.invoke(event={"x": "y" * 140_000}, x_fc_invocation_type="Async")
    assert refused.value.code == "EntityTooLarge"
    assert "131072" in refused.value.message


def test_a_timer_trigger_fires_with_its_payload(cloud: Cloud) -> None:
    cloud.create()
    config = fc.PutAsyncInvokeConfigInput(async_task=True)
    cloud.client.put_async_invoke_config("f", fc.PutAsyncInvokeConfigRequest(body=config))
    timer = json.dumps({"cronExpression": "@every 5m", "enable": True, "payload": "hello"})
    body = fc.CreateTriggerInput(trigger_name="t", trigger_type="timer", trigger_config=timer)
    shown = cloud.client.create_trigger("f", fc.CreateTriggerRequest(body=body)).body
    assert json.loads(shown.trigger_config)["payload"] == "hello"
    cloud.server.advance(11 * 60)
    tasks = cloud.client.list_async_tasks("f", fc.ListAsyncTasksRequest(include_payload=True)).body.tasks
    events = [json.loads(task.task_payload) for task in tasks]
    assert [(event["triggerName"], event["payload"]) for event in events] == [("t", "hello")] * 2
    cloud.client.delete_trigger("f", "t")
    cloud.server.advance(3600)
    assert len(cloud.client.list_async_tasks("f", fc.ListAsyncTasksRequest()).body.tasks) == 2


def test_settings_are_kept_and_shown(cloud: Cloud) -> None:
    cloud.create()
    missing = refusal(lambda: cloud.client.get_async_invoke_config("f", fc.GetAsyncInvokeConfigRequest()))
    assert missing[1] == 404
    concurrency = fc.PutConcurrencyConfigRequest(body=fc.PutConcurrencyInput(reserved_concurrency=0))
    cloud.client.put_concurrency_config("f", concurrency)
    assert refusal(cloud.invoke) == ("ResourceExhausted", 429)
    cloud.client.delete_concurrency_config("f")
    assert cloud.value()["given"] == {}
    tags = fc.TagResourceInput(resource_arn="acs:fc:cn-hangzhou:1:functions/f", tags=None)
    assert tags.resource_arn.endswith("functions/f")
