"""Terminal states are final; what comes late is refused by name, never raised (C21)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import NEVER, SECRET, Simulator, body, flow_of, simulate, task

from local_sim.engine import (
    CallbackFailed,
    CallbackSucceeded,
    CancelTask,
    ChildFinished,
    Execution,
    FinishExecution,
    Ignored,
    Reason,
    Started,
    Status,
    StopRequested,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    TimerFired,
)


def started(states: str, value: Any = None) -> Execution:
    execution = Execution(flow_of(states), name="run", secret=SECRET)
    execution.handle(Started(0, value or {}, "s"))
    return execution


def test_a_task_that_returns_after_the_stop_changes_nothing() -> None:
    simulator = Simulator(task("T"), tasks={"T": NEVER})
    simulator.start()
    execution = simulator.run.execution
    stopped = simulator.deliver(StopRequested(5, "Operator", "enough"))
    task_id = simulator.run.calls()[0].task_id
    assert stopped[0] == CancelTask(task_id, "the execution is over: Stopped")
    assert stopped[-1] == FinishExecution(Status.STOPPED, None, "Operator", "enough")
    before = execution.history.types()
    assert execution.handle(TaskSucceeded(9, task_id, body("late"))) == [Ignored(Reason.EXECUTION_OVER, task_id)]
    assert (execution.status, execution.output, execution.error) == (Status.STOPPED, None, "Operator")
    assert execution.history.types() == before
    assert before[-1] == "ExecutionStopped"


LATE = [
    Started(9, {}, "s"),
    TaskSubmitted(9, 3),
    TaskSucceeded(9, 3, {}),
    TaskFailed(9, 3, "E"),
    CallbackSucceeded(9, 3, {}),
    CallbackFailed(9, 3, "E"),
    TimerFired(9, 1),
    StopRequested(9),
    ChildFinished(9, 1, 0, Status.SUCCEEDED, {}),
]


@pytest.mark.parametrize("event", LATE, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("end", ["Succeeded", "Failed", "Stopped", "TimedOut"])
def test_nothing_moves_a_finished_execution(event: Any, end: str) -> None:
    execution = started(task("T"))
    closing = {
        "Succeeded": TaskSucceeded(1, 3, {"v": 1}),
        "Failed": TaskFailed(1, 3, "E"),
        "Stopped": StopRequested(1),
        "TimedOut": TimerFired(1, 1),
    }[end]
    execution.handle(closing)
    before = (execution.status, execution.output, execution.error, execution.cause, list(execution.history))
    assert execution.status.value == end
    (answer,) = execution.handle(event)
    assert isinstance(answer, Ignored)
    assert (execution.status, execution.output, execution.error, execution.cause, list(execution.history)) == before
    assert (execution.pending(), execution.waiting, execution.current_states) == ([], (), ())


@pytest.mark.parametrize("event", [event for event in LATE if not isinstance(event, Started | StopRequested)])
def test_nothing_happens_before_the_start(event: Any) -> None:
    execution = Execution(flow_of(task("T")), name="run", secret=SECRET)
    (answer,) = execution.handle(event)
    assert isinstance(answer, Ignored)
    assert answer.reason is Reason.NOT_STARTED
    assert (execution.status, len(execution.history)) == (Status.STARTING, 0)


def test_an_execution_starts_once() -> None:
    execution = started(task("T"))
    assert execution.handle(Started(1, {}, "s")) == [Ignored(Reason.ALREADY_STARTED)]


def test_an_execution_may_be_stopped_before_it_starts() -> None:
    execution = Execution(flow_of(task("T")), name="run", secret=SECRET)
    assert execution.handle(StopRequested(1)) == [FinishExecution(Status.STOPPED)]
    assert execution.handle(Started(2, {}, "s")) == [Ignored(Reason.EXECUTION_OVER)]


def test_a_task_ends_once() -> None:
    execution = started(task("T", next_state="w") + "- {Type: Wait, Name: w, Seconds: 9, End: true}")
    execution.handle(TaskSucceeded(1, 3, {"v": 1}))
    before = len(execution.history)
    assert execution.handle(TaskSucceeded(2, 3, {"v": 1})) == [Ignored(Reason.ALREADY_REPORTED, 3, same=True)]
    assert execution.handle(TaskSucceeded(2, 3, {"v": 2})) == [Ignored(Reason.ALREADY_REPORTED, 3, same=False)]
    assert execution.handle(TaskFailed(2, 3, "E")) == [Ignored(Reason.ALREADY_REPORTED, 3, same=False)]
    assert len(execution.history) == before


def test_a_timer_fires_once_and_a_cancelled_one_never() -> None:
    execution = started("- {Type: Wait, Name: w, Seconds: 9, Next: T}\n" + task("T", "Timeout: 5"))
    execution.handle(TimerFired(9000, 2))
    assert execution.handle(TimerFired(9000, 2)) == [Ignored(Reason.CANCELLED)]
    assert execution.handle(TimerFired(9000, 77)) == [Ignored(Reason.UNKNOWN)]
    task_id = next(iter(execution.pending())).task_id  # type: ignore[union-attr]
    execution.handle(TaskSucceeded(9001, task_id, {"ok": 1}))
    assert execution.handle(TimerFired(14_000, 3)) == [Ignored(Reason.EXECUTION_OVER)]
    assert execution.output == {"ok": 1}


def test_a_cancelled_sibling_stays_cancelled() -> None:
    branches = ", ".join(f"{{StartAt: {name}, States: [{task(name)[2:].strip()}]}}" for name in "AB")
    states = f"- {{Type: Parallel, Name: p, Branches: [{branches}], Catch: [{{Errors: [E], Next: w}}], Next: w}}\n"
    execution = started(states + "- {Type: Wait, Name: w, Seconds: 9, End: true}")
    ids = [command.task_id for command in execution.pending() if hasattr(command, "task_id")]
    execution.handle(TaskFailed(1, ids[0], "E"))
    assert execution.handle(TaskSucceeded(2, ids[1], body(1))) == [Ignored(Reason.CANCELLED, ids[1])]
    assert execution.current_states == (("w",),)


def test_current_states_name_every_line_of_control() -> None:
    branches = ", ".join(f"{{StartAt: {name}, States: [{task(name)[2:].strip()}]}}" for name in "AB")
    execution = started(f"- {{Type: Parallel, Name: p, Branches: [{branches}], End: true}}")
    assert execution.current_states == (("p", "Branch0", "A"), ("p", "Branch1", "B"))


def test_pending_is_what_a_driver_carries_out_again() -> None:
    execution = started(task("T", "Timeout: 5"))
    kinds = [type(command).__name__ for command in execution.pending()]
    assert kinds == ["InvokeTask", "StartTimer", "StartTimer"]


def test_an_execution_tells_who_it_is() -> None:
    execution = started(task("T"))
    assert (execution.name, execution.flow.name, execution.status) == ("run", "flow", Status.RUNNING)
    run = simulate(task("T"))
    assert (run.execution.error, run.execution.cause) == ("", "")
