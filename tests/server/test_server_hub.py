"""The hub by itself: batches, order, a disk that fails, and what a restart brings back."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from served_world import callback, flow, passing

from local_sim.clock import VirtualClock
from local_sim.engine import CallbackSucceeded, Command, Ignored, InvokeTask, Reason, Started, Status, TaskSubmitted
from local_sim.journal import ExecutionRecord
from local_sim.journal.served import ServedJournal, ServedRecord
from local_sim.server.definitions import Definitions
from local_sim.server.hub import Hub
from local_sim.server.live import ServedLive
from local_sim.services.alarms import Alarms


class Keeper:
    """A carrier that only remembers."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.ends: list[str] = []

    def carry_out(self, live: ServedLive, command: Command) -> None:
        self.commands.append(command)

    def ended(self, live: ServedLive) -> None:
        self.ends.append(live.record.name)


def record(hub: Hub, name: str, definition: str) -> ServedRecord:
    execution = ExecutionRecord(
        id=hub.new_id(),
        flow="f",
        name=name,
        source="f",
        definition=definition,
        secret=b"s" * 20,
        virtual=False,
        parent=None,
        parent_task=None,
        status=Status.STARTING,
        created_ms=0,
    )
    return ServedRecord(execution=execution, flow_id="id", input="{}")


def run(folder: Path, work: Callable[[Hub, Keeper], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        clock = VirtualClock(0)
        hub, keeper = Hub(folder, clock.now_ms, Alarms(clock.now_ms, real=False), Definitions()), Keeper()
        await hub.open(keeper)
        try:
            return await work(hub, keeper)
        finally:
            await hub.close()

    return asyncio.run(main())


WAITING = flow("f", callback("A"))
QUICK = flow("f", passing("A"))


async def started(hub: Hub, name: str, definition: str) -> ServedLive:
    served = record(hub, name, definition)
    await hub.start(served, Started(0, {}, "seed"))
    return hub.lives[served.execution.id]


def test_an_end_is_on_the_disk_after_settling(tmp_path: Path) -> None:
    async def work(hub: Hub, keeper: Keeper) -> None:
        await hub.start(record(hub, "one", QUICK), Started(0, {"x": 1}, "seed"))
        await hub.settle()
        assert keeper.ends == ["one"]
        assert hub.lives == {}
        stored = hub.reader.find_served("id", "one")
        assert stored is not None
        assert (stored.execution.status, stored.execution.output) == (Status.SUCCEEDED, {"x": 1})
        assert json.loads(hub.reader.history(stored.execution.id) or "")[-1]["Type"] == "ExecutionSucceeded"

    run(tmp_path, work)


def test_several_events_of_one_execution_keep_their_order(tmp_path: Path) -> None:
    async def work(hub: Hub, keeper: Keeper) -> None:
        live = await started(hub, "one", WAITING)
        (task,) = [command for command in keeper.commands if isinstance(command, InvokeTask)]
        answers = await asyncio.gather(
            hub.ask(live, TaskSubmitted(1, task.task_id)),
            hub.ask(live, CallbackSucceeded(2, task.task_id, {"n": 1})),
            hub.ask(live, CallbackSucceeded(3, task.task_id, {"n": 2})),
        )
        (late,) = answers[2]
        assert isinstance(late, Ignored)
        assert (late.reason, late.same) == (Reason.ALREADY_REPORTED, False)
        assert live.engine.output == {"n": 1}

    run(tmp_path, work)
    with ServedJournal(tmp_path, read_only=True) as journal:
        assert [type(event).__name__ for event in journal.events(1)] == [
            "Started",
            "TaskSubmitted",
            "CallbackSucceeded",
        ]


def test_events_of_many_executions_share_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    write = ServedJournal.write
    monkeypatch.setattr(
        ServedJournal, "write", lambda self, writes: (sizes.append(len(writes)), write(self, writes))[1]
    )

    async def work(hub: Hub, keeper: Keeper) -> None:
        waiting = [hub.start(record(hub, f"e{number}", WAITING), Started(0, {}, "s")) for number in range(100)]
        await asyncio.gather(*waiting)

    run(tmp_path, work)
    assert sizes == [100]


def test_a_disk_that_fails_refuses_callers_and_keeps_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = False
    write = ServedJournal.write

    def sometimes(self: ServedJournal, writes: Any) -> None:
        if failing:
            raise sqlite3.OperationalError("disk full")
        write(self, writes)

    monkeypatch.setattr(ServedJournal, "write", sometimes)
    monkeypatch.setattr("local_sim.server.hub._PAUSE_SECONDS", 0.001)

    async def work(hub: Hub, keeper: Keeper) -> None:
        nonlocal failing
        live = await started(hub, "one", WAITING)
        (task,) = [command for command in keeper.commands if isinstance(command, InvokeTask)]
        failing = True
        refused = hub.start(record(hub, "two", WAITING), Started(0, {}, "s"))
        hub.post(live, TaskSubmitted(1, task.task_id))
        with pytest.raises(sqlite3.OperationalError):
            await refused
        assert hub.live("id", "two") is None
        assert not live.tasks[task.task_id].submitted
        failing = False
        await hub.settle()
        assert live.tasks[task.task_id].submitted

    run(tmp_path, work)


def test_trouble_with_one_execution_does_not_stop_the_others(tmp_path: Path) -> None:
    async def work(hub: Hub, keeper: Keeper) -> None:
        bad = await started(hub, "bad", WAITING)
        bad.engine.handle = None  # type: ignore[assignment,method-assign]
        with pytest.raises(TypeError):
            await hub.ask(bad, TaskSubmitted(1, 1))
        await hub.start(record(hub, "good", QUICK), Started(0, {}, "s"))
        await hub.settle()
        assert keeper.ends == ["good"]

    run(tmp_path, work)


def test_what_is_open_comes_back_and_is_carried_out_again(tmp_path: Path) -> None:
    async def first(hub: Hub, keeper: Keeper) -> None:
        await started(hub, "unsent", WAITING)
        sent = await started(hub, "sent", WAITING)
        task = [command for command in keeper.commands if isinstance(command, InvokeTask)][-1]
        await hub.ask(sent, TaskSubmitted(1, task.task_id))

    async def second(hub: Hub, keeper: Keeper) -> list[Command]:
        hub.take_up()
        assert {live.record.name for live in hub.lives.values()} == {"unsent", "sent"}
        assert len(hub.lives[1].engine.history) > 0
        return keeper.commands

    run(tmp_path, first)
    again = run(tmp_path, second)
    assert [type(command).__name__ for command in again] == ["InvokeTask"]


def test_an_end_that_was_not_stored_is_found_by_replay(tmp_path: Path) -> None:
    """The last event was on the disk when the process died, the end was not."""

    async def first(hub: Hub, keeper: Keeper) -> None:
        live = await started(hub, "one", WAITING)
        (task,) = [command for command in keeper.commands if isinstance(command, InvokeTask)]
        await hub.ask(live, CallbackSucceeded(1, task.task_id, {"n": 1}))
        await hub.settle()

    async def second(hub: Hub, keeper: Keeper) -> None:
        hub.take_up()
        await hub.settle()
        stored = hub.reader.find_served("id", "one")
        assert stored is not None
        assert (stored.execution.status, stored.execution.output) == (Status.SUCCEEDED, {"n": 1})
        assert keeper.ends == ["one"]

    run(tmp_path, first)
    with sqlite3.connect(tmp_path / "journal.sqlite") as database:
        database.execute("UPDATE executions SET status = 'Running', output = NULL")
        database.execute("UPDATE served SET stopped_ms = NULL, history = NULL")
    run(tmp_path, second)


def test_an_execution_whose_definition_is_no_longer_read_fails_and_says_so(tmp_path: Path) -> None:
    async def first(hub: Hub, keeper: Keeper) -> None:
        await started(hub, "old", WAITING)
        await started(hub, "good", WAITING)

    async def second(hub: Hub, keeper: Keeper) -> None:
        stored = hub.reader.find_served("id", "old")
        assert stored is not None
        assert (stored.execution.status, stored.execution.error) == (Status.FAILED, "FnF.DefinitionUnreadable")
        assert "definition" in stored.execution.cause
        history = json.loads(hub.reader.history(stored.execution.id) or "[]")
        assert [event["Type"] for event in history] == ["ExecutionStarted", "ExecutionFailed"]
        assert {live.record.name for live in hub.lives.values()} == {"good"}

    run(tmp_path, first)
    with sqlite3.connect(tmp_path / "journal.sqlite") as database:
        database.execute("UPDATE executions SET definition = 'Type: no' WHERE name = 'old'")
    run(tmp_path, second)
    run(tmp_path, second)
