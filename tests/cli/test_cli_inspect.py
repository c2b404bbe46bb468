"""`history`, `diff`, `graph`, `convert`, `check`: what they show, and that bad input is status 2."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from projects import flow_text, write_project

from local_sim.cli import main

LAPS = """\
- {Type: Pass, Name: Begin, OutputConstructor: {n: 0}, Next: Sleep}
- {Type: Wait, Name: Sleep, Seconds: 3, OutputConstructor: {n.$: 'intAdd($Input.n, 1)'}, Next: Again}
- {Type: Choice, Name: Again, Branches: [{Condition: $Input.n < 2, Next: Sleep}], Default: Both}
- Type: Parallel
  Name: Both
  Branches:
    - {StartAt: Short, States: [{Type: Wait, Name: Short, Seconds: 2, End: true}]}
    - {StartAt: Both, States: [{Type: Wait, Name: Both, Seconds: 5, End: true}]}
  End: true
"""
ASK = """\
- Type: Task
  Name: Review
  Action: X:Ask
  TaskMode: WaitForCustomCallback
  Parameters: {token.$: $Context.Current.TaskToken}
  Timeout: 60
  OutputConstructor: {decision.$: $Output.decision, note.$: $Output.note}
  Next: Route
- {Type: Choice, Name: Route, Branches: [{Condition: '$Input.decision == "more"', Next: End}], Default: End}
- {Type: Succeed, Name: End}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path, "def f(e, c):\n    return ''\n", ["f"])
    (tmp_path / "flows" / "laps.yaml").write_text(flow_text("laps", LAPS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path


def status(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def events(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    assert status("run", "laps", "--virtual-time", "--name", "one") == 0
    capsys.readouterr()
    assert status("history", "one", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["DurationMs"] == 11_000
    return list(document["Events"])


def test_history_has_the_duration_of_every_state_lap_branch_and_of_the_whole(events: list[dict[str, object]]) -> None:
    took = [(event["Type"], event["StepName"], event["DurationMs"]) for event in events if "DurationMs" in event]
    assert took == [
        ("StepExited", "Begin", 0),
        ("StepExited", "Sleep", 3000),
        ("StepExited", "Again", 0),
        ("StepExited", "Sleep", 3000),
        ("StepExited", "Again", 0),
        ("StepExited", "Short", 2000),
        ("BranchExited", "Both", 2000),
        ("StepExited", "Both", 5000),
        ("BranchExited", "Both", 5000),
        ("StepExited", "Both", 5000),
        ("ExecutionSucceeded", "", 11_000),
    ]


def test_history_as_text_shows_them_too(events: list[dict[str, object]], capsys: pytest.CaptureFixture[str]) -> None:
    assert status("history", "one") == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "one of laps: Succeeded, 11.000 s"
    assert len(lines) == len(events)
    assert "3.000 s StepExited" in "".join(lines)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["history", "nobody"], 2, "no execution 'nobody' in this data folder"),
        (["diff", "one", "nobody"], 2, "no execution 'nobody' in this data folder"),
        (["diff", "one"], 2, "Missing argument"),
        (["diff", "one", "one", "--format", "xml"], 2, "--format is text or json, not 'xml'"),
        (["graph", "nope"], 2, "there is no flow 'nope'"),
        (["graph", "laps", "-o", "none/x.svg"], 2, "none/x.svg cannot be written: No such file or directory"),
        (["graph", "bad.yaml"], 2, "bad.yaml:2:1"),
        (["convert", "nope.yaml"], 2, "nope.yaml:1:1: error SK001"),
        (["convert", "flows/laps.yaml"], 2, "laps.yaml"),
        (["convert", "old.yaml", "-o", "none/new.yaml"], 2, "none/new.yaml cannot be written"),
        (["check", "nope.yaml"], 2, "the file cannot be read: No such file or directory"),
        (["check", "--format", "xml"], 2, "--format is text, json or sarif, not 'xml'"),
    ],
)
def test_bad_input_is_status_2_with_one_message(
    events: list[dict[str, object]],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    (folder / "bad.yaml").write_text("Type: StateMachine\n\tx: 1\n", encoding="utf-8")
    (folder / "old.yaml").write_text(
        "version: v1\ntype: flow\nname: old\nsteps:\n  - {type: pass, name: a}\n", encoding="utf-8"
    )
    assert status(*arguments) == code
    seen = capsys.readouterr()
    assert words in seen.err
    assert "Traceback" not in seen.err
    assert seen.out == ""


@pytest.mark.parametrize("command", ["run", "check", "history", "diff", "graph", "convert"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(command, "--help") == 0
    assert f"local-sim {command} " in " ".join(capsys.readouterr().out.split()).partition("for example: ")[2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"Type: StateMachine\nStates:\n\t- x\n", 1),
        (b"Type: [\n", 1),
        (b"\xff\xfe", 1),
        (b"", 1),
        (flow_text("ok", "- {Type: Succeed, Name: a}").encode(), 0),
    ],
)
def test_text_that_is_no_yaml_is_a_finding(
    folder: Path, capsys: pytest.CaptureFixture[str], text: bytes, code: int
) -> None:
    (folder / "x.yaml").write_bytes(text)
    assert status("check", "x.yaml") == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 flow checked: ")


def test_a_file_that_is_not_there_is_no_flow_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", "nope.yaml", "flows/laps.yaml") == 2
    assert "1 flow checked: " in capsys.readouterr().out
    assert status("check", "nope.yaml") == 2
    assert "nothing found" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"a": NaN}', "NaN is no JSON number (column 7)"),
        ('{"NaN": "\\"NaN",\n "b": -Infinity}', "-Infinity is no JSON number (line 2, column 7)"),
        ('{"a": "\\ud800"}', "half of a surrogate pair (column 8)"),
        ('{"a": ' + "9" * 5000 + "}", "cannot be read: Exceeds the limit"),
        ('{"a": ' + "[" * 100_000 + "}", "is nested too deeply"),
    ],
)
def test_input_that_json_does_not_know_is_named_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str], given: str, words: str
) -> None:
    assert status("run", "laps", "--input", given) == 2
    assert words in capsys.readouterr().err
    (folder / "in.json").write_text(given, encoding="utf-8")
    assert status("run", "laps", "--input", "in.json") == 2
    assert "in.json" in capsys.readouterr().err


def test_a_failed_run_shows_the_message_and_not_the_stack(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "index.py").write_text("def f(e, c):\n    raise ValueError('no luck')\n", encoding="utf-8")
    call = "Action: FC:InvokeFunction, Parameters: {resourceArn: acs:fc:::functions/f, invocationType: Sync}"
    (folder / "flows" / "g.yaml").write_text(flow_text("g", f"- {{Type: Task, Name: T, {call}, End: true}}"))
    assert status("run", "g", "--name", "g1") == 1
    out = capsys.readouterr().out
    assert "  ValueError: no luck\n  all of it: local-sim history g1 --format json\n" in out
    assert "stackTrace" not in out


def test_a_function_where_there_is_no_s_yaml_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.yaml").unlink()
    (folder / "pyproject.toml").write_text("[tool.local-sim]\n", encoding="utf-8")
    call = "Action: FC:InvokeFunction, Parameters: {resourceArn: acs:fc:::functions/f, invocationType: Sync}"
    (folder / "flows" / "g.yaml").write_text(flow_text("g", f"- {{Type: Task, Name: T, {call}, End: true}}"))
    assert status("run", "g") == 2
    assert "unknown function 'f': no s.yaml with functions was found" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["raise KeyboardInterrupt", "raise GeneratorExit('x')"])
def test_a_handler_that_interrupts_while_it_loads_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (folder / "index.py").write_text(f"def f(e, c): ...\n{line}\n", encoding="utf-8")
    call = "Action: FC:InvokeFunction, Parameters: {resourceArn: acs:fc:::functions/f, invocationType: Sync}"
    (folder / "flows" / "g.yaml").write_text(flow_text("g", f"- {{Type: Task, Name: T, {call}, End: true}}"))
    assert status("run", "g") == 2
    error = capsys.readouterr().err
    assert "handler 'index.f' of function 'f' cannot be loaded" in error
    assert line.removeprefix("raise ").partition("(")[0] in error
    assert "index.py:2" in error


@pytest.fixture
def review(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ASK.replace("Action: X:Ask", "Action: FC:InvokeFunction").replace(
        "Parameters: {", "Parameters: {resourceArn: acs:fc:::functions/f, invocationType: Sync, "
    )
    (folder / "flows" / "review.yaml").write_text(flow_text("review", text), encoding="utf-8")


@pytest.mark.parametrize("decide", ["more", "Review=more", 'Review={"decision": "more"}'])
def test_a_note_goes_along_with_a_decision(
    review: None, folder: Path, capsys: pytest.CaptureFixture[str], decide: str
) -> None:
    assert status("run", "review", "--decide", decide, "--note", "which 'law'?", "--json") == 0
    assert json.loads(capsys.readouterr().out)["output"] == {"decision": "more", "note": "which 'law'?"}


def test_a_note_without_a_decision_is_refused(review: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("run", "review", "--note", "x") == 2
    assert "--note goes with a decision" in capsys.readouterr().err


def test_a_decision_nobody_asked_for_is_told(review: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("run", "review", "--decide", "more", "--decide", "Review=more") == 0
    assert "! not used: --decide Review=more (nothing asked for it)" in capsys.readouterr().out


def test_a_flow_beside_resume_is_refused(review: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("run", "flows/review.yaml", "--resume", "x") == 2
    assert "cannot be given beside it" in capsys.readouterr().err
