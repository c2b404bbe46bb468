"""Schedules that fire, by a clock that the test moves."""

from __future__ import annotations

import json

import pytest
from alibabacloud_fnf20190315 import models as fnf
from served_world import World, passing
from Tea.exceptions import TeaException


def schedule(world: World, cron: str, **fields: object) -> None:
    given = {"flow_name": "f", "schedule_name": "s", "cron_expression": cron, "enable": True, **fields}
    world.fnf.create_schedule(fnf.CreateScheduleRequest(**given))


def executions(world: World) -> list[dict[str, object]]:
    body = world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f", limit=99)).body
    return [json.loads(execution.input) for execution in reversed(body.executions)]


def test_a_cron_schedule_starts_an_execution_at_each_moment(still_world: World) -> None:
    still_world.create("f", passing("A"))
    schedule(still_world, "30 0/10 * * * *", payload='{"n": 1}')
    still_world.server.advance(31 * 60)
    inputs = executions(still_world)
    assert [given["payload"] for given in inputs] == [{"n": 1}] * 4
    assert [str(given["triggerTime"])[14:19] for given in inputs] == ["00:30", "10:30", "20:30", "30:30"]
    assert inputs[0]["triggerName"] == "s"


def test_every_counts_from_the_schedules_making(still_world: World) -> None:
    still_world.create("f", passing("A"))
    still_world.server.advance(25)
    schedule(still_world, "@every 2m")
    still_world.server.advance(119)
    assert executions(still_world) == []
    still_world.server.advance(1 + 120)
    assert len(executions(still_world)) == 2


def test_a_disabled_or_deleted_schedule_does_not_fire(still_world: World) -> None:
    still_world.create("f", passing("A"))
    schedule(still_world, "@every 1m", enable=False)
    still_world.server.advance(180)
    assert executions(still_world) == []
    still_world.fnf.update_schedule(fnf.UpdateScheduleRequest(flow_name="f", schedule_name="s", enable=True))
    still_world.server.advance(60)
    assert len(executions(still_world)) == 1
    still_world.fnf.delete_schedule(fnf.DeleteScheduleRequest(flow_name="f", schedule_name="s"))
    still_world.server.advance(600)
    assert len(executions(still_world)) == 1


def test_schedules_survive_a_restart(still_world: World) -> None:
    still_world.create("f", passing("A"))
    schedule(still_world, "@every 1m")
    still_world.restart()
    still_world.server.advance(60)
    assert len(executions(still_world)) == 1


def test_schedules_are_described_changed_and_listed(world: World) -> None:
    world.create("f", passing("A"))
    schedule(world, "0 0 3 * * *", payload="[1, 2]", description="nightly")
    described = world.fnf.describe_schedule(fnf.DescribeScheduleRequest(flow_name="f", schedule_name="s")).body
    assert (described.cron_expression, described.payload, described.enable) == ("0 0 3 * * *", "[1, 2]", True)
    world.fnf.update_schedule(
        fnf.UpdateScheduleRequest(flow_name="f", schedule_name="s", cron_expression="0 0 4 * * *", description="")
    )
    (listed,) = world.fnf.list_schedules(fnf.ListSchedulesRequest(flow_name="f")).body.schedules
    assert (listed.cron_expression, listed.description, listed.payload) == ("0 0 4 * * *", "", "[1, 2]")


@pytest.mark.parametrize("cron", ["* * * * * *", "0 0 0", "@every 0m", "@every 30s", "0 61 * * * *", "0 0 0 30 2 *"])
def test_expressions_that_are_none_are_refused(world: World, cron: str) -> None:
    world.create("f", passing("A"))
    with pytest.raises(TeaException) as refused:
        schedule(world, cron)
    assert refused.value.code == "InvalidArgument"


def test_a_schedule_of_a_taken_name_is_a_conflict(world: World) -> None:
    world.create("f", passing("A"))
    schedule(world, "@every 1m")
    with pytest.raises(TeaException) as refused:
        schedule(world, "@every 1m")
    assert (refused.value.code, refused.value.statusCode) == ("ScheduleAlreadyExists", 409)
