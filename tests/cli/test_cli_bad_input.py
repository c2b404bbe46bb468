"""Bad input: one clear message with the place, exit status 2, no traceback, nothing half-written."""

from __future__ import annotations

import io
import os
import socket
from pathlib import Path

import pytest
from projects import flow_text, task, write_project

from local_sim.cli import main
from local_sim.journal import Journal


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path, "def f(e, c):\n    return ''\n", ["f", "gone"])
    (tmp_path / "flows" / "ok.yaml").write_text(flow_text("ok", "- {Type: Succeed, Name: a}"), encoding="utf-8")
    (tmp_path / "flows" / "f.yaml").write_text(flow_text("f", task("A", "f")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    assert ended.value.code == 2, captured
    assert "Traceback" not in captured.err + captured.out
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "which flow? Give a file, or the name of a flow"),
        (["run", "nope"], "there is no flow 'nope': neither a file nor a flow in"),
        (["run", "ok", "--input", "none.json"], "file none.json cannot be read: No such file or directory"),
        (["run", "ok", "--input", "{oops}"], "is not JSON: Expecting property name"),
        (["run", "ok", "--input", "[1]"], "must be a JSON object, not list"),
        (["run", "ok", "--input", "."], "cannot be read"),
        (["run", "ok", "--decide", "x"], "decision 'x' fits no callback of this flow: it has no callback states"),
        (["run", "ok", "--decide", "B=x"], "'B' fits no callback"),
        (["run", "ok", "--workers", "threads"], "--workers is in-process or process, not 'threads'"),
        (["run", "ok", "--crash-after", "b"], "flow 'ok' has no state 'b'; it has a"),
        (["run", "ok", "--result", "none/x.json"], "is no folder that can be written to"),
        (["serve", "--port", "65535"], "65535 is not in the range"),
        (["serve", "--port", "-1"], "-1 is not in the range"),
        (["run", "ok", "--nonsense"], "No such option"),
        (["run", "--resume"], "there is no journal in it"),
        (["history", "--format", "xml"], "--format is text or json, not 'xml'"),
        (["history"], "there is no journal in it"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["run", "ok", "--project", "/nowhere/at/all"], "no project found at or above"),
        (["exec", "--", "./no-such-command"], "cannot run ./no-such-command: No such file"),
    ],
)
def test_it_is_refused_with_one_message(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in refused(capsys, *arguments)


def test_json_in_a_file_is_named_with_line_and_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "in.json").write_text('{\n  "a": 1,\n}', encoding="utf-8")
    assert "in.json:3:1" in refused(capsys, "run", "ok", "--input", "in.json")


def test_a_malformed_flow_is_named_with_line_and_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.yaml").write_text("Type: StateMachine\nStates:\n\t- x\n", encoding="utf-8")
    assert "bad.yaml:3:1" in refused(capsys, "run", "bad.yaml")


def test_an_unknown_function_is_named_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "g.yaml").write_text(flow_text("g", task("A", "goon")), encoding="utf-8")
    message = refused(capsys, "run", "g.yaml")
    assert "g.yaml:10:20: unknown function 'goon'" in message
    assert "did you mean 'gone'?" in message
    assert not list(folder.glob(".local-sim/tablestore*"))


def test_a_handler_that_is_not_there_is_named_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "g.yaml").write_text(flow_text("g", task("A", "gone")), encoding="utf-8")
    message = refused(capsys, "run", "g.yaml")
    assert "s.yaml:19:16: handler 'index.gone' of function 'gone' cannot be loaded from" in message
    assert "'gone' is not defined there" in message


def test_a_broken_template_is_named_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.yaml").write_text("edition: 3.0.0\nresources: {f: {component: fc3}}\n", encoding="utf-8")
    assert "s.yaml:2:16: resource 'f' lacks its props" in refused(capsys, "run", "ok")


def test_a_data_folder_in_use_names_the_process(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Journal(folder / ".local-sim"):
        message = refused(capsys, "run", "ok")
        assert f"in use by process {os.getpid()}" in message
        assert "in use by process" in refused(capsys, "exec", "--", "true")


@pytest.mark.parametrize("command", [["run", "f"], ["exec", "--", "true"]])
def test_a_data_folder_that_cannot_be_made(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    (folder / "file").write_text("", encoding="ascii")
    arguments = [command[0], "--data", "file/data", *command[1:]]
    assert "file/data cannot be used: Not a directory" in refused(capsys, *arguments)


def test_a_port_in_use_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refused(capsys, "exec", "--oss-port", str(port), "--", "true")
    assert f"127.0.0.1:{port} is in use" in message


def test_help_is_no_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    assert "--crash-after" in capsys.readouterr().out
