"""`local-sim convert`, `graph` and `diff` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local_sim.cli.app import run_app
from local_sim.definition import check_flow, load_flow_file
from local_sim.errors import LocalSimError

OLD = "version: v1\ntype: flow\nname: old\nsteps:\n  - {type: wait, name: w, duration: %s}\n"
NEW = """Type: StateMachine
SpecVersion: v1
Name: route
StartAt: c
States:
  - {Type: Choice, Name: c, Branches: [{Condition: $Input.n > 1, Next: big}], Default: small}
  - {Type: Succeed, Name: big}
  - {Type: Succeed, Name: small}
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.yaml"
    path.write_text(OLD % 400, encoding="utf-8")
    return path


def test_convert_writes_the_file_and_tells_remarks_on_stderr(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = old.with_name("new.yaml")
    assert run_app(["convert", str(old), "-o", str(new)]) == 0
    assert load_flow_file(new).name == "old"
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "line 5: w: changed: 400 s became a loop" in seen.err


def test_convert_prints_json(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["convert", str(old), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["lost"] is False
    assert document["remarks"][0] | {"message": ""} == {"weight": "changed", "line": 5, "step": "w", "message": ""}
    assert check_flow(document["definition"]).errors == ()


def test_convert_exits_1_when_something_has_no_equivalent(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old.write_text(OLD.replace("duration: %s", "timestamp: 2026-01-01T00:00:00Z"), encoding="utf-8")
    assert run_app(["convert", str(old)]) == 1
    assert "lost: a wait until a moment" in capsys.readouterr().err


def test_an_old_flow_runs_as_it_is(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_app(["run", str(old), "--virtual-time", "--json", "--data", str(old.parent / "data")])
    assert (code, json.loads(capsys.readouterr().out)["status"]) == (0, "Succeeded")


def test_graph_writes_an_svg(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = old.with_name("flow.svg")
    assert run_app(["graph", str(old), "-o", str(target)]) == 0
    assert target.read_text(encoding="utf-8").startswith("<svg ")
    assert run_app(["graph", str(old)]) == 0
    assert capsys.readouterr().out == target.read_text(encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    flow, folder = tmp_path / "route.yaml", tmp_path / "data"
    flow.write_text(NEW, encoding="utf-8")
    for name, number in (("one", 1), ("uno", 1), ("two", 2), ("nil", 0)):
        given = json.dumps({"n": number})
        assert run_app(["run", str(flow), "-i", given, "--name", name, "--data", str(folder)]) == 0
    capsys.readouterr()
    return folder


def test_diff_says_that_two_runs_are_alike(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["diff", "one", "uno", "--data", str(data)]) == 0
    assert "alike, event by event" in capsys.readouterr().out


def test_diff_shows_where_data_differs_and_where_paths_part(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["diff", "one", "two", "--data", str(data), "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["Data"]["Event"] == 1
    assert [side["EventDetail"]["input"] for side in document["Data"]["Sides"]] == [{"n": 1}, {"n": 2}]
    assert [side["StepName"] for side in document["Path"]["Sides"]] == ["small", "big"]
    assert run_app(["diff", "one", "two", "--data", str(data)]) == 1
    text = capsys.readouterr().out
    assert "data first differs at event 1" in text
    assert f"paths part at event {document['Path']['Event']}" in text
    assert "one: StepEntered small" in text


def test_diff_tells_the_same_path_with_other_data(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["diff", "one", "nil", "--data", str(data)]) == 1
    assert "both take the same path" in capsys.readouterr().out


def test_diff_refuses_an_unknown_format(data: Path) -> None:
    with pytest.raises(LocalSimError, match="--format is text or json"):
        run_app(["diff", "one", "two", "--data", str(data), "--format", "xml"])
