"""History and replay of the older dialect (API page, section 6.3)."""

from __future__ import annotations

from engine_kit import SECRET, Reported, simulate
from legacy_kit import legacy

from local_sim.engine import Execution, decode_event, encode_event, verify_token

TWO = legacy("- {type: pass, name: first, inputMappings: [{target: x, source: 1}]}\n- {type: pass, name: second}")


def test_events_ids_and_details_are_those_of_the_recorded_sample() -> None:
    history = list(simulate(TWO, input={"a": 0}).execution.history)[:6]
    assert [(event.event_id, event.type, event.step_name, event.schedule_event_id) for event in history] == [
        (1, "ExecutionStarted", "", 0),
        (2, "StepEntered", "first", 1),
        (3, "StepStarted", "first", 2),
        (4, "StepSucceeded", "first", 3),
        (5, "StepExited", "first", 4),
        (6, "StepEntered", "second", 5),
    ]
    assert [dict(event.detail) for event in history] == [
        {"input": {"a": 0}},
        {"input": {"a": 0}, "local": {}},
        {"input": {"x": 1}},
        {"output": {"x": 1}},
        {"local": {"x": 1}},
        {"input": {"a": 0}, "local": {"x": 1}},
    ]


def test_replaying_the_events_gives_the_same_history() -> None:
    flow = legacy(
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.l, item: i}\n  steps:\n"
        "    - {type: wait, name: w, duration: 5}\n    - {type: task, name: t, resourceArn: 'acs:fc:::functions/f'}\n"
        "  outputMappings: [{target: all, source: $local}]"
    )
    run = simulate(flow, input={"l": [1, 2]}, tasks={"t": {"Body": {"v": 1}}})
    assert run.output == {"all": [{"v": 1}, {"v": 1}]}
    again = Execution(flow, name="run", secret=SECRET)
    for event in run.events:
        again.handle(decode_event(encode_event(event)))
    assert list(again.history) == list(run.execution.history)


def test_the_token_in_the_mapped_input_is_that_of_the_task() -> None:
    mapping = "inputMappings: [{target: tok, source: $context.task.token}]"
    flow = legacy(
        f"- {{type: task, name: t, resourceArn: 'acs:fc:::functions/f', pattern: waitForCallback, {mapping}}}"
    )
    call = simulate(flow, tasks={"t": Reported({})}).calls()[0]
    assert call.parameters["body"]["tok"] == call.token
    assert verify_token(call.token or "", SECRET).event_id == call.task_id


def test_input_output_and_local_together_hold_32_kib() -> None:
    flow = legacy("- {type: pass, name: p}")
    overhead = len('{"a":""}')
    fits, over = 32 * 1024 // 3 - overhead, 32 * 1024 // 3 - overhead + 1
    assert simulate(flow, input={"a": "x" * fits}).status == "Succeeded"
    run = simulate(flow, input={"a": "x" * over})
    assert run.error == "FnF.OutputSizeExceeded"
    assert "the limit is 32768" in run.cause
    assert simulate(flow, input={"a": "x" * 33_000}).error == "FnF.InputSizeExceeded"
