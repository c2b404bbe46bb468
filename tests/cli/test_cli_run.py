"""`local-sim run` and `history`, as a user types them."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from projects import flow_text, task, write_project

from local_sim.cli import main

ROOT = Path(__file__).resolve().parents[2]
HANDLERS = (
    "import json\ndef double(e, c):\n    print('doubling')\n    return json.dumps({'n': json.loads(e)['n'] * 2})\n"
)
REVIEW = """\
- Type: Task
  Name: Review
  Action: FC:InvokeFunction
  TaskMode: WaitForCustomCallback
  Timeout: 600
  Parameters: {resourceArn: 'acs:fc:::functions/double', invocationType: Sync, body: {n: 1}}
  OutputConstructor: {verdict.$: $Output.decision, note.$: $Output.note}
  Next: Route
- {Type: Choice, Name: Route, Branches: [{Condition: '$Input.verdict == "yes"', Next: Good}], Default: Bad}
- {Type: Succeed, Name: Good}
- {Type: Fail, Name: Bad, Code: Refused, Detail: 'said no'}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path, HANDLERS, ["double"])
    flows = tmp_path / "flows"
    (flows / "double.yaml").write_text(flow_text("double", task("Double", "double")), encoding="utf-8")
    (flows / "review.yaml").write_text(flow_text("review", REVIEW), encoding="utf-8")
    (flows / "pass.yaml").write_text(flow_text("pass", "- {Type: Pass, Name: a, End: true}"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path


def status(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def child(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "local_sim.cli", *arguments]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, env=environment, text=True, encoding="utf-8", capture_output=True, timeout=100, **more
    )


@pytest.mark.parametrize("given", ['{"n": 4}', "in.json"])
def test_a_flow_runs_by_name_with_input_as_text_or_file(
    folder: Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    (folder / "in.json").write_text('{"n": 4}', encoding="utf-8-sig")
    assert status("run", "double", "--input", given) == 0
    out = capsys.readouterr().out
    assert "✓ Double" in out
    assert '"n": 8' in out


def test_json_is_one_document_on_stdout_and_progress_goes_to_stderr(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status("run", "flows/double.yaml", "--input", '{"n": 1}', "--json", "--name", "mine") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["execution"], document["status"], document["path"]) == ("mine", "Succeeded", ["Double"])
    assert (document["output"]["Body"], document["calls"], document["input"]) == ({"n": 2}, {"double": 1}, {"n": 1})
    assert "✓ Double" in captured.err


def test_what_handlers_print_is_shown_on_request(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status("run", "double", "-i", '{"n": 1}')
    assert "doubling" not in capsys.readouterr().out
    status("run", "double", "-i", '{"n": 1}', "--logs")
    assert "double | doubling" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "code", "word"), [("yes", 0, "Succeeded"), ('{"decision": "no", "note": ""}', 1, "said no")]
)
def test_a_callback_is_answered_beforehand(
    folder: Path, capsys: pytest.CaptureFixture[str], answer: str, code: int, word: str
) -> None:
    assert status("run", "review", "--decide", answer) == code
    assert word in capsys.readouterr().out


def test_an_unanswered_callback_is_status_3_and_says_how_to_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status("run", "review", "--data", "d", "--name", "r1") == 3
    out = capsys.readouterr().out
    assert "Review waits for a decision (yes)." in out
    assert f"local-sim run --resume r1 --data {folder / 'd'} --decide VALUE" in out
    assert status("run", "--resume", "--data", "d", "--decide", "Review=yes") == 0
    assert "Good" in capsys.readouterr().out


def test_virtual_time_lets_it_expire(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("run", "review", "--virtual-time") == 1
    assert "FnF.TaskTimeout" in capsys.readouterr().out


def test_history_is_text_or_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status("run", "pass", "--name", "p1", "--input", '{"a": "中"}')
    capsys.readouterr()
    assert status("history", "p1") == 0
    assert "StepExited" in capsys.readouterr().out
    assert status("history", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["Flow"], document["Execution"], document["Status"]) == ("pass", "p1", "Succeeded")
    assert [event["EventId"] for event in document["Events"]] == list(range(1, len(document["Events"]) + 1))
    assert json.loads(document["Events"][0]["EventDetail"]) == {"input": {"a": "中"}}


def test_a_killed_run_is_resumed(folder: Path) -> None:
    killed = child("run", "review", "--crash-after", "Review", "--decide", "yes", cwd=folder)
    assert killed.returncode == -signal.SIGKILL
    assert "✓ Review" in killed.stdout
    assert "Route" not in killed.stdout
    resumed = child("run", "--resume", cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    assert "done before: Review, Route, Good" in resumed.stdout
    assert "Succeeded" in resumed.stdout


def test_a_person_is_asked_at_the_terminal(folder: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "local_sim.cli", "run", "review"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    seen = read_until(master, "[yes]? ")
    os.write(master, b"maybe\n")
    seen += read_until(master, "[yes]? ")
    os.write(master, b"yes\n")
    seen += read_until(master, "note (may be empty)? ")
    os.write(master, b"fine\n")
    seen += read_until(master, "Succeeded")
    assert process.wait(60) == 0
    os.close(master)
    assert "one of yes, or a JSON object" in seen


def test_ctrl_c_at_the_question_leaves_a_state_that_can_be_resumed(folder: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "local_sim.cli", "run", "review", "--name", "r9"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background inherits "ignore"
    )
    os.close(slave)
    read_until(master, "[yes]? ")
    process.send_signal(signal.SIGINT)
    assert "go on with: local-sim run --resume r9" in read_until(master, "--resume r9")
    assert process.wait(60) == 130
    os.close(master)
    assert child("run", "--resume", "r9", "--decide", "yes", cwd=folder).returncode == 0


def read_until(descriptor: int, text: str) -> str:
    seen = b""
    while text.encode() not in seen:
        try:
            part = os.read(descriptor, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    assert text.encode() in seen, seen.decode(errors="replace")
    return seen.decode(errors="replace")


def test_exec_lends_the_services_to_a_command(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = "import os; print(os.environ['TABLESTORE_ENDPOINT'], os.environ['OSS_BUCKET']); raise SystemExit(7)"
    assert status("exec", "--", sys.executable, "-c", program) == 7
    endpoint, bucket = capfd.readouterr().out.split()
    assert endpoint.startswith("http://127.0.0.1:")
    assert bucket == "local-bucket"


def test_a_simple_flow_loads_nothing_it_does_not_need(folder: Path) -> None:
    """Starting up has to be quick; a limit in seconds would only measure the machine."""
    program = "import sys, atexit; from local_sim.cli import main; sys.stdin = None\n"
    program += "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\nmain(['run', 'pass'])"
    program = program.replace("sys.stdin = None\n", "\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    loaded = set(done.stderr.split())
    dear = {"pydantic", "rich", "rich.console", "asyncio", "uvicorn", "httpx", "oss2", "tablestore", "openai", "ssl"}
    assert not loaded & dear
    assert "local_sim.services" not in loaded
