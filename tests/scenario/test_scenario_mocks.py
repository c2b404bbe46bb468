"""Mocks answer calls by state, and everything that does not fit is a problem, never a silent pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario_kit import project_with

from local_sim.project import Project, Settings
from local_sim.runner import BadDecision
from local_sim.scenario import BadScenario, MockProblem, decide, never, play, raises, repeats, returns
from local_sim.scenario.durations import seconds_of

DRAFTED = returns({"text": "t"})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_with(tmp_path)


def small(project: Project, **options: Any) -> Any:
    return play(project, "small", {"n": 1}, **options)


def test_states_answer_in_turn_and_time_is_virtual(project: Project) -> None:
    mocks = {"Draft": [raises("Busy", "wait"), DRAFTED.after("30s")], "Ask": returns({})}
    run = small(project, mocks=mocks, decisions=[decide("yes", after="10m")])
    assert (run.status, run.path) == ("Succeeded", ["Draft", "Ask", "Route", "Done"])
    assert run.call_counts() == {"Draft": 2, "Ask": 1}
    assert run.calls_of("Draft") == [{"n": 1}, {"n": 1}]
    assert run.calls_of("Ask")[0]["text"] == "t"
    assert run.duration_seconds == 5 + 30 + 600


def test_the_same_play_gives_the_same_history(project: Project) -> None:
    options: dict[str, Any] = {"mocks": {"Draft": DRAFTED, "Ask": {}}, "decisions": [decide("yes", after=1)]}
    one, other = small(project, **options), small(project, **options)
    assert [(e.type, e.step_name, e.time_ms) for e in one.history] == [
        (e.type, e.step_name, e.time_ms) for e in other.history
    ]


def test_a_decision_can_come_at_a_stated_time_of_the_run(project: Project) -> None:
    mocks = {"Draft": DRAFTED.after(20), "Ask": {}}
    assert small(project, mocks=mocks, decisions=[decide("yes", at="30m")]).duration_seconds == 1800
    assert small(project, mocks=mocks, decisions=[decide("yes", at=5)]).duration_seconds == 20


def test_a_call_that_never_ends_or_ends_too_late_runs_into_the_timeout(project: Project) -> None:
    for answer in (never(), DRAFTED.after("61s")):
        run = small(project, mocks={"Draft": answer})
        assert (run.status, run.error, run.duration_seconds) == ("Failed", "Late", 60)


def test_an_error_carries_the_cause_a_function_would_give(project: Project) -> None:
    run = small(project, mocks={"Draft": raises("Odd", 'so "odd"')})
    failed = next(event for event in run.history if event.type == "TaskFailed")
    assert failed.detail["error"] == "Odd"
    assert failed.detail["cause"] == '{"errorMessage": "so \\"odd\\"", "errorType": "Odd", "stackTrace": []}'


def test_a_function_mocks_every_call_and_its_exceptions_are_errors(project: Project) -> None:
    seen: list[Any] = []

    def draft(event: Any) -> Any:
        seen.append(event)
        if len(seen) < 3:
            raise type("Busy", (Exception,), {})("wait")
        return {"text": str(event["n"])}

    run = small(project, mocks={"Draft": draft, "Ask": {}}, decisions=[decide("yes")])
    assert run.status == "Succeeded"
    assert seen == [{"n": 1}] * 3


def test_other_actions_give_the_whole_output_and_branches_have_mocks_of_their_own(project: Project) -> None:
    mocks = {"Fan/Branch0/Call": returns({"id": 1}).after(3), "Branch1/Call": returns({"id": 2}).after(5)}
    run = play(project, "fan", {}, mocks=mocks)
    assert run.output == {"Branch0": {"id": 1}, "Branch1": {"id": 2}}
    assert run.duration_seconds == 5
    assert [call.event for call in run.calls] == [{"to": "a"}, {"to": "b"}]
    assert play(project, "fan", {}, mocks={"Call": [returns({"id": 1}), returns({"id": 2})]}).output["Branch1"] == {
        "id": 2
    }


@pytest.mark.parametrize(
    ("mocks", "decisions", "problem"),
    [
        ({}, [], "Draft was reached and has no mock"),
        ({"Draft": raises("Busy")}, [], "Draft was called 2 times, its mock has 1 responses"),
        ({"Draft": [raises("No"), DRAFTED]}, [], "Draft: 1 of 2 responses never used"),
        ({"Draft": raises("No"), "Ask": returns({})}, [], "Ask: its mock was never used"),
        ({"Draft": raises("No"), "Ask": lambda event: {}}, [], "Ask: its mock was never used"),
        ({"Draft": returns({"txt": "t"})}, [], "in the mock's response $Output.Body is an object with txt"),
        ({"Draft": returns("text")}, [], "in the mock's response $Output.Body is 'text'"),
        ({"Draft": raises("No")}, [decide("yes")], "decision 'yes' was not reported"),
        ({"Draft": DRAFTED, "Ask": {}}, [decide("yes", after="2h")], "decision 'yes' was not reported"),
    ],
)
def test_what_does_not_fit_is_told(project: Project, mocks: Any, decisions: Any, problem: str) -> None:
    with pytest.raises(MockProblem) as caught:
        small(project, mocks=mocks, decisions=decisions)
    assert problem in str(caught.value)


def test_a_shape_problem_names_the_line_of_the_flow(project: Project) -> None:
    with pytest.raises(MockProblem, match=r"small\.yaml:13:3\d\)"):
        small(project, mocks={"Draft": returns({})})


def test_optional_mocks_may_be_left_unused(project: Project) -> None:
    mocks = {"Draft": raises("No"), "Ask": returns({})}
    assert small(project, mocks=mocks, optional=["Ask"]).error == "Sorry"


def test_repeats_answers_for_ever_but_at_least_once(project: Project) -> None:
    assert small(project, mocks={"Draft": repeats(raises("Busy"))}).call_counts() == {"Draft": 3}
    with pytest.raises(MockProblem, match="Ask: its mock was never used"):
        small(project, mocks={"Draft": raises("No"), "Ask": repeats(returns({}))})


def test_an_error_its_function_does_not_declare_is_told(project: Project) -> None:
    declared = Project(project.root, Settings(errors={"draft": ("Busy", "InvalidInput")}))
    with pytest.raises(MockProblem, match="declares the errors Busy, InvalidInput, the mock raises Bussy"):
        small(declared, mocks={"Draft": raises("Bussy")})
    assert small(declared, mocks={"Draft": raises("FC.ResourceThrottled")}).error == "Sorry"


@pytest.mark.parametrize(
    ("mocks", "problem"),
    [
        ({"Drft": {}}, "has no such state; did you mean Draft?"),
        ({"Route": {}}, "it makes no call"),
        ({"Draft": "text"}, "a mock is a response"),
        ({"Draft": ["text"]}, "a response is returns"),
        ({"Draft": [repeats({}), {}]}, r"repeats\(\) must be the last"),
    ],
)
def test_mocks_that_make_no_sense_are_refused_before_anything_runs(project: Project, mocks: Any, problem: str) -> None:
    with pytest.raises(BadScenario, match=problem):
        small(project, mocks=mocks)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_a_response_must_be_json(value: Any) -> None:
    with pytest.raises(BadScenario, match="must be JSON"):
        returns(value)


def test_an_answer_the_flow_does_not_know_is_refused(project: Project) -> None:
    with pytest.raises(BadDecision):
        small(project, mocks={"Draft": DRAFTED, "Ask": {}}, decisions=[decide("maybe", state="Nobody")])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("3s", 3), ("1h30m", 5400), ("7d", 604800), ("1.5h", 5400), (2, 2), ("12", 12)],
)
def test_durations(text: Any, seconds: float) -> None:
    assert seconds_of(text) == seconds


@given(
    st.text(max_size=12) | st.floats() | st.integers() | st.from_regex(r"[0-9.]{1,4}(ms|s|m|h|d|w)?", fullmatch=True)
)
def test_a_duration_is_seconds_from_zero_or_refused(value: Any) -> None:
    try:
        seconds = seconds_of(value)
    except BadScenario:
        return
    assert seconds >= 0
    assert seconds != float("inf")
