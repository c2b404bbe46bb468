"""Executions that start executions: FNF:StartExecution and distributed Maps."""

from __future__ import annotations

import json
from typing import Any

from alibabacloud_fnf20190315 import models as fnf
from served_world import World, callback, echo, passing


def subflow(name: str, flow: str, mode: str, **fields: Any) -> dict[str, Any]:
    parameters = {"resourceArn": f"acs:fnf:::flow/{flow}", "input": {"from": name}, **fields}
    return {
        "Type": "Task",
        "Name": name,
        "Action": "FNF:StartExecution",
        "TaskMode": mode,
        "Parameters": parameters,
    }


def test_request_complete_goes_on_at_once(world: World) -> None:
    world.create("child", callback("Wait"))
    world.create("parent", subflow("S", "child", "RequestComplete", executionName="c"))
    world.begin("parent", "p")
    output = json.loads(world.end_of("parent", "p").output)
    assert (output["FlowName"], output["ExecutionName"]) == ("child", "c")
    assert world.end_of("child", "c", seconds=0).status == "Running"


def test_the_system_callback_waits_for_the_child_and_gets_its_output(world: World) -> None:
    world.create("child", callback("Wait"))
    world.create("parent", subflow("S", "child", "WaitForSystemCallback", executionName="c"))
    world.begin("parent", "p")
    (token,) = world.wait_for_tokens(1)
    assert json.loads(world.end_of("child", "c", seconds=0).input) == {"from": "S"}
    assert world.end_of("parent", "p", seconds=0).status == "Running"
    world.restart()
    world.fnf.report_task_succeeded(fnf.ReportTaskSucceededRequest(task_token=token, output='{"n": 7}'))
    assert json.loads(world.end_of("parent", "p").output) == {"n": 7}


def test_a_failing_child_fails_the_task_under_its_own_name(world: World) -> None:
    world.create("child", {"Type": "Fail", "Name": "F", "Code": "Broken", "Detail": "inside"})
    world.create("parent", subflow("S", "child", "WaitForSystemCallback"))
    world.begin("parent", "p")
    ended = world.end_of("parent", "p")
    assert ended.status == "Failed"
    detail = json.loads(world.history("parent", "p")[-1].event_detail)
    assert (detail["error"], detail["cause"]) == ("Broken", "inside")


def test_stopping_the_parent_stops_the_child_it_waits_for(world: World) -> None:
    """S17."""
    world.create("child", callback("Wait"))
    world.create("parent", subflow("S", "child", "WaitForSystemCallback", executionName="c"))
    world.begin("parent", "p")
    world.wait_for_tokens(1)
    world.until(lambda: any(event.type == "TaskSubmitted" for event in world.history("parent", "p")))
    world.fnf.stop_execution(fnf.StopExecutionRequest(flow_name="parent", execution_name="p"))
    assert world.end_of("child", "c").status == "Stopped"


def test_a_missing_flow_fails_the_task(world: World) -> None:
    world.create("parent", subflow("S", "nowhere", "RequestComplete"))
    world.begin("parent", "p")
    world.end_of("parent", "p")
    assert json.loads(world.history("parent", "p")[-1].event_detail)["error"] == "FnF.FlowNotExists"


def distributed(*states: dict[str, Any]) -> dict[str, Any]:
    return {
        "Type": "Map",
        "Name": "M",
        "ProcessorConfig": {"ExecutionMode": "Express"},
        "ItemsPath": "$Input.items",
        "MaxConcuccency": 2,
        "Processor": {"StartAt": states[0]["Name"], "States": [{**states[0], "End": True}]},
    }


def test_a_distributed_map_runs_its_children_as_executions(world: World) -> None:
    world.create("f", distributed(echo("E", Parameters={"n.$": "$Input.n"})))
    world.begin("f", "one", {"items": [{"n": number} for number in range(5)]})
    ended = world.end_of("f", "one")
    assert json.loads(ended.output) == {"Items": [{"n": number} for number in range(5)]}
    (started,) = [event for event in world.history("f", "one") if event.type == "MapRunStarted"]
    name = json.loads(started.event_detail)["mapRunName"]
    request = fnf.DescribeMapRunRequest(flow_name="f", execution_name="one", map_run_name=name)
    body = world.fnf.describe_map_run(request).body
    assert (body.status, body.item_counts.succeed, body.item_counts.total) == ("Succeeded", 5, 5)
    listed = world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f", map_run_name=name)).body.executions
    assert len(listed) == 5
    assert world.history("f", listed[0].name)[-1].type == "ExecutionSucceeded"
    top = world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f")).body.executions
    assert [execution.name for execution in top] == ["one"]


def test_items_of_a_distributed_map_may_be_anything(world: World) -> None:
    world.create("f", distributed({"Type": "Pass", "Name": "P", "OutputConstructor": {"item.$": "$Input"}}))
    world.begin("f", "one", {"items": [1, "two", None]})
    ended = world.end_of("f", "one")
    assert json.loads(ended.output) == {"Items": [{"item": 1}, {"item": "two"}, {"item": None}]}


def test_a_map_run_can_be_widened_while_it_runs_and_goes_on_after_a_restart(world: World) -> None:
    waiting = distributed(callback("C"))
    waiting["ProcessorConfig"] = {"ExecutionMode": "Standard"}
    world.create("f", waiting, passing("After"))
    world.begin("f", "one", {"items": [{"n": number} for number in range(4)]})
    world.wait_for_tokens(2)
    (started,) = [event for event in world.history("f", "one") if event.type == "MapRunStarted"]
    name = json.loads(started.event_detail)["mapRunName"]
    request = fnf.UpdateMapRunRequest(flow_name="f", execution_name="one", map_run_name=name, concurrency=4)
    assert world.fnf.update_map_run(request).body.concurrency == 4
    tokens = list(world.wait_for_tokens(4))
    world.restart()
    for token in tokens:
        world.fnf.report_task_succeeded(fnf.ReportTaskSucceededRequest(task_token=token, output='{"ok": true}'))
    assert world.end_of("f", "one").status == "Succeeded"
