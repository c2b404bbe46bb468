"""Reports for waiting tasks: cases C40 to C46, decision A31."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from alibabacloud_fnf20190315 import models as fnf
from served_world import World, callback, passing
from Tea.exceptions import TeaException


def succeed(world: World, token: str, output: Any = None) -> Any:
    request = fnf.ReportTaskSucceededRequest(task_token=token, output=json.dumps(output or {}))
    return world.fnf.report_task_succeeded(request).body


def fail(world: World, token: str, error: str = "Refused", cause: str = "no") -> Any:
    request = fnf.ReportTaskFailedRequest(task_token=token, error=error, cause=cause)
    return world.fnf.report_task_failed(request).body


def refusal(call: Any, *arguments: Any) -> tuple[str, int, str]:
    with pytest.raises(TeaException) as caught:
        call(*arguments)
    return caught.value.code, caught.value.statusCode, caught.value.message


def test_a_report_becomes_the_output(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    event_id = succeed(world, token, {"approved": True}).event_id
    assert json.loads(world.end_of("f", "one").output) == {"approved": True}
    assert world.history("f", "one")[event_id - 1].type == "TaskSucceeded"


def test_a_failure_report_is_caught_by_its_name(world: World) -> None:
    catch = [{"Errors": ["Refused"], "Next": "Handled"}]
    world.create("f", callback("A", Catch=catch, Next="Done"), passing("Done"), passing("Handled", End=True))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    fail(world, token)
    world.end_of("f", "one")
    assert [event.step_name for event in world.history("f", "one") if event.type == "StepEntered"] == ["A", "Handled"]


def test_second_reports_are_refused_and_say_whether_they_agree(world: World) -> None:
    """C40, C41: the flow is unharmed and the caller can tell a repetition from a contradiction."""
    world.create("f", callback("A"), callback("B"))
    world.begin("f", "one")
    token = world.wait_for_tokens(1)[0]
    succeed(world, token, {"n": 1})
    world.wait_for_tokens(2)
    for _ in range(2):  # while the execution runs, and after it has ended
        same = refusal(succeed, world, token, {"n": 1})
        other = refusal(succeed, world, token, {"n": 2})
        contrary = refusal(fail, world, token)
        assert [answer[:2] for answer in (same, other, contrary)] == [("TaskAlreadyCompleted", 400)] * 3
        assert "with the same content" in same[2]
        assert "with another content" in other[2]
        assert "with another content" in contrary[2]
        if len(world.tokens) == 2 and world.end_of("f", "one", seconds=0).status == "Running":
            succeed(world, world.tokens[1], {"n": 3})
            assert world.end_of("f", "one").status == "Succeeded"
    assert json.loads(world.end_of("f", "one").output) == {"n": 3}


def test_reports_after_timeout_and_after_stop_say_so(still_world: World) -> None:
    """C40."""
    catch = [{"Errors": ["FnF.TaskTimeout"], "Next": "B"}]
    still_world.create("f", callback("A", Timeout=10, Catch=catch, Next="B"), callback("B"))
    still_world.begin("f", "one")
    late = still_world.wait_for_tokens(1)[0]
    still_world.server.advance(11)
    code, status, text = refusal(succeed, still_world, late)
    assert (code, status) == ("TaskAlreadyCompleted", 400)
    assert "timed out" in text
    second = still_world.wait_for_tokens(2)[1]
    still_world.fnf.stop_execution(fnf.StopExecutionRequest(flow_name="f", execution_name="one"))
    code, status, text = refusal(succeed, still_world, second)
    assert (code, status) == ("TaskAlreadyCompleted", 400)
    assert "over" in text


def test_made_up_and_changed_tokens_are_invalid_arguments(world: World) -> None:
    """C40."""
    world.create("f", callback("A"))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    version, flow, execution, event_id, mac = base64.b64decode(token).decode().split("#")

    def remade(*parts: str) -> str:
        return base64.b64encode("#".join(parts).encode()).decode()

    forged = base64.b64encode(b"\0" * 20).decode()
    for bad in (
        "nonsense",
        remade(version, flow, execution, event_id, forged),
        remade(version, flow, "another", event_id, mac),
        remade(version, "none", execution, event_id, mac),
        remade(version, flow, execution, "999", mac),
        token[:-4],
    ):
        assert refusal(succeed, world, bad)[:2] == ("InvalidArgument", 400)
    assert world.end_of("f", "one", seconds=0).status == "Running"


def test_a_task_without_a_report_times_out_and_names_its_token(still_world: World) -> None:
    """C42."""
    still_world.create("f", callback("A", Timeout=0), Timeout=60)
    still_world.begin("f", "one")
    (token,) = still_world.wait_for_tokens(1)
    still_world.server.advance(61)
    assert still_world.end_of("f", "one", seconds=0).status == "TimedOut"
    detail = json.loads(still_world.history("f", "one")[-1].event_detail)
    assert token in detail["cause"]


def test_tokens_survive_the_wire_whatever_they_hold(world: World) -> None:
    """C43: base64 with plus, slash and equals goes through query and form unchanged."""
    world.create("f", callback("A"))
    for number in range(24):
        world.begin("f", f"e{number:03d}_{'x' * (number % 3)}")
    tokens = world.wait_for_tokens(24)
    assert any(character in token for token in tokens for character in "+/=")
    for token in tokens:
        assert succeed(world, token).event_id > 0


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_parallel_approvals_each_end_their_own_branch(world: World, order: tuple[int, int]) -> None:
    """C45."""
    branches = [{"StartAt": name, "States": [{**callback(name), "End": True}]} for name in ("Left", "Right")]
    world.create("f", {"Type": "Parallel", "Name": "P", "Branches": branches}, passing("After"))
    world.begin("f", "one")
    tokens = world.wait_for_tokens(2)
    for index in order:
        succeed(world, tokens[index], {"by": index})
    assert world.end_of("f", "one").status == "Succeeded"


def test_a_report_that_was_acknowledged_survives_a_restart(world: World) -> None:
    """C46: what was acknowledged is on the disk, and repeating it is answered as a repetition."""
    world.create("f", callback("A"), callback("B"))
    world.begin("f", "one")
    first = world.wait_for_tokens(1)[0]
    succeed(world, first, {"n": 1})
    world.restart()
    code, status, text = refusal(succeed, world, first, {"n": 1})
    assert (code, status) == ("TaskAlreadyCompleted", 400)
    assert "with the same content" in text
    succeed(world, world.wait_for_tokens(2)[1], {"n": 2})
    assert json.loads(world.end_of("f", "one").output) == {"n": 2}


def test_tokens_stay_valid_over_restarts(world: World) -> None:
    world.create("f", callback("A"))
    world.begin("f", "one")
    (token,) = world.wait_for_tokens(1)
    world.restart()
    world.restart()
    assert succeed(world, token, {"n": 1}).event_id > 0
    assert world.end_of("f", "one").status == "Succeeded"


def test_an_executions_end_is_reported_to_the_task_behind_its_callback_token(world: World) -> None:
    world.create("parent", callback("A"))
    world.create("child", passing("B", OutputConstructor={"answer": 42}))
    world.begin("parent", "p")
    (token,) = world.wait_for_tokens(1)
    world.begin("child", "c", callback_fn_ftask_token=token)
    assert json.loads(world.end_of("parent", "p").output) == {"answer": 42}


def test_a_report_may_come_before_the_call_has_returned(tmp_path: Any) -> None:
    """A handler may report by itself before its own call is over."""
    world = World(tmp_path)

    def reports_at_once(call: Any) -> Any:
        succeed(world, call.token, {"early": True})
        return {}

    world.server = type(world.server)(
        world.server.project, tmp_path / "data", registered={"MNS:Echo": reports_at_once}
    ).start()
    try:
        world.create("f", callback("A"))
        world.begin("f", "one")
        assert json.loads(world.end_of("f", "one").output) == {"early": True}
    finally:
        world.server.stop()
