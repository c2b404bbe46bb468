"""Visits read off real histories: attempts, catches, branches inside, what is still open."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from local_sim.console.format import duration
from local_sim.console.gantt import MOST_ROWS, draw_timeline
from local_sim.console.model import Event
from local_sim.console.timeline import Visit, state_marks, visits_of, ways_taken
from local_sim.engine import HistoryEvent
from local_sim.project import Project
from local_sim.scenario import decide, play, raises, repeats, returns

FLOW = """\
Type: StateMachine
SpecVersion: v1
Name: all
StartAt: Draft
States:
  - Type: Task
    Name: Draft
    Action: "MNS:Send"
    Retry: [{Errors: [Busy], MaxAttempts: 2, IntervalSeconds: 5}]
    Catch: [{Errors: [FnF.ALL], Next: Mend}]
    Next: Fan
  - {Type: Pass, Name: Mend, Next: Fan}
  - Type: Parallel
    Name: Fan
    Next: Each
    Branches:
      - {StartAt: A, States: [{Type: Pass, Name: A, Next: B}, {Type: Task, Name: B, Action: "MNS:Send", End: true}]}
      - {StartAt: C, States: [{Type: Wait, Name: C, Seconds: 7, End: true}]}
  - Type: Map
    Name: Each
    ItemsPath: $Context.Execution.Input.items
    Processor: {StartAt: One, States: [{Type: Pass, Name: One, End: true}]}
    Next: Ask
  - Type: Task
    Name: Ask
    Action: "MNS:Send"
    TaskMode: WaitForCustomCallback
    Timeout: 600
    Parameters: {token.$: $Context.Current.TaskToken}
    End: true
"""


def events(history: tuple[HistoryEvent, ...]) -> list[Event]:
    return [Event(e.event_id, e.schedule_event_id, e.step_name, e.type, e.time_ms, e.detail) for e in history]


@pytest.fixture
def history(tmp_path: Path) -> list[Event]:
    mocks = {"Draft": repeats(raises("Busy", "later")), "B": returns({}).after(3), "Ask": returns({})}
    run = play(Project(tmp_path), FLOW, {"items": [1, 2]}, mocks=mocks, decisions=[decide({"x": 1}, after=60)])
    assert run.status == "Succeeded"
    return events(run.history)


def named(visits: list[Visit], name: str) -> list[Visit]:
    return [visit for visit in visits if visit.state == name]


def test_attempts_errors_and_catches(history: list[Event]) -> None:
    (draft,) = named(visits_of(history), "Draft")
    assert [(attempt.error, attempt.cause) for attempt in draft.attempts] == [("Busy", "later")] * 3
    assert (draft.status, draft.error, draft.next, draft.retries) == ("caught", "Busy", "Mend", 2)
    assert (draft.end_ms or 0) - draft.start_ms == 10_000


def test_what_is_inside_a_parallel_or_map_lies_a_level_deeper(history: list[Event]) -> None:
    visits = visits_of(history)
    assert {visit.state: visit.level for visit in visits} == {
        "Draft": 0, "Mend": 0, "Fan": 0, "A": 1, "B": 1, "C": 1, "Each": 0, "One": 1, "Ask": 0,
    }  # fmt: skip
    (fan,) = named(visits, "Fan")
    assert (fan.end_ms or 0) - fan.start_ms == 7_000
    assert all(visit.parent is fan for visit in visits if visit.state in "ABC")
    assert len(named(visits, "One")) == 2
    assert {visit.status for visit in visits} == {"caught", "succeeded"}


def test_ways_taken_follow_the_states(history: list[Event]) -> None:
    assert ways_taken(visits_of(history)) == {
        ("Draft", "Mend"), ("Mend", "Fan"), ("A", "B"), ("Fan", "Each"), ("Each", "Ask"),
    }  # fmt: skip


def test_every_beginning_of_a_history_can_be_shown(history: list[Event]) -> None:
    for length in range(len(history) + 1):
        visits = visits_of(history[:length])
        entered = [event.id for event in history[:length] if event.type == "StepEntered"]
        assert [visit.event for visit in visits] == entered
        assert set(state_marks(visits)) == {visit.state for visit in visits}
        picture = draw_timeline(visits, history[length - 1].time_ms if length else 0)
        assert ET.fromstring(picture).tag.endswith("svg") if visits else picture == ""


def test_a_callback_waits_until_it_is_answered(history: list[Event]) -> None:
    submitted = next(n for n, event in enumerate(history) if event.type == "TaskSubmitted")
    assert state_marks(visits_of(history[: submitted + 1]))["Ask"] == "waiting"
    assert state_marks(visits_of(history))["Ask"] == "succeeded"


def test_an_end_breaks_off_what_was_open(history: list[Event]) -> None:
    submitted = next(n for n, event in enumerate(history) if event.type == "TaskSubmitted")
    last = history[submitted]
    stopped = Event(last.id + 1, last.id, "", "ExecutionStopped", last.time_ms + 5, {"error": "", "cause": ""})
    (ask,) = named(visits_of([*history[: submitted + 1], stopped]), "Ask")
    assert (ask.status, ask.end_ms) == ("cancelled", last.time_ms + 5)
    assert not ask.attempts[0].waiting


def test_events_nobody_knows_are_passed_over() -> None:
    strange = [
        Event(1, 0, "", "Strange", 0, {}),
        Event(2, 9, "X", "AlsoStrange", 0, {}),
        Event(3, 1, "S", "StepEntered", 4, {}),
    ]
    assert [(visit.state, visit.status) for visit in visits_of(strange)] == [("S", "running")]


def test_the_newest_of_many_visits_are_drawn() -> None:
    many = [Visit(f"S{number}", number, number * 10, end_ms=number * 10 + 5) for number in range(1, 1_000)]
    picture = draw_timeline(many, 0)
    assert picture.count("<a ") == MOST_ROWS
    assert "S999" in picture
    assert len(picture) < 80_000


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0 ms"), (250, "250 ms"), (1_000, "1 s"), (3_240, "3.2 s"), (60_000, "1 min"), (250_000, "4 min 10 s"),
     (7_500_000, "2 h 5 min"), (273_600_000, "3 d 4 h"), (604_800_000, "7 d")],
)  # fmt: skip
def test_durations_are_read_at_a_glance(milliseconds: int, text: str) -> None:
    assert duration(milliseconds) == text
