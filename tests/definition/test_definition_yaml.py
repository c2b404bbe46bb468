"""YAML and JSON traps (A26, A27, A49, A53, C22, C23, C24, C60, page 10)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from definition_kit import check, one, states

from local_sim.definition import DefinitionError, load_flow
from local_sim.definition.collector import Collector
from local_sim.definition.nodes import plain_value
from local_sim.definition.reading import read_root


def read(text: str | bytes) -> tuple[Any, list[str]]:
    collector = Collector("flow.yaml")
    root = read_root(text, collector)
    return None if root is None else plain_value(root), collector.report().codes()


@pytest.mark.parametrize(
    ("written", "value", "codes"),
    [
        ("1", 1, []),
        ("-1", -1, []),
        ("+1", 1, []),
        ("0", 0, []),
        ("1.5", 1.5, []),
        ("-.5", -0.5, []),
        ("1.", 1.0, []),
        ("1.0e3", 1000.0, ["SK012"]),
        ("1e3", 1000.0, ["SK012"]),
        ("0x1F", 31, []),
        ("0o17", 15, ["SK012"]),
        ("017", 17, ["SK012"]),
        ("08", 8, ["SK012"]),
        ("1_000", "1_000", ["SK012"]),
        ("0b11", "0b11", ["SK012"]),
        ("1:30", "1:30", ["SK012"]),
        ("2024-01-31", "2024-01-31", ["SK012"]),
        ("2024-01-31T10:00:00Z", "2024-01-31T10:00:00Z", ["SK012"]),
        ("yes", "yes", ["SK012"]),
        ("No", "No", ["SK012"]),
        ("on", "on", ["SK012"]),
        ("OFF", "OFF", ["SK012"]),
        ("y", "y", ["SK012"]),
        ("NO", "NO", ["SK012"]),
        ("Nope", "Nope", []),
        ("true", True, []),
        ("False", False, []),
        ("TRUE", True, []),
        ("tRue", "tRue", []),
        ("null", None, []),
        ("~", None, []),
        ("", None, []),
        ("nULL", "nULL", []),
        ('"yes"', "yes", []),
        ("'017'", "017", []),
        ("'1'", "1", []),
        ("12345678901234567890123456789", 12345678901234567890123456789, []),
        ("1.2.3", "1.2.3", []),
        ("=", "=", []),
        ("$Input.a", "$Input.a", []),
        (".inf", ".inf", ["SK014"]),
        ("-.INF", "-.INF", ["SK014"]),
        (".nan", ".nan", ["SK014"]),
        ("1e999", "1e999", ["SK014"]),
        ("9" * 5000, "9" * 5000, ["SK014"]),
        ("!!str 1", "1", []),
        ("!!int '1'", 1, []),
        ("!!float 1", 1.0, []),
        ("!!int x", "x", ["SK014"]),
        ("!!bool 1", "1", ["SK014"]),
        ("! 1", "1", []),
        ("!Ref x", "x", ["SK009"]),
        ("!!binary aGk=", "aGk=", ["SK009"]),
        ("!!timestamp 2024-01-31", "2024-01-31", ["SK009"]),
        ("!!set {a, b}", {"a": None, "b": None}, ["SK009"]),
        ("|\n  a\n  b", "a\nb\n", []),
        (">-\n  a\n  b", "a b", []),
        ("[1, two, {three: 3}]", [1, "two", {"three": 3}], []),
    ],
)
def test_a_value_is_read_by_the_core_schema(written: str, value: Any, codes: list[str]) -> None:
    """A26."""
    root, found = read(f"key: {written}\n")
    assert root == {"key": value}
    assert type(root["key"]) is type(value)
    assert found == codes


def test_names_and_targets_keep_the_written_text() -> None:
    """C22."""
    flow = load_flow(
        "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: On\nStates:\n"
        "  - {Type: Pass, Name: On, Next: no}\n"
        "  - {Type: Pass, Name: no, OutputConstructor: {on: yes, country: NO}, Next: Yes}\n"
        "  - {Type: Succeed, Name: Yes}\n"
    )
    assert list(flow.root.states) == ["On", "no", "Yes"]
    template = flow.root.states["no"].output_constructor
    assert template is not None
    assert template.constant == {"on": "yes", "country": "NO"}


@pytest.mark.parametrize("name", ["1", "true", "null", "1.5", "~"])
def test_a_name_that_is_no_text_is_refused_with_the_advice_to_quote(name: str) -> None:
    text = states(f"- Type: Succeed\n  Name: {name}").replace(f"StartAt: {name}", "StartAt: a")
    assert one(check(text), "SK103").fix == f'write "{name}"'


def test_two_retry_blocks_are_refused_with_both_lines() -> None:
    """C23."""
    text = states("- Type: Task\n  Name: a\n  Action: A:B\n  Retry: []\n  End: true\n  Retry: []")
    finding = one(check(text), "SK006")
    assert finding.position.line == 11
    assert finding.related is not None
    assert finding.related.line == 9
    assert "first in line 9, column 5" in finding.message


@pytest.mark.parametrize(
    ("text", "line", "first"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", 2, 2),
        ("a: &x {p: 1}\nb:\n  <<: *x\n  p: 2\n", 4, 1),
        ("a: &x {p: 1}\nb: &y {p: 2}\nc:\n  <<: [*x, *y]\n", 1, 2),
        ('{"a": 1,\n "a": 2}', 2, 1),
        ('a: 1\n"a": 2\n', 2, 1),
    ],
)
def test_a_duplicate_key_is_refused_with_both_places(text: str, line: int, first: int) -> None:
    """C23: in bodies and through merges too."""
    collector = Collector("f")
    read_root(text, collector)
    (finding,) = [one for one in collector.report().findings if one.code == "SK006"]
    assert finding.position.line == line
    assert finding.related is not None
    assert finding.related.line == first


def test_a_merge_without_overlap_is_taken_and_noted() -> None:
    value, codes = read("a: &x {p: 1}\nb: &z {r: 3}\nc:\n  <<: [*x, *z]\n  q: 2\n")
    assert value["c"] == {"q": 2, "p": 1, "r": 3}
    assert codes == ["SK013"]


def test_an_alias_stands_for_its_value() -> None:
    flow = load_flow(
        states(
            "- {Type: Pass, Name: a, OutputConstructor: &x {k.$: $Input.k}, Next: b}\n"
            "- {Type: Pass, Name: b, OutputConstructor: *x, End: true}"
        )
    )
    assert flow.root.states["b"].output_constructor is not None


def test_same_names_in_different_scopes_are_only_noted() -> None:
    """C23, A52."""
    text = states(
        "- Type: Parallel\n  Name: p\n  Branches:\n    - StartAt: x\n      States: [{Type: Succeed, Name: x}]\n"
        "    - StartAt: x\n      States: [{Type: Succeed, Name: x}]\n  End: true"
    )
    assert check(text).codes() == ["SK208"]
    assert check(text).ok


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_byte_order_mark_and_line_endings_are_fine(ending: str, mark: str) -> None:
    """C24."""
    text = mark + states("- {Type: Pass, Name: a, Next: b}\n- {Type: Succeed, Name: b}").replace("\n", ending)
    for given in (text, text.encode()):
        assert check(given).findings == ()


def test_a_tab_is_named_with_its_line() -> None:
    """C24."""
    finding = one(check("Type: StateMachine\nStates:\n\t- {Type: Succeed, Name: a}\n"), "SK004")
    assert (finding.position.line, finding.position.column) == (3, 1)
    assert "tab" in finding.message


def test_a_missing_blank_after_condition_is_pointed_at() -> None:
    """C60: with a field after it, and alone."""
    text = states(
        '- Type: Choice\n  Name: a\n  Branches:\n    - Condition:$Input.x=="a"\n'
        "      Next: b\n  Default: b\n- {Type: Succeed, Name: b}"
    )
    finding = one(check(text), "SK005")
    assert (finding.position.line, finding.position.column) == (9, 9)
    assert finding.fix == "write 'Condition: $Input.x==\"a\"'"
    alone = one(check(re.sub(r"\n +Next: b", "", text)), "SK103")
    assert alone.position.line == 9
    assert alone.fix == "put a blank after 'Condition:'"


@pytest.mark.parametrize("text", ["Type: Wait // wait", "Type: Wait\n  Name: w // name"])
def test_slashes_are_no_comment(text: str) -> None:
    """Page 10: the Japanese edition's Wait sample."""
    assert "SK016" in check(states(f"- {text}\n  Seconds: 1\n  End: true")).codes()


def test_an_address_is_no_comment() -> None:
    text = states(
        "- {Type: Task, Name: a, Action: 'HTTP:Request', Parameters: {url: http://x//y, method: GET}, End: true}"
    )
    assert check(text).findings == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "SK011"),
        ("# only a comment\n", "SK011"),
        ("---\n...\n", "SK103"),
        ("null", "SK103"),
        ("[]", "SK103"),
        ("text", "SK103"),
        ("a: 1\n---\nb: 2\n", "SK010"),
        ("a: [1\nb: 2", "SK003"),
        ("a: 'x", "SK003"),
        ("a: b: c", "SK003"),
        ("a: @x", "SK003"),
        ("%FOO\n--- a", "SK003"),
        ("a: *nope", "SK008"),
        ("a: &a [*a]", "SK008"),
        ("? [1]\n: 2", "SK017"),
        ("? {a: 1}\n: 2", "SK017"),
        ("a: \0", "SK001"),
        ("a: \x07", "SK001"),
        (b"a: \xff\xfe", "SK001"),
        (b"\xff\xfea\x00", "SK001"),
        ("x" * 1_048_577, "SK002"),
        ("中" * 400_000, "SK002"),
        ("[" * 10_000, "SK007"),
        ("[" * 10_000 + "]" * 10_000, "SK007"),
        ("{a: " * 10_000, "SK007"),
        ('{"a":' * 10_000, "SK007"),
        ("- " * 10_000 + "x", "SK007"),
        ("\n".join(" " * level + "a:" for level in range(1_200)), "SK007"),
        ('{"a": 1,}', "SK015"),
        ('{"a": "\x01"}', "SK015"),
        ('{"a": "\\q"}', "SK015"),
        ('{"a" 1}', "SK015"),
        ('{"a": 1} x', "SK015"),
        ('{"a": tru}', "SK015"),
        ('{"a": [1 2]}', "SK015"),
        ('{"a": "\\ud800"}', "SK014"),
        ('{"a": 1e999}', "SK014"),
        ("version: v1\ntype: flow\nsteps: []\n", "SK105"),
        ("StartAt: a\nStates:\n  a: {Type: Pass, End: true}\n", "SK106"),
        ("id: x\nspecVersion: '0.8'\nstates: []\n", "SK106"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_bad_text_is_one_finding_and_never_a_crash(text: str | bytes, code: str) -> None:
    assert code in check(text).codes()
    with pytest.raises(DefinitionError):
        load_flow(text)


def test_fifty_megabytes_are_refused_at_once() -> None:
    finding = one(check(b"a" * 50_000_000), "SK002")
    assert finding.message == "the definition has 50000000 bytes, at most 1048576 are allowed"


def test_an_alias_bomb_is_refused() -> None:
    text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    assert read(text) == (None, ["SK008"])


def test_an_alias_chain_that_is_too_deep_is_refused() -> None:
    text = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 1_200))
    assert read(text) in ((None, ["SK007"]), (None, ["SK008"]))


JSON = (
    "{\n"
    '\t"Type": "StateMachine", "SpecVersion": "v1", "Name": "\\ud83d\\ude00", "StartAt": "a",\n'
    ' "States": [{"Type": "Pass",\n'
    ' "Name": "a", "OutputConstructor": {"x.$": "$Input.y", "u": "http:\\/\\/x"}, "Nxt": "b"}]}'
)


def test_json_is_read_with_places_escapes_and_tabs() -> None:
    """Language page 2."""
    report = check(JSON)
    finding = one(report, "SK101")
    assert (finding.position.line, finding.position.column) == (4, 76)
    flow = load_flow(JSON.replace('"Nxt": "b"', '"End": true'))
    assert flow.name == "😀"
    state = flow.root.states["a"]
    assert state.output_constructor is not None
    ((_, expression),) = state.output_constructor.expressions
    assert (expression.position.line, expression.position.column) == (4, 45)


def test_a_flow_style_map_that_is_no_json_is_yaml() -> None:
    flow = load_flow("{Type: StateMachine, SpecVersion: v1, Name: d, StartAt: a, States: [{Type: Succeed, Name: a}]}")
    assert list(flow.root.states) == ["a"]


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("x.$: $Inptu.y", 10),
        ('x.$: "$Inptu.y"', 11),
        ("x.$: '$Inptu.y'", 11),
        ("x.$: format('{}', $Inptu)", 23),
        ("x.$: >-\n      $Inptu.y", 10),
    ],
)
def test_a_fault_inside_an_expression_has_its_own_column(line: str, column: int) -> None:
    text = states(f"- Type: Pass\n  Name: a\n  OutputConstructor:\n    {line}\n  End: true")
    finding = one(check(text), "SK302")
    assert (finding.position.line, finding.position.column) == (9, column + 2)


def test_a_missing_file_is_unreadable() -> None:
    from local_sim.definition import UnreadableFlowError, load_flow_file

    with pytest.raises(UnreadableFlowError) as caught:
        load_flow_file("no/such/flow.yaml")
    assert "the file cannot be read" in str(caught.value)


def test_half_a_surrogate_pair_in_a_text_is_a_finding() -> None:
    assert check("a: \ud800").codes() == ["SK001"]


def test_notes_never_crowd_out_an_error() -> None:
    many = ", ".join("yes" for _ in range(3_000))
    text = states(f"- {{Type: Pass, Name: a, OutputConstructor: {{x: [{many}]}}, Next: nowhere}}")
    report = check(text)
    assert "SK201" in report.codes()
    assert len(report.findings) < 1_100
    with pytest.raises(DefinitionError):
        load_flow(text)


def test_ten_thousand_wrong_targets_end_quickly_in_a_bounded_report() -> None:
    """Comparing every misspelt name with every state would take minutes."""
    head = "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: s0\nStates:\n"
    text = head + "".join(f"  - {{Type: Pass, Name: s{n}, Next: t{n}}}\n" for n in range(10_000))
    assert len(check(text).errors) == 1_000
