"""What the converter writes, keeps, changes and gives up."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

import pytest
from engine_kit import Fail, Reported, body, simulate
from legacy_kit import text_of

from local_sim.definition import InvalidFlowError, check_flow, load_flow
from local_sim.definition.legacy.convert import Converted, Weight, convert

ARN = "resourceArn: 'acs:fc:::services/s/functions/f'"


def converted(steps: str, head: str = "") -> Converted:
    made = convert(text_of(steps, head), "old.yaml")
    assert check_flow(made.text).errors == ()
    return made


def messages(made: Converted, weight: Weight) -> str:
    return "\n".join(remark.message for remark in made.remarks if remark.weight is weight)


def test_comments_stay_with_their_steps() -> None:
    steps = (
        "# first of all\n- type: pass # copies\n  name: a\n# then\n- type: choice\n  name: c\n  choices:\n"
        '    - condition: $.s == "# no comment"\n      steps:\n        # inside\n        - {type: pass, name: d}\n'
    )
    lines = [line.strip() for line in converted(steps, "# the head").text.splitlines()]
    assert lines[0] == "# the head"
    assert lines[lines.index("Name: a") - 3 :][:3] == ["# first of all", "# copies", "- Type: Pass"]
    assert lines[lines.index("Name: c") - 2] == "# then"
    assert lines[lines.index("Name: d") - 2] == "# inside"
    assert sum(line.startswith("#") for line in lines) == 5


@pytest.mark.parametrize("seconds", [1, 300, 301, 600, 3_600, 172_800])
def test_waits_over_300_s_become_a_loop_that_waits_as_long(seconds: int) -> None:
    made = converted(f"- {{type: wait, name: w, duration: {seconds}}}")
    run = simulate(load_flow(made.text))
    assert (run.status, run.at_ms) == ("Succeeded", seconds * 1000)
    assert ("loop" in messages(made, Weight.CHANGED)) == (seconds > 300)
    assert len(run.execution.history) < 5_000


def test_a_wait_from_a_path_is_a_loop_too() -> None:
    made = converted("- {type: wait, name: w, duration: $.at}")
    assert simulate(load_flow(made.text), input={"at": 450}).at_ms == 450_000


def test_a_moment_has_no_equivalent_and_fails_loudly() -> None:
    made = converted("- {type: wait, name: w, timestamp: 2026-01-01T00:00:00Z}")
    assert made.lost
    assert simulate(load_flow(made.text)).error == "Convert.NoEquivalent"


@pytest.mark.parametrize(
    ("steps", "word"),
    [
        ("- {type: pass, name: a, inputMappings: [{target: x, source: '$input.l[*].k'}]}", "projections"),
        ("- {type: pass, name: a, inputMappings: [{target: x, source: $context.step.eventId}]}", "no documented path"),
        ("- {type: foreach, name: e, iterationMapping: {collection: $.l, item: i, index: n}, steps: [{type: pass, name: p}]}", "index"),
        ("- {type: foreach, name: e, iterationMapping: {collection: $.l, item: i}, steps: [{type: pass, name: p}], outputMappings: [{target: x, source: '$local[*].k'}]}", "foreach"),
    ],
)  # fmt: skip
def test_what_has_no_equivalent_is_listed(steps: str, word: str) -> None:
    made = converted(steps)
    assert word in messages(made, Weight.LOST)
    assert all(remark.line > 0 for remark in made.remarks)


def test_a_callback_gets_its_token_in_parameters() -> None:
    mapping = "inputMappings: [{target: tok, source: $context.task.token}, {target: k, source: $input.k}]"
    made = converted(f"- {{type: task, name: t, {ARN}, pattern: waitForCallback, timeoutSeconds: 60, {mapping}}}")
    run = simulate(load_flow(made.text), input={"k": 1}, tasks={"t": Reported({"ok": 1})})
    assert run.calls()[0].parameters["body"] == {"tok": run.calls()[0].token, "k": 1}
    assert run.output == {"local": {"ok": 1}}


def test_error_mappings_become_the_catch_rules_own_output() -> None:
    made = converted(
        f"- {{type: task, name: t, {ARN}, retry: [{{errors: [E]}}], catch: [{{errors: [E], goto: z}}],"
        " errorMappings: [{target: why, source: $local.cause}], outputMappings: [{target: why, source: 0}]}\n"
        "- {type: succeed, name: z}"
    )
    run = simulate(load_flow(made.text), tasks={"t": Fail("E", "because")})
    assert (run.output, run.waits_s()) == ({"why": "because"}, [1, 2, 4])
    assert "errorMappings" in messages(made, Weight.CHANGED)


def test_a_foreach_becomes_a_map_whose_items_lie_over_the_input() -> None:
    made = converted(
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.l, item: i}\n"
        f"  steps: [{{type: task, name: t, {ARN}}}]\n- {{type: pass, name: p, outputMappings: [{{target: x, source: 1}}]}}"
    )
    run = simulate(load_flow(made.text), input={"l": [1, 2]}, tasks={"t": body({})})
    assert [call.parameters["body"] for call in run.calls()] == [{"l": [1, 2], "i": 1}, {"l": [1, 2], "i": 2}]
    assert run.output == {"x": 1}


def test_an_output_only_the_functions_know_is_wrapped_and_said() -> None:
    made = converted(f"- {{type: task, name: t, {ARN}}}")
    assert "outputMappings" in messages(made, Weight.CHANGED)
    assert simulate(load_flow(made.text), tasks={"t": body({"r": 1})}).output == {"local": {"r": 1}}


def test_texts_every_yaml_reader_takes_alike() -> None:
    steps = "- {type: pass, name: 'on', inputMappings: [{target: 'yes', source: '1e3'}, {target: n, source: 'a: b'}, {target: t, source: '12:30'}]}"
    made = converted(steps)
    assert "SK012" not in check_flow(made.text).codes()
    assert simulate(load_flow(made.text)).output == {"yes": "1e3", "n": "a: b", "t": "12:30"}


@pytest.mark.parametrize("text", ["Type: StateMachine\nSpecVersion: v1\nName: n\nStartAt: a\nStates: [{Type: Succeed, Name: a}]\n", "version: v1\ntype: flow\nsteps: []\n", "nothing"])  # fmt: skip
def test_only_sound_flows_of_the_older_dialect_are_converted(text: str) -> None:
    with pytest.raises(InvalidFlowError):
        convert(text)
