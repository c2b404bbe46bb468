"""What the loader takes and refuses (legacy page, sections 2, 11.4 and 12)."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

import json

import pytest
from engine_kit import body, simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from legacy_kit import legacy, text_of

from local_sim.definition import DefinitionError, InvalidFlowError, check_flow, load_flow
from local_sim.definition.model import TaskState

OK = "- {type: succeed, name: z}"


@pytest.mark.parametrize("version", ["v1", "v1.0", "v1beta1"])
def test_the_versions_in_use_load(version: str) -> None:
    assert load_flow(f"version: {version}\ntype: flow\nsteps:\n  {OK}\n").spec_version == version


def test_json_loads_too() -> None:
    assert load_flow('{"version": "v1", "type": "flow", "steps": [{"type": "succeed", "name": "z"}]}').root.states["z"]


@pytest.mark.parametrize(
    ("written", "resource"),
    [
        ("acs:fc:::services/s/functions/f", "acs:fc:::services/s/functions/f"),
        ("acs:fc:cn-hangzhou:123:services/s.prod/functions/f", "acs:fc:cn-hangzhou:123:services/s.prod/functions/f"),
        ("!Ref svc/fn", "acs:fc:::services/svc/functions/fn"),
        ("!GetAtt svc/fn.Arn", "acs:fc:::services/svc/functions/fn"),
        ("!GetAtt [svc, fn]", "acs:fc:::services/svc/functions/fn"),
        ('!Sub "acs:fc:${Region}:${Account}:services/s/functions/f"', "acs:fc:::services/s/functions/f"),
        ("acs:fc:<region>:<account>:services/s/functions/f", "acs:fc:::services/s/functions/f"),
        (">-\n      acs:fc:::services/s/functions/f", "acs:fc:::services/s/functions/f"),
        ("<functionArn>", "<functionArn>"),
    ],
)
def test_tags_and_placeholders_load(written: str, resource: str) -> None:
    flow = load_flow(f"version: v1\ntype: flow\nsteps:\n  - type: task\n    name: t\n    resourceArn: {written}\n")
    run = simulate(flow, tasks={"t": body({})})
    assert run.calls()[0].parameters["resourceArn"] == resource


def test_names_and_comments_of_other_scripts_load() -> None:
    flow = legacy(
        "# 注释 コメント\n- {type: pass, name: 准备资料, inputMappings: [{target: 标题, source: 草稿}]}\n- {type: succeed, name: 끝}"
    )
    assert simulate(flow).output == {"标题": "草稿"}


def test_further_keys_of_iteration_mapping_are_noted_and_ignored() -> None:
    text = text_of(
        "- {type: foreach, name: e, iterationMapping: {collection: $.a, item: i, odd: 1}, steps: [{type: succeed, name: s}]}"
    )
    notes = [finding for finding in check_flow(text).findings if "odd" in finding.message]
    assert [(note.code, note.assumption) for note in notes] == [("SK601", "B01")]
    assert simulate(load_flow(text), input={"a": [1]}).status == "Succeeded"


def test_a_default_of_a_task_is_no_time_limit_and_one_call() -> None:
    state = legacy("- {type: task, name: t, resourceArn: 'acs:fc:::functions/f'}").root.states["t"]
    assert isinstance(state, TaskState)
    assert (state.timeout, state.retry, state.catch) == (None, (), ())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (text_of("- {type: pass, name: a}\n- {type: pass, name: a}"), "SK205"),
        (text_of("- {type: choice, name: c, choices: [{condition: $.a, goto: nope}]}"), "SK201"),
        (
            text_of(
                "- {type: choice, name: c, choices: [{condition: $.a, steps: [{type: choice, name: d, choices: [{condition: $.b, goto: c}]}]}]}"
            ),
            "SK201",
        ),
        (text_of("- {type: task, name: t, resourceArn: x, catch: [{errors: [E], goto: nope}]}"), "SK201"),
        (text_of("- {type: Pass, name: a}"), "SK104"),
        (text_of("- {type: pass}"), "SK102"),
        (text_of("- {type: task, name: t}"), "SK102"),
        (text_of("- {type: task, name: t, resourceArn: x, patern: sync}"), "SK101"),
        (text_of("- {type: task, name: t, resourceArn: x, pattern: waitForcallback}"), "SK108"),
        (text_of("- {type: task, name: t, resourceArn: x, action: 'a:B'}"), "SK006"),
        (text_of("- {type: pass, name: a, inputMappings: [{target: x, source: $inptu.a}]}"), "SK302"),
        (text_of("- {type: pass, name: a, inputMappings: [{target: x, source: $.a}]}"), "SK302"),
        (text_of("- {type: pass, name: a, inputMappings: [{target: x, source: $context.task.tokn}]}"), "SK302"),
        (text_of("- {type: pass, name: a, inputMappings: [{target: x, source: '$input.a['}]}"), "SK301"),
        (text_of("- {type: pass, name: a, inputMappings: [{target: x}]}"), "SK102"),
        (text_of("- {type: pass, name: a, inputMappings: {target: x}}"), "SK103"),
        (
            text_of("- {type: task, name: t, resourceArn: x, errorMappings: [{target: x, source: $local.code}]}"),
            "SK302",
        ),
        (text_of("- {type: choice, name: c, choices: [{condition: $.a = 1, goto: c}]}"), "SK301"),
        (text_of("- {type: choice, name: c, choices: [{condition: length($.a) > 1, goto: c}]}"), "SK301"),
        (text_of("- {type: choice, name: c, choices: [{condition: $local.a, goto: c}]}"), "SK302"),
        (
            text_of("- {type: foreach, name: e, iterationMapping: {collection: abc}, steps: [{type: pass, name: p}]}"),
            "SK103",
        ),
        (text_of("- {type: foreach, name: e, iterationMapping: {item: i}, steps: [{type: pass, name: p}]}"), "SK102"),
        (text_of("- {type: parallel, name: p, branches: []}"), "SK105"),
        ("version: v2\ntype: flow\nsteps: [{type: pass, name: a}]\n", "SK108"),
        ("type: flow\nsteps: [{type: pass, name: a}]\n", "SK102"),
        ("version: v1\ntype: flow\nsteps: []\n", "SK105"),
    ],
)
def test_faults_are_found_with_their_place(text: str, code: str) -> None:
    report = check_flow(text)
    assert code in report.codes()
    assert all(finding.position.line >= 1 for finding in report.errors)
    with pytest.raises(InvalidFlowError) as caught:
        load_flow(text)
    assert caught.value.findings == report.errors


def test_a_hundred_branches_are_allowed_and_one_more_is_not() -> None:
    branch = "{steps: [{type: succeed, name: s}]}"
    assert (
        simulate(legacy(f"- {{type: parallel, name: p, branches: [{', '.join([branch] * 100)}]}}")).status
        == "Succeeded"
    )
    with pytest.raises(InvalidFlowError, match="at most 100"):
        legacy(f"- {{type: parallel, name: p, branches: [{', '.join([branch] * 101)}]}}")


def test_nesting_is_bounded_with_a_finding() -> None:
    def nested(levels: int) -> str:
        inner = "{type: succeed, name: s}"
        for _ in range(levels):
            inner = f"{{type: parallel, name: p, branches: [{{steps: [{inner}]}}]}}"
        return f"version: v1\ntype: flow\nsteps: [{inner}]\n"

    assert simulate(load_flow(nested(59))).status == "Succeeded"
    assert "SK007" in check_flow(nested(60)).codes()
    assert "SK007" in check_flow(nested(300)).codes()


def test_the_checker_says_which_dialect_it_is_and_strict_refuses_it() -> None:
    report = check_flow(text_of(OK))
    assert report.ok
    assert report.codes() == ["SK601"]
    assert check_flow(text_of(OK), strict=True).errors


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 200_000)
    | st.sampled_from(["$.a", "$input", "$local[*].x", "a", "", "FnF.ALL", "v1", "$", "!Ref x"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["target", "source", "errors", "goto", "condition", "steps", "type", "name"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
FIELDS = [
    "type",
    "name",
    "end",
    "inputMappings",
    "outputMappings",
    "duration",
    "timestamp",
    "choices",
    "default",
    "branches",
    "iterationMapping",
    "steps",
    "resourceArn",
    "action",
    "pattern",
    "retry",
    "catch",
    "errorMappings",
    "serviceParams",
    "timeoutSeconds",
    "error",
]
STEP = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6).flatmap(
    lambda given: st.fixed_dictionaries(
        {
            "type": st.sampled_from(["pass", "task", "wait", "choice", "parallel", "foreach", "succeed", "fail"]),
            "name": st.sampled_from("abc"),
        }
    ).map(lambda base: {**given, **base})
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=3))
def test_what_the_checker_accepts_runs_and_what_it_refuses_is_refused(steps: list[dict[str, object]]) -> None:
    text = json.dumps({"version": "v1", "type": "flow", "steps": steps})
    report = check_flow(text)
    if report.errors:
        with pytest.raises(DefinitionError):
            load_flow(text)
        return
    run = simulate(load_flow(text), input={"a": 1})
    assert run.status in ("Succeeded", "Failed")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_no_text_behind_the_header_breaks_the_loader(text: str) -> None:
    report = check_flow(f"version: v1\ntype: flow\nsteps:\n  - {text}\n")
    assert report.errors or report.findings
