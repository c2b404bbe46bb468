"""`check` on flows of the older dialect: graph, error rules, functions, callbacks, by the rules of the newer language."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

import pytest
from legacy_kit import text_of

from local_sim.definition import Finding, check_flow, load_flow

FUNCTIONS = {"pay": ("CardDeclined", "Busy"), "svc$old": None}
ARN = "acs:fc:::services/svc/functions/%s"
Z = "\n- {type: succeed, name: z}"
CAUGHT = "catch: [{errors: [FnF.ALL], goto: z}]"


def found(steps: str) -> list[Finding]:
    text = text_of(steps)
    assert load_flow(text).root.states
    return [one for one in check_flow(text, functions=FUNCTIONS).findings if one.code != "SK601"]


def call(more: str, function: str = "pay", arn: str = ARN) -> str:
    return f"- {{type: task, name: t, resourceArn: '{arn % function if '%' in arn else arn}', {more}}}" + Z


@pytest.mark.parametrize(
    ("code", "steps", "says", "mend"),
    [
        (
            "SK203",
            "- {type: succeed, name: a}\n- {type: pass, name: b}",
            "nothing leads to the step 'b'",
            "lead a goto to it",
        ),
        (
            "SK203",
            "- {type: choice, name: c, choices: [{condition: $.a, goto: z}], default: {goto: z}}\n- {type: pass, name: b}"
            + Z,
            "nothing leads to the step 'b'",
            "goto",
        ),
        (
            "SK204",
            "- {type: pass, name: a}\n- {type: choice, name: c, choices: [{condition: $.x, goto: a}], default: {goto: a}}",
            "no path leads out of the loop a -> c -> a",
            "add a choice that leaves it",
        ),
        (
            "SK209",
            "- {type: wait, name: a, duration: 9}\n- {type: choice, name: c, choices: [{condition: $.x, goto: a}]}" + Z,
            "the loop a -> c -> a has no visible limit",
            "count the laps",
        ),
        (
            "SK401",
            call("catch: [{errors: [FnF.ALL], goto: z}, {errors: [Busy], goto: z}]"),
            "FnF.ALL takes every error",
            "to the end",
        ),
        (
            "SK402",
            call(f"retry: [{{errors: [Busy]}}, {{errors: [Busy]}}], {CAUGHT}"),
            "an earlier rule takes 'Busy' already",
            "remove it",
        ),
        (
            "SK403",
            call(f"retry: [{{errors: [TaskTimeout]}}], {CAUGHT}"),
            "'TaskTimeout' lacks its prefix",
            "write FnF.TaskTimeout",
        ),
        (
            "SK404",
            call(f"retry: [{{errors: [Bussy]}}], {CAUGHT}"),
            "nothing here raises 'Bussy'; there are Busy, CardDeclined",
            "correct the name",
        ),
        (
            "SK405",
            call("catch: [{errors: [Busy], goto: z}]"),
            "no rule of the task step 't' takes CardDeclined, which pay declares",
            "add a catch rule",
        ),
        (
            "SK407",
            call("pattern: sync, retry: [{errors: [FnF.TaskTimeout]}], " + CAUGHT),
            "hands out a fresh token",
            "in catch",
        ),
        (
            "SK409",
            call("retry: [{errors: [Busy], maxAttempts: 3000}], " + CAUGHT),
            "maxAttempts 3000",
            "at most 1665 retries",
        ),
        ("SK410", "- {type: fail, name: f, error: FnF.Mine}", "'FnF.Mine' cannot be an own error", "another name"),
        ("SK502", call(f"pattern: waitForCallback, {CAUGHT}"), "waits for a callback for ever", "timeoutSeconds"),
        ("SK503", call(CAUGHT, "payy"), "s.yaml deploys no function 'payy'", "did you mean pay?"),
        ("SK504", call(CAUGHT, arn="acs:fc:::functions"), "names no function", "services/<service>"),
    ],
)
def test_a_fault_is_found_with_place_and_mend(code: str, steps: str, says: str, mend: str) -> None:
    (finding,) = found(steps)
    assert finding.code == code
    assert says in finding.message
    assert mend in finding.fix
    assert finding.position.line >= 5


@pytest.mark.parametrize(
    "steps",
    [
        call(CAUGHT),
        call(CAUGHT, "old"),
        call("catch: [{errors: [Busy, CardDeclined], goto: z}]"),
        "- {type: choice, name: c, choices: [{condition: $.a, goto: z}]}\n- {type: pass, name: b}" + Z,
        "- {type: parallel, name: p, branches: [{steps: [{type: pass, name: a}]}]}" + Z,
        "- {type: fail, name: f}",
    ],
)
def test_a_sound_flow_has_nothing_but_the_note_on_its_dialect(steps: str) -> None:
    assert found(steps) == []


def test_inner_lists_are_looked_at_too() -> None:
    inner = "steps: [{type: succeed, name: a}, {type: pass, name: b}]"
    for steps in (
        f"- {{type: parallel, name: p, branches: [{{{inner}}}]}}",
        f"- {{type: foreach, name: p, iterationMapping: {{collection: $.xs}}, {inner}}}",
        f"- {{type: choice, name: p, choices: [{{condition: $.x, {inner}}}]}}",
    ):
        assert [one.code for one in found(steps)] == ["SK203"]
