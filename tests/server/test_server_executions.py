"""Executions through the unmodified SDK."""

from __future__ import annotations

import json
import threading
import time

import pytest
from alibabacloud_fnf20190315 import models as fnf
from served_world import World, callback, echo, flow, passing, wait
from Tea.exceptions import TeaException


def test_an_execution_runs_to_its_end_and_describes_itself(world: World) -> None:
    world.create("f", echo("A"), passing("B"))
    started = world.begin("f", "one", {"x": 1})
    assert (started.flow_name, started.name, started.input) == ("f", "one", '{"x": 1}')
    ended = world.end_of("f", "one")
    assert (ended.status, json.loads(ended.output)) == ("Succeeded", {"said": "A"})
    assert ended.stopped_time >= ended.started_time


def test_history_is_in_order_and_pages_join_without_a_gap(world: World) -> None:
    world.create("f", echo("A"), echo("B"))
    world.begin("f", "one")
    world.end_of("f", "one")
    whole = world.history("f", "one")
    assert [event.event_id for event in whole] == list(range(1, len(whole) + 1))
    assert whole[0].type == "ExecutionStarted"
    assert whole[-1].type == "ExecutionSucceeded"
    paged, token = [], None
    while True:
        request = fnf.GetExecutionHistoryRequest(flow_name="f", execution_name="one", limit=3, next_token=token)
        page = world.fnf.get_execution_history(request).body
        paged += page.events
        token = page.next_token
        if not token:
            break
    assert [event.to_map() for event in paged] == [event.to_map() for event in whole]


def test_history_of_a_running_execution_equals_the_beginning_of_the_final_one(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    world.until(lambda: any(event.type == "TaskSubmitted" for event in world.history("f", "one")))
    before = [event.to_map() for event in world.history("f", "one")]
    world.fnf.report_task_succeeded(fnf.ReportTaskSucceededRequest(task_token=token, output='{"done":1}'))
    world.end_of("f", "one")
    assert [event.to_map() for event in world.history("f", "one")][: len(before)] == before


def test_the_same_name_returns_the_running_execution_then_is_refused(world: World) -> None:
    """A30."""
    world.create("f", callback("A"))
    first = world.begin("f", "one", {"x": 1})
    again = world.begin("f", "one", {"x": 2})
    assert (again.started_time, again.input) == (first.started_time, '{"x": 1}')
    world.fnf.stop_execution(fnf.StopExecutionRequest(flow_name="f", execution_name="one"))
    with pytest.raises(TeaException) as refused:
        world.begin("f", "one")
    assert refused.value.code == "ExecutionAlreadyExists"


def test_many_starts_of_one_name_at_once_are_one_execution(world: World) -> None:
    world.create("f", callback("A"))
    times: list[str] = []
    threads = [threading.Thread(target=lambda: times.append(world.begin("f", "one").started_time)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 8
    assert len(set(times)) == 1


def test_an_execution_without_a_name_gets_one(world: World) -> None:
    world.create("f", passing("A"))
    body = world.fnf.start_execution(fnf.StartExecutionRequest(flow_name="f")).body
    assert len(body.name) == 36
    assert world.end_of("f", body.name).status == "Succeeded"


def test_stopping_ends_an_execution_once(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    request = fnf.StopExecutionRequest(flow_name="f", execution_name="one", error="Enough", cause="no longer wanted")
    assert world.fnf.stop_execution(request).body.status == "Stopped"
    with pytest.raises(TeaException) as refused:
        world.fnf.stop_execution(request)
    assert (refused.value.code, refused.value.statusCode) == ("ExecutionAlreadyCompleted", 400)
    last = world.history("f", "one")[-1]
    assert (last.type, json.loads(last.event_detail)) == (
        "ExecutionStopped",
        {"error": "Enough", "cause": "no longer wanted"},
    )


def test_a_long_poll_returns_at_the_end_not_at_its_limit(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    report = fnf.ReportTaskSucceededRequest(task_token=token, output="{}")
    threading.Timer(0.2, lambda: world.fnf.report_task_succeeded(report)).start()
    begin = time.monotonic()
    assert world.end_of("f", "one", seconds=9).status == "Succeeded"
    assert time.monotonic() - begin < 5


def test_a_long_poll_returns_the_running_execution_after_its_limit(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    begin = time.monotonic()
    assert world.end_of("f", "one", seconds=1).status == "Running"
    assert time.monotonic() - begin >= 0.9


def test_running_executions_keep_their_definition(world: World) -> None:
    world.create("f", callback("A"), passing("Old", OutputConstructor={"which": "old"}))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    changed = flow("f", callback("A"), passing("New", OutputConstructor={"which": "new"}))
    world.fnf.update_flow(fnf.UpdateFlowRequest(name="f", definition=changed))
    world.restart()
    world.fnf.report_task_succeeded(fnf.ReportTaskSucceededRequest(task_token=token, output="{}"))
    assert json.loads(world.end_of("f", "one").output) == {"which": "old"}


def test_listing_filters_and_pages(world: World) -> None:
    world.create("f", callback("A"))
    for name in ("red-1", "red-2", "blue-1"):
        world.begin("f", name)
    world.fnf.stop_execution(fnf.StopExecutionRequest(flow_name="f", execution_name="red-1"))

    def names(**filters: object) -> list[str]:
        body = world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f", **filters)).body
        return [execution.name for execution in body.executions]

    assert names() == ["blue-1", "red-2", "red-1"]
    assert names(execution_name_prefix="red-") == ["red-2", "red-1"]
    assert names(status="Running") == ["blue-1", "red-2"]
    assert names(status="Stopped", execution_name_prefix="blue") == []
    assert names(started_time_begin="2001-01-01T00:00:00Z", started_time_end="2002-01-01T00:00:00Z") == []
    first = world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f", limit=2)).body
    world.begin("f", "newer")  # a newcomer must not shift the next page
    second = world.fnf.list_executions(
        fnf.ListExecutionsRequest(flow_name="f", limit=2, next_token=first.next_token)
    ).body
    assert [execution.name for execution in second.executions] == ["red-1"]
    assert not second.next_token


def test_listing_metadata_only_leaves_out_the_heavy_fields(world: World) -> None:
    world.create("f", passing("A"))
    world.begin("f", "one", {"x": 1})
    world.end_of("f", "one")
    (entry,) = world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f", metadata_only=True)).body.executions
    assert (entry.name, entry.status) == ("one", "Succeeded")
    assert not entry.flow_definition
    assert not entry.input


def test_an_ended_execution_is_listed_under_its_status_at_once(world: World) -> None:
    world.create("f", passing("A"))
    for number in range(20):
        world.begin("f", f"n{number}")
        world.end_of("f", f"n{number}")
        request = fnf.ListExecutionsRequest(flow_name="f", status="Succeeded", limit=1)
        assert world.fnf.list_executions(request).body.executions[0].name == f"n{number}"


def test_express_flows_run_to_their_end_in_the_call(world: World) -> None:
    world.create("x", echo("A"), mode="Express")
    request = fnf.StartSyncExecutionRequest(flow_name="x", execution_name="call", input="{}")
    bodies = [world.fnf.start_sync_execution(request).body for _ in range(2)]
    assert [body.status for body in bodies] == ["Succeeded", "Succeeded"]
    assert all(body.name.startswith("call:") for body in bodies)
    assert bodies[0].name != bodies[1].name
    assert json.loads(bodies[0].output) == {"said": "A"}


def test_a_failing_express_flow_is_a_success_of_the_call(world: World) -> None:
    world.create("x", {"Type": "Fail", "Name": "A", "Code": "TooBad", "Detail": "it was"}, mode="Express")
    body = world.fnf.start_sync_execution(fnf.StartSyncExecutionRequest(flow_name="x", input="{}")).body
    assert (body.status, body.error_code, body.error_message) == ("Failed", "TooBad", "it was")


def test_each_mode_refuses_the_other_start(world: World) -> None:
    world.create("x", passing("A"), mode="Express")
    world.create("s", passing("A"))
    with pytest.raises(TeaException) as first:
        world.begin("x", "one")
    with pytest.raises(TeaException) as second:
        world.fnf.start_sync_execution(fnf.StartSyncExecutionRequest(flow_name="s"))
    assert [first.value.code, second.value.code] == ["ActionNotSupported", "ActionNotSupported"]


def test_starting_by_alias_uses_the_version_it_points_at(world: World) -> None:
    world.create("f", passing("A", OutputConstructor={"v": 1}))
    world.fnf.publish_flow_version(fnf.PublishFlowVersionRequest(flow_name="f"))
    changed = flow("f", passing("A", OutputConstructor={"v": 2}))
    world.fnf.update_flow(fnf.UpdateFlowRequest(name="f", definition=changed))
    world.fnf.create_flow_alias(
        fnf.CreateFlowAliasRequest(
            flow_name="f",
            name="prod",
            routing_configurations=[fnf.CreateFlowAliasRequestRoutingConfigurations(version="1", weight=100)],
        )
    )
    world.begin("f", "by-alias", qualifier="prod")
    world.begin("f", "by-version", qualifier="1")
    world.begin("f", "latest")
    outputs = [json.loads(world.end_of("f", name).output)["v"] for name in ("by-alias", "by-version", "latest")]
    assert outputs == [1, 1, 2]
    with pytest.raises(TeaException) as refused:
        world.begin("f", "none", qualifier="ghost")
    assert refused.value.statusCode == 404


def test_a_deleted_flow_takes_its_executions_along(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    world.fnf.delete_flow(fnf.DeleteFlowRequest(name="f"))
    with pytest.raises(TeaException) as gone:
        world.end_of("f", "one")
    assert (gone.value.code, gone.value.statusCode) == ("FlowNotExists", 404)
    assert "Flow 'f' does not exist." in gone.value.message
    world.create("f", passing("A"))
    with pytest.raises(TeaException) as unknown:
        world.end_of("f", "one")
    assert unknown.value.code == "ExecutionNotExists"
    assert world.begin("f", "one").name == "one"
    assert world.end_of("f", "one").status == "Succeeded"


def test_waits_follow_the_clock(still_world: World) -> None:
    still_world.create("f", wait("W", 120), passing("B"))
    still_world.begin("f", "one")
    still_world.server.advance(119)
    assert still_world.end_of("f", "one", seconds=0).status == "Running"
    still_world.server.advance(1)
    assert still_world.end_of("f", "one", seconds=0).status == "Succeeded"


def test_an_execution_timeout_ends_as_timed_out(still_world: World) -> None:
    still_world.create("f", callback("A", Timeout=500), Timeout=60)
    still_world.begin("f", "one")
    still_world.server.advance(61)
    assert still_world.end_of("f", "one", seconds=0).status == "TimedOut"
