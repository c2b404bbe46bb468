"""New projects from templates run at once; executions that failed are started again."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest

from local_sim.cli import init as init_module
from local_sim.cli.app import run_app
from local_sim.cli.init import FolderNotEmpty, UnknownTemplate, make_project, templates
from local_sim.cli.redrive import NotRedrivable
from local_sim.errors import LocalSimError

ROOT = Path(__file__).resolve().parents[2]
FLOWS = {"empty": "hello", "content-review": "content_review", "order-saga": "order_saga"}


@pytest.mark.parametrize("template", templates())
def test_a_new_project_passes_the_strict_check_and_runs(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    monkeypatch.chdir(tmp_path)
    assert run_app(["init", "mine", "--template", template]) == 0
    assert f"local-sim run {FLOWS[template]} --input input.json" in capsys.readouterr().out
    monkeypatch.chdir(folder)
    assert run_app(["check", "--strict"]) == 0
    decide = ["--decide", "approved"] if template == "content-review" else []
    capsys.readouterr()
    assert run_app(["run", FLOWS[template], "--input", "input.json", "--json", *decide]) == 0
    output = json.loads(capsys.readouterr().out)["output"]
    wanted = {"empty": "greeting", "content-review": "result", "order-saga": "parcel"}
    assert output[wanted[template]]


def test_the_saga_of_the_template_is_undone_in_reverse_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(tmp_path / "saga", "order-saga")
    monkeypatch.chdir(tmp_path / "saga")
    order = {"task_id": "o-1", "sku": "piano", "quantity": 1, "amount": 900}
    run = ["run", "order_saga", "--input", json.dumps(order)]
    assert run_app(run) == 1
    told = capsys.readouterr().out
    states = [line.split()[1] for line in told.splitlines() if line[:1] in "✓✗"]
    assert states == ["Reserve", "Charge", "Ship", "Refund", "Release", "Cancelled"]


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FolderNotEmpty, match="is not empty"):
        make_project(tmp_path, "empty")
    with pytest.raises(FolderNotEmpty):
        make_project(tmp_path / "notes.txt", "empty")
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_an_unknown_template_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownTemplate, match="there are empty, content-review, order-saga"):
        make_project(tmp_path / "x", "nothing")


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalSimError, match="cannot be written"):
        make_project(tmp_path / "file" / "x", "empty")


def test_every_template_file_is_packaged() -> None:
    folder = Path(init_module.__file__).parent
    files = [path for path in (folder / "templates").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(files) >= 15
    assert all(path.suffix == ".tmpl" for path in files)
    assert '"local_sim.cli" = ["templates/**/*.tmpl"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(fnmatch.fnmatch(str(path.relative_to(folder)), "templates/*.tmpl") for path in files)


HANDLER = """\
import json, pathlib
class NotYet(Exception): pass
def hello(event, context):
    if not pathlib.Path(json.loads(event)["name"]).exists():
        raise NotYet("come again")
    return json.dumps({"greeting": "at last"})
"""


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose flow fails until the file named by its input is there."""
    folder = tmp_path / "mine"
    make_project(folder, "empty")
    (folder / "code" / "index.py").write_text(HANDLER)
    monkeypatch.chdir(folder)
    run = ["run", "hello", "--name", "first", "--virtual-time"]
    assert run_app([*run, "--input", json.dumps({"name": str(tmp_path / "ready")})]) == 1
    return tmp_path / "ready"


def test_a_failed_execution_is_started_again_with_its_input(failing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["redrive", "first"]) == 1
    failing.write_text("")
    capsys.readouterr()
    assert run_app(["redrive", "first", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["execution"], result["output"]) == ("first-redrive-2", {"greeting": "at last"})
    with pytest.raises(NotRedrivable, match="first-redrive-2 is Succeeded"):
        run_app(["redrive"])
    assert run_app(["redrive", "first-redrive-1"]) == 0
    assert "first-redrive-3" in capsys.readouterr().out
