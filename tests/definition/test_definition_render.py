"""Reports as text, JSON and SARIF, and the command `local-sim check`."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from definition_kit import check, states

from local_sim.cli.app import run_app
from local_sim.definition import render_json, render_sarif, render_text

BAD = states("- {Type: Pass, Name: a, Next: bb}\n- {Type: Fail, Name: b, Detail: d}")
GOOD = states("- {Type: Succeed, Name: a}")
NOTED = states("- {Type: Succeed, Name: No}")


def test_text_has_place_code_message_and_fix() -> None:
    assert render_text([check(BAD)]) == (
        "flow.yaml:6:33: error SK201 [unknown-target] Next leads to 'bb', and there is no such state in the flow\n"
        "    fix: did you mean b?\n"
        "flow.yaml:7:24: note SK113 [fail-without-code] the Fail 'b' has no Code (A50)\n"
        "    fix: add 'Code: OrderInvalid'\n"
        "flow.yaml:7:24: warning SK203 [unreachable-state] nothing leads to the Fail 'b'\n"
        "    fix: lead a Next to it, or remove it; the flow starts at 'a'\n"
        "1 flow checked: 1 error, 1 warning, 1 note\n"
    )


def test_text_of_clean_flows_says_so() -> None:
    assert render_text([check(GOOD), check(GOOD)]) == "2 flows checked: nothing found\n"


def test_json_has_everything_a_tool_needs() -> None:
    (flow,) = json.loads(render_json([check(BAD)]))["flows"]
    assert (flow["source"], flow["ok"]) == ("flow.yaml", False)
    assert flow["findings"][0] == {
        "code": "SK201",
        "rule": "unknown-target",
        "severity": "error",
        "line": 6,
        "column": 33,
        "message": "Next leads to 'bb', and there is no such state in the flow",
        "text": "bb",
        "fix": "did you mean b?",
        "assumption": "",
    }


def test_json_names_the_second_place() -> None:
    twice = states("- {Type: Succeed, Name: a}\n- {Type: Succeed, Name: a}")
    (flow,) = json.loads(render_json([check(twice)]))["flows"]
    assert flow["findings"][0]["related"] == {"line": 6, "column": 27}


def test_sarif_points_at_rules_and_regions() -> None:
    log = json.loads(render_sarif([check(BAD)]))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["SK113", "SK201", "SK203"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "flow.yaml"},
        "region": {"startLine": 6, "startColumn": 33, "snippet": {"text": "bb"}},
    }
    assert run["results"][0]["message"]["text"].endswith("Fix: did you mean b?.")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.local-sim]\nflows = 'flows'\n", encoding="utf-8")
    (tmp_path / "flows").mkdir()
    for name, text in (("bad", BAD), ("good", GOOD), ("noted", NOTED)):
        (tmp_path / "flows" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "flows" / "broken.txt").write_bytes(b"\xff")
    return tmp_path


def run(*arguments: object) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run_app(["check", *map(str, arguments)])
    return code, out.getvalue()


@pytest.mark.parametrize(
    ("names", "options", "status"),
    [
        (["good.yaml"], [], 0),
        (["noted.yaml"], [], 0),
        (["noted.yaml"], ["--strict"], 1),
        (["bad.yaml"], [], 1),
        (["bad.yaml"], ["--format", "json"], 1),
        (["bad.yaml"], ["--format", "sarif"], 1),
        (["good.yaml", "bad.yaml"], [], 1),
        (["missing.yaml"], [], 2),
        (["bad.yaml", "missing.yaml"], [], 2),
        (["broken.txt"], [], 1),
        (["good.yaml"], ["--format", "xml"], 2),
        ([""], [], 1),
    ],
)
def test_the_exit_status_tells_findings_from_unreadable_input(
    project: Path, names: list[str], options: list[str], status: int
) -> None:
    code, _ = run("--project", project, *options, *(project / "flows" / name for name in names))
    assert code == status


def test_a_folder_stands_for_its_flows(project: Path) -> None:
    code, out = run("--project", project, project / "flows")
    assert code == 1
    assert out.endswith("3 flows checked: 1 error, 1 warning, 3 notes\n")
    assert run("--project", project) == (code, out)


def test_functions_and_their_errors_come_from_the_project(project: Path) -> None:
    (project / "handler.py").write_text("def handler(event, context): return 1\n", encoding="utf-8")
    (project / "s.yaml").write_text(
        "edition: 3.0.0\nname: demo\naccess: default\nresources:\n"
        "  pay:\n    component: fc3\n    props:\n      region: cn-hangzhou\n"
        "      functionName: pay\n      runtime: python3.12\n      handler: handler.handler\n      code: ./\n",
        encoding="utf-8",
    )
    with (project / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("[tool.local-sim.errors]\npay = ['CardDeclined']\n")
    text = "- {Type: Task, Name: t, Action: 'FC:InvokeFunction', End: true, Parameters: {invocationType: Sync, "
    text += "resourceArn: 'acs:fc:::functions/%s'}}"
    flow = project / "one.yaml"
    flow.write_text(states(text % "pay"), encoding="utf-8")
    assert "SK405" in run("--project", project, flow)[1]
    flow.write_text(states(text % "pya"), encoding="utf-8")
    assert "did you mean pay?" in run("--project", project, flow)[1]
