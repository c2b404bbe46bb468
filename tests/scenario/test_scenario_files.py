"""Scenario files: what they say is played and compared; what they say wrongly is told with its place."""

from __future__ import annotations

import json
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_kit import project_with

from local_sim.cli.app import run_app
from local_sim.errors import LocalSimError
from local_sim.scenario import BadScenario, read_scenarios

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
flow: small
input: {n: 1}
mocks:
  Draft: [{raise: Busy}, {return: {text: t}, after: 3s}]
  Ask: {return: {}}
scenarios:
  - name: yes ends well
    decisions: [{answer: "yes", after: 1h}]
    expect: {status: Succeeded, path: [Draft, Ask, Route, Done], calls: {Draft: 2}, duration: 1h8s}
  - name: no does not
    decisions: [{state: Ask, answer: {decision: "no"}}]
    expect: {status: Failed, error: Sorry, visits: [Route], avoids: [Done]}
  - name: nobody answers
    expect: {status: Failed, error: Late}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project_with(tmp_path)
    (tmp_path / "scenarios").mkdir()
    return tmp_path


def write(folder: Path, text: str, name: str = "one.yaml") -> Path:
    file = folder / "scenarios" / name
    file.write_text(text, encoding="utf-8")
    return file


def command(*arguments: str) -> int:
    try:
        return run_app(["test", *arguments])
    except LocalSimError as error:
        print(error)
        return 2


def test_scenarios_pass_and_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, GOOD)
    assert command("--project", str(folder)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "✓ yes ends well",
        "✓ no does not",
        "✓ nobody answers",
        "",
        "3 passed, 0 failed",
    ]


@pytest.mark.parametrize(
    ("expect", "problem"),
    [
        ("{status: Failed}", "status: expected Failed, was Succeeded"),
        (
            "{output: {decision: no}}",
            'output: expected {"decision": "no"}, was {"decision": "yes"}; they part at .decision',
        ),
        ("{contains: {decision: no}}", "output: expected to contain"),
        ("{error: X}", "error: expected X, was none"),
        ("{path: [Draft, Route]}", "path: step 2 expected Route, was Ask"),
        ("{path: [Draft, Ask, Route]}", "path: step 4 expected the end, was Done"),
        ("{visits: [Sorry]}", "visits: Sorry was never entered"),
        ("{avoids: [Done]}", "avoids: Done was entered"),
        ("{calls: {Draft: 1}}", "calls: expected Draft 1 times, was 2"),
        ("{duration: 1h}", "duration: expected 3600 s, was 3608 s"),
        ("{waiting: [Ask]}", "waiting: expected ['Ask'], was []"),
        ("{history: none.jsonl}", "there is no golden history"),
    ],
)
def test_what_is_otherwise_than_expected_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], expect: str, problem: str
) -> None:
    text = GOOD.split("    expect")[0] + f"    expect: {expect}\n"
    file = write(folder, text)
    assert command("--project", str(folder)) == 1
    out = capsys.readouterr().out
    assert f"✗ yes ends well  ({file}:7:5)" in out
    assert problem in out
    assert "0 passed, 1 failed" in out


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("flow: small", "flwo: small", "1:1", "unknown key 'flwo'; did you mean flow?"),
        ("{raise: Busy}", "{rais: Busy}", "4:12", "unknown key 'rais'; did you mean raise?"),
        ("after: 3s", "after: soon", "4:53", "after: a duration is written like"),
        ("status: Succeeded", "status: Good", "9:22", "status: must be 'Succeeded'"),
        ("name: no does not", "name: yes ends well", "10:5", "is given twice, first at"),
        ("{raise: Busy}", "{}", "4:11", "give exactly one of return, raise and never"),
        ("mocks:\n", "mocks: [\n", "", ""),
        (GOOD, "", "", "the file is empty"),
        ("flow: small\n", "", "6:5", "names no flow"),
        ("input: {n: 1}", "input: none.json", "7:5", "cannot be read"),
        (
            '    decisions: [{answer: "yes", after: 1h}]\n    expect',
            "    decisions: 3\n    expect",
            "8:16",
            "decisions: ",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, place: str, problem: str
) -> None:
    file = write(folder, GOOD.replace(old, new))
    assert command("--project", str(folder)) == 2
    assert f"{file}:{place}" in (out := capsys.readouterr().out) or not place
    assert problem in out


def test_a_scenario_that_cannot_be_played_gives_two_and_the_others_still_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "  - {name: odd, mocks: {Nobody: {return: 1}}, expect: {}}\n  - {name: gone, flow: none, expect: {}}\n"
    write(folder, GOOD + bad)
    assert command("--project", str(folder)) == 2
    out = capsys.readouterr().out
    assert "has no such state" in out
    assert "there is no flow 'none'" in out
    assert "3 passed, 2 failed" in out


@pytest.mark.parametrize("arguments", [["nowhere"], ["-k", "xyz"]])
def test_no_scenario_at_all_is_bad_input(folder: Path, arguments: list[str]) -> None:
    write(folder, GOOD)
    assert command(*arguments, "--project", str(folder)) == 2


def test_coverage_threshold_junit_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, GOOD)
    report = folder / "out" / "junit.xml"
    assert command("--project", str(folder), "--fail-under", "99", "--junit", str(report)) == 1
    assert "small: 81.2 % covered" in capsys.readouterr().out
    assert command("--project", str(folder), "--fail-under", "81", "--coverage") == 0
    assert "Draft: Retry of Busy used up" in capsys.readouterr().out
    assert command("--project", str(folder), "--json", "-k", "yes") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["scenarios"][0] == {
        "name": "yes ends well",
        "flow": "small",
        "place": f"{folder}/scenarios/one.yaml:7:5",
        "passed": True,
        "problems": [],
    }
    assert document["coverage"][0]["kinds"]["retry"] == {"covered": 1, "all": 2}
    suite = ET.parse(report).getroot()
    assert suite.attrib["tests"] == "3"
    assert [case.attrib["name"] for case in suite.iter("testcase")] == [
        "yes ends well",
        "no does not",
        "nobody answers",
    ]


def test_a_failure_is_in_the_junit_report(folder: Path) -> None:
    write(folder, GOOD.replace("error: Sorry", "error: Other"))
    report = folder / "junit.xml"
    assert command("--project", str(folder), "--junit", str(report)) == 1
    (failure,) = ET.parse(report).getroot().iter("failure")
    assert failure.attrib["message"] == "error: expected Other, was Sorry"


def test_golden_histories_of_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, GOOD.replace("duration: 1h8s", "history: golden/yes.jsonl"))
    assert command("--project", str(folder), "--update-golden") == 0
    assert command("--project", str(folder)) == 0
    golden = folder / "scenarios" / "golden" / "yes.jsonl"
    golden.write_text(golden.read_text().replace('"n": 1', '"n": 2', 1))
    assert command("--project", str(folder)) == 1
    assert "the history differs" in capsys.readouterr().out


def test_the_shipped_scenarios_pass_and_cover_opc_minimal_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--project", str(ROOT), "--json") == 0
    flows = {flow["flow"]: flow for flow in json.loads(capsys.readouterr().out)["coverage"]}
    assert flows["opc_minimal"]["missing"] == []
    assert flows["content_review"]["percent"] > 55


KEYS = st.sampled_from(["flow", "input", "mocks", "scenarios", "name", "expect", "decisions", "Draft", "return", "x"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["small", "1h"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=150, deadline=None)
@given(VALUES | st.text(max_size=60))
def test_any_file_is_scenarios_or_one_bad_scenario(value: Any) -> None:
    text = value if isinstance(value, str) else yaml.safe_dump(value, allow_unicode=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "any.yaml"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            found: object = read_scenarios(file)
        except BadScenario as error:
            found = str(file) in str(error)
        assert found
