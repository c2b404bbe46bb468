"""The deploy group of docs/cases.md: faults that other people met, each with what they tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from template_kit import GOOD, found, place_of, with_props, write
from typer.testing import CliRunner

from scripts.check_deploy import app
from scripts.checking import check


def test_a_variable_given_twice_is_named_with_both_lines(tmp_path: Path) -> None:  # C47
    text = with_props("environmentVariables:\n  STAGE: a\n  STAGE: b")
    (finding,) = found(tmp_path, text)
    assert (finding.rule, place_of(finding)) == ("SD02", (26, 9))
    assert finding.message == "key 'STAGE' is given twice, first at line 25"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "resource 'one' lacks component"),
        ("    component:\n", "component of resource 'one' must be text, not a null"),
        ('    component: ""\n', "component of resource 'one' is empty"),
        ("    component: [fc3]\n", "component of resource 'one' must be text, not a list"),
    ],
)
def test_a_missing_component_names_the_resource(line: str, message: str, tmp_path: Path) -> None:  # C48
    finding = found(tmp_path, GOOD.replace("    component: fc3\n", line))[0]
    assert (finding.rule, finding.message) == ("SD05", message)


def test_only_the_file_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # C49
    (tmp_path / "template.yml").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 2
    assert "there is no s.yaml here" in result.output
    assert "there is template.yml" in result.output


@pytest.mark.parametrize(
    ("props", "rule", "message"),
    [
        ("layers: acs:fc:cn-hangzhou:official:layers/x", "SD07", "layers of props of resource 'one' must be a list"),
        ("Timeout: 5", "SD04", "unknown key 'Timeout' in props of resource 'one'; did you mean 'timeout'?"),
        ('timeout: "5"', "SD07", "must be a number, not a text; take the quotes away"),
        ("memory_size: 512", "SD04", "did you mean 'memorySize'?"),
        ("environmentVariables: {N: 1}", "SD11", "must be text, not a number; quote it"),
    ],
)
def test_wrong_keys_and_shapes_are_found_here(props: str, rule: str, message: str, tmp_path: Path) -> None:  # C50
    (finding,) = found(tmp_path, with_props(props))
    assert finding.rule == rule
    assert message in finding.message
    assert finding.place.line > 23


FLOW = """\
Type: StateMachine
SpecVersion: v1
Name: hello
StartAt: One
States:
  - Type: Pass
    Name: One
    End: true
"""


def flow_resource(definition: str) -> str:
    props = f"    props:\n      region: cn-hangzhou\n      name: hello\n      definition: {definition}\n"
    return GOOD + "  hello:\n    component: fnf\n" + props


def test_a_flow_given_by_path_is_checked(tmp_path: Path) -> None:  # C51
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "hello.yaml").write_text(FLOW, encoding="utf-8")
    assert found(tmp_path, flow_resource("./mine/hello.yaml"), flows=True) == []
    (tmp_path / "mine" / "hello.yaml").write_text(FLOW.replace("StartAt: One", "StartAt: Two"), encoding="utf-8")
    (finding,) = found(tmp_path, flow_resource("./mine/hello.yaml"), flows=True)
    assert finding.rule == "SD20"
    assert finding.place.file.endswith("mine/hello.yaml")
    assert finding.place.line == 4


def test_a_flow_that_is_not_there_or_outside_is_an_error(tmp_path: Path) -> None:  # C51
    project = tmp_path / "project"
    project.mkdir()
    (finding,) = found(project, flow_resource("./nowhere.yaml"), flows=True)
    assert finding.message == "definition: there is no file ./nowhere.yaml"
    (tmp_path / "hello.yaml").write_text(FLOW, encoding="utf-8")
    (finding,) = found(project, flow_resource("../hello.yaml"), flows=True)
    assert "lies outside the project" in finding.message


def test_an_inline_flow_must_be_whole(tmp_path: Path) -> None:  # C51
    (finding,) = found(tmp_path, flow_resource("{Type: StateMachine, StartAt: One}"), flows=True)
    assert finding.message == "the inline definition lacks States"


def test_the_package_carries_no_flow_but_the_flows_are_checked_where_they_are(tmp_path: Path) -> None:  # C51
    write(tmp_path)
    (tmp_path / "flows").mkdir()
    bad = FLOW.replace("Type: Pass", "Type: Pass\n    Comment: ${vars.region}")
    (tmp_path / "flows" / "hello.yaml").write_text(bad, encoding="utf-8")
    rules = {finding.rule for finding in check(tmp_path / "s.yaml", {}, code=False)}
    assert "SD21" in rules


@pytest.mark.parametrize(
    ("handlers", "handler", "message"),
    [
        ("import no_such_thing\ndef one(e, c): ...\n", "index.one", "module 'no_such_thing' is missing"),
        ("def one(e, c):\n    match = = 1\n", "index.one", "syntax error at"),
        ("def one(e, c): ...\n", "index.missing", "index.py defines no function 'missing'"),
        ("def one(e, c): ...\n", "index", "handler 'index' is not file.function"),
        ("raise SystemExit(3)\n", "index.one", "SystemExit: 3"),
    ],
)
def test_a_handler_is_imported_before_it_is_deployed(
    handlers: str, handler: str, message: str, tmp_path: Path
) -> None:  # C52
    file = write(tmp_path, GOOD.replace("index.one", handler), handlers)
    (finding,) = check(file, {}, flows=False)
    assert finding.rule == "SD12"
    assert message in finding.message
    assert finding.place.line == 23


def test_json_carries_place_and_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, GOOD.replace("cpu: 0.5", "cpu: 0.05"))
    result = CliRunner().invoke(app, ["--json", "--no-code", "--no-flows"])
    assert result.exit_code == 1
    (finding,) = json.loads(result.output)["findings"]
    assert {key: finding[key] for key in ("file", "line", "column", "rule", "severity")} == {
        "file": "s.yaml",
        "line": 11,
        "column": 10,
        "rule": "SD09",
        "severity": "error",
    }


def test_a_template_that_is_no_yaml_gives_2_and_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "edition: 3.0.0\nname: [a\n")
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 2
    assert result.output.startswith("s.yaml:3:1: error SD01: not YAML")
