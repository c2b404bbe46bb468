"""Callbacks: decisions given beforehand, at a time, by asking; and what a flow's form is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import flow_text

from local_sim.clock import RealClock, VirtualClock
from local_sim.definition import load_flow
from local_sim.engine import Status
from local_sim.project import Project
from local_sim.runner import BadDecision, Decision, Form, Observer, RunResult, Waiting, run_flow
from local_sim.runner.form import callbacks, split_answer

REVIEW = """\
- Type: Task
  Name: Review
  Action: X:Ask
  TaskMode: WaitForCustomCallback
  Timeout: 600
  Parameters: {token.$: $Context.Current.TaskToken}
  OutputConstructor: {verdict.$: $Output.answer, note.$: $Output.note}
  Catch:
    - {Errors: [FnF.TaskTimeout], Next: Expired}
    - {Errors: [FnF.ALL], OutputConstructor: {code.$: $Context.Current.Error.Code}, Next: Failed}
  Next: Route
- Type: Choice
  Name: Route
  Branches:
    - {Condition: '$Input.verdict == "yes"', Next: Yes}
    - {Condition: '$Input.verdict == "again"', Next: Review}
  Default: No
- {Type: Succeed, Name: 'Yes'}
- {Type: Succeed, Name: 'No'}
- {Type: Succeed, Name: Expired}
- {Type: Succeed, Name: Failed}
"""
PROJECT = Project(Path())


def run(*decisions: Decision, clock: VirtualClock | RealClock | None = None, **more: object) -> RunResult:
    return run_flow(
        PROJECT,
        flow_text("f", REVIEW),
        {},
        clock=clock or VirtualClock(0),
        decisions=decisions,
        actions={"X:Ask": lambda call: {"asked": call.token}},
        **more,  # type: ignore[arg-type]
    )


def test_a_word_is_put_under_the_field_the_flow_decides_on() -> None:
    result = run(Decision("yes"))
    assert (result.path, result.output) == (("Review", "Route", "Yes"), {"verdict": "yes", "note": ""})


def test_a_word_may_carry_further_fields() -> None:
    assert run(Decision('yes note="well done"')).output == {"verdict": "yes", "note": "well done"}


def test_an_object_is_the_whole_report() -> None:
    result = run(Decision({"answer": "maybe", "note": "n"}))
    assert (result.path[-1], result.output) == ("No", {"verdict": "maybe", "note": "n"})


def test_decisions_are_used_once_and_in_order() -> None:
    assert run(Decision("again"), Decision("yes")).path == ("Review", "Route", "Review", "Route", "Yes")


def test_a_failure_report_is_caught_by_name() -> None:
    assert run(Decision(error="NoReviewer", cause="c")).output == {"code": "NoReviewer"}


def test_an_unanswered_callback_runs_into_its_timeout_in_virtual_time() -> None:
    clock = VirtualClock(0)
    result = run(clock=clock)
    assert (result.path[-1], clock.now_ms()) == ("Expired", 600_000)


@pytest.mark.parametrize(("after", "end"), [(599.999, "Yes"), (600, "Yes"), (600.001, "Expired")])
def test_a_decision_at_a_virtual_time(after: float, end: str) -> None:
    assert run(Decision("yes", after_seconds=after)).path[-1] == end


def test_with_a_real_clock_nobody_waits_for_a_timeout() -> None:
    result = run(clock=RealClock())
    assert result.status is Status.RUNNING
    (waiting,) = result.waiting
    assert (waiting.state, waiting.path) == ("Review", ("Review",))
    assert waiting.form == Form("answer", ("yes", "again"), ("note",))
    assert waiting.token
    assert waiting.parameters == {"token": waiting.token}
    assert waiting.due_ms is not None


def test_somebody_is_asked_once_for_each_visit() -> None:
    asked: list[Waiting] = []

    def ask(waiting: Waiting) -> Decision:
        asked.append(waiting)
        return Decision("again" if len(asked) < 3 else "yes")

    assert run(ask=ask).path.count("Review") == 3
    assert len({waiting.token for waiting in asked}) == 3


def test_whoever_is_asked_may_leave_it_open() -> None:
    result = run(ask=lambda waiting: None, clock=RealClock())
    assert (result.status, len(result.waiting)) == (Status.RUNNING, 1)


def test_the_observer_sees_a_task_wait_once() -> None:
    seen: list[str] = []

    class Watch(Observer):
        def on_waiting(self, waiting: Waiting) -> None:
            seen.append(waiting.state)

    run(Decision("yes", after_seconds=5), observer=Watch())
    assert seen == ["Review"]


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision("yess"), "'yess' fits no callback of this flow: Review takes yes, again"),
        (Decision("yes", state="Revue"), "no callback state of that name; there are: Review"),
        (Decision("yess", state="Review"), "Review takes yes, again, or a JSON object"),
    ],
)
def test_a_decision_that_fits_nothing_is_refused_before_the_run(decision: Decision, words: str) -> None:
    with pytest.raises(BadDecision) as caught:
        run(decision)
    assert words in str(caught.value)


def test_callbacks_in_branches_are_answered_each_for_itself() -> None:
    branch = """\
    - StartAt: {0}
      States:
        - {{Type: Task, Name: {0}, Action: 'X:Ask', TaskMode: WaitForCustomCallback, End: true}}
"""
    fan = "- Type: Parallel\n  Name: Fan\n  End: true\n  Branches:\n" + branch.format("A") + branch.format("B")
    result = run_flow(
        PROJECT,
        flow_text("f", fan),
        {},
        clock=VirtualClock(0),
        decisions=[Decision({"v": 2}, "B"), Decision({"v": 1}, "A")],
        actions={"X:Ask": lambda call: {}},
    )
    assert result.output == {"Branch0": {"v": 1}, "Branch1": {"v": 2}}


def test_a_form_looks_through_pass_states_and_flipped_comparisons() -> None:
    text = flow_text(
        "f",
        """\
        - {Type: Task, Name: T, Action: 'X:Y', TaskMode: WaitForCustomCallback, Next: P}
        - {Type: Pass, Name: P, Next: C}
        - Type: Choice
          Name: C
          Branches:
            - {Condition: '"a" == $Input.word', Next: S}
            - {Condition: "$Input.word == 'b'", Next: S}
          Default: S
        - {Type: Succeed, Name: S}
        """,
    )
    assert callbacks(load_flow(text)) == {"T": Form("word", ("a", "b"))}


@given(st.text(max_size=30))
def test_any_text_is_an_answer(text: str) -> None:
    word, extra = split_answer(text)
    assert isinstance(word, str)
    assert all(isinstance(value, str) for value in extra.values())


@given(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.from_regex(r"[\w .,]{0,12}", fullmatch=True))
def test_a_field_comes_back_as_it_was_written(word: str, note: str) -> None:
    assert split_answer(f'{word} note="{note}"') == (word, {"note": note})
