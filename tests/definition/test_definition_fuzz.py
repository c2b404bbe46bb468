"""No text may cause anything but findings; what the checker accepts, load_flow returns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_sim.definition import (
    DefinitionError,
    check_flow,
    load_flow,
    render_json,
    render_sarif,
    render_text,
)
from local_sim.definition.collector import Collector
from local_sim.definition.fields import FLOW_FIELDS, STATE_FIELDS
from local_sim.definition.graph import loops, reachable
from local_sim.definition.nodes import plain_value
from local_sim.definition.reading import read_root


def agree(text: str | bytes) -> None:
    """The checker and the loader say the same about any text."""
    report = check_flow(text, "f.yaml", functions={"pay": ("X",)})
    assert json.loads(render_json([report]))["flows"][0]["source"] == "f.yaml"
    assert json.loads(render_sarif([report]))["version"] == "2.1.0"
    assert render_text([report]).endswith("\n")
    assert all(finding.position.line >= 1 and finding.position.column >= 1 for finding in report.findings)
    if report.errors:
        with pytest.raises(DefinitionError) as caught:
            load_flow(text, "f.yaml")
        assert caught.value.findings == report.errors
        return
    flow = load_flow(text, "f.yaml")
    assert flow.root.start_at in flow.root.states


names = st.sampled_from(["a", "b", "c", "done", "", " x ", "中文", "No", "1"])
expressions = st.sampled_from(
    [
        "$Input.a",
        "$Output",
        "$Item.x",
        "format('{}', 1)",
        "uuid()",
        "(",
        "$Input.a > 1",
        "$Context.Current.TaskToken",
        "$",
        "length($Input)",
    ]
)
scalars = st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats() | st.text(max_size=8) | names | expressions
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | st.just("x.$"), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(sorted({field for known in STATE_FIELDS.values() for field in known} | {"Foo", "next"}))


def state(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    rule = st.fixed_dictionaries(
        {"Errors": st.lists(st.sampled_from(["FnF.ALL", "X", "FC.Unknown"]), max_size=2)},
        optional={
            "Next": names,
            "MaxAttempts": st.integers(-1, 4000),
            "IntervalSeconds": st.integers(-1, 9),
            "Foo": scalars,
        },
    )
    scope = st.fixed_dictionaries({"StartAt": names, "States": st.lists(inner, max_size=2)})
    branch = st.fixed_dictionaries({"Condition": expressions, "Next": names}) | scope
    return st.fixed_dictionaries(
        {"Type": st.sampled_from([*STATE_FIELDS, "Pas"]), "Name": names},
        optional={
            "Next": names,
            "End": st.booleans(),
            "Branches": st.lists(branch, max_size=2),
            "Default": names,
            "Processor": scope,
            "ItemsPath": expressions,
            "Retry": st.lists(rule, max_size=2),
            "Catch": st.lists(rule, max_size=2),
            "Action": st.sampled_from(["FC:InvokeFunction", "HTTP:Request", "x"]),
            "Parameters": st.dictionaries(st.sampled_from(["resourceArn", "body.$", "invocationType"]), scalars),
            "OutputConstructor": st.dictionaries(st.sampled_from(["x.$", "y", "z"]), values, max_size=2),
            "Seconds": st.integers(-1, 400),
        },
    )


flows = st.fixed_dictionaries(
    {
        "Type": st.just("StateMachine"),
        "StartAt": names,
        "States": st.lists(state(state(st.just({"Type": "Succeed", "Name": "a"}))), max_size=4),
    },
    optional={"SpecVersion": st.just("v1"), "Name": names, "Timeout": st.integers(-1, 10**9)},
)
rough = st.dictionaries(
    st.sampled_from(FLOW_FIELDS), values | st.lists(st.dictionaries(fields, values, max_size=6), max_size=3), max_size=7
)


@settings(max_examples=200)
@given(flows)
def test_nested_definitions_are_loaded_or_refused(flow: dict[str, Any]) -> None:
    agree(json.dumps(flow, ensure_ascii=False))


@given(rough)
def test_broken_definitions_are_findings(flow: dict[str, Any]) -> None:
    agree(json.dumps(flow))


pieces = [
    "Type: StateMachine",
    "States:",
    "- ",
    "  ",
    "\n",
    "Name: a",
    "[",
    "]",
    "{",
    "}",
    ": ",
    ",",
    "&x ",
    "*x",
    "<<: ",
]
pieces += ["? ", "| ", "> ", "'", '"', "#", "!a ", "%", "\t", "---\n", "a", "1e3", "yes", "~", "\\"]


@given(st.binary(max_size=300))
def test_random_bytes_are_findings(data: bytes) -> None:
    agree(data)


@pytest.mark.soak
@settings(max_examples=30_000)
@given(st.binary(max_size=2_000) | st.lists(st.sampled_from(pieces), max_size=400).map("".join))
def test_random_bytes_for_long_are_findings(data: bytes | str) -> None:
    agree(data)


@given(st.text(max_size=200))
def test_random_text_is_findings(text: str) -> None:
    agree(text)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(pieces), max_size=40).map("".join))
def test_random_pieces_of_yaml_are_findings(text: str) -> None:
    agree(text)


@given(flows, st.integers(0, 400), st.text(max_size=3))
def test_a_flow_with_a_damaged_place_is_findings(flow: dict[str, Any], at: int, patch: str) -> None:
    text = json.dumps(flow, ensure_ascii=False, indent=1)
    agree(text[:at] + patch + text[at + 1 :])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    collector = Collector("f.json")
    root = read_root(text, collector)
    assert root is not None
    assert plain_value(root) == json.loads(text)


graphs = st.integers(1, 7).flatmap(
    lambda size: st.fixed_dictionaries(
        {str(node): st.lists(st.integers(0, size - 1).map(str), max_size=3) for node in range(size)}
    )
)


@given(graphs)
def test_loops_are_exactly_the_nodes_that_reach_themselves(graph: dict[str, list[str]]) -> None:
    on_loops = {node for loop in loops(graph) for node in loop}
    assert on_loops == {node for node in graph if node in reachable(graph, graph[node])}
    for loop in loops(graph):
        for node in loop:
            assert loop <= reachable(graph, graph[node])
