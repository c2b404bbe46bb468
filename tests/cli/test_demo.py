"""./scripts/demo: the product's main job, end to end, offline, in processes of their own."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from documents import pdf, word
from loopback import Answer, Loopback

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "scripts.demo_main"]


class Demo:
    """The demo on a data folder of its own."""

    def __init__(self, data: Path, environment: Mapping[str, str]) -> None:
        self.data = data
        self.environment = {**os.environ, **environment}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments, "--data", str(self.data)],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=110,
            check=False,
        )

    def results(self) -> list[str]:
        return [file.read_text(encoding="utf-8") for file in sorted((self.data / "results").glob("*.md"))]

    def notices(self, kind: str) -> int:
        return len(list((self.data / "outbox").glob(f"{kind}*.json")))


@pytest.fixture
def provider() -> Iterator[Loopback]:
    """An OpenAI-compatible provider that counts its calls and answers with the material it was given."""
    server = Loopback()

    def complete(asked: object) -> Answer:
        text = json.loads(asked.body)["messages"][-1]["content"]  # type: ignore[attr-defined]
        message = {"role": "assistant", "content": f"# Draft\n\n{text[-400:]}"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return Answer.of({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    server.answers = [complete]
    yield server
    server.released.set()
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def demo(tmp_path: Path, provider: Loopback) -> Demo:
    settings = {"STEPKEEPER_DRAFT_PROVIDER": "openai", "STEPKEEPER_DRAFT_BASE_URL": provider.url}
    return Demo(tmp_path / "data", {**settings, "STEPKEEPER_DRAFT_API_KEY": "test-key"})


def test_after_a_crash_nothing_is_done_twice(demo: Demo, provider: Loopback) -> None:
    crashed = demo.run("--crash-after", "GenerateDraft")
    assert crashed.returncode == 128 + signal.SIGKILL
    assert "✓ GenerateDraft" in crashed.stdout
    assert "Go on with: ./scripts/demo --resume" in crashed.stdout
    resumed = demo.run("--resume", "--decide", "approved")
    assert resumed.returncode == 0, resumed.stderr
    assert "✓ GenerateDraft" not in resumed.stdout
    assert "✓ SaveResult" in resumed.stdout
    assert len(provider.asked) == 1
    assert len(demo.results()) == 1
    assert demo.notices("result_saved") == 1
    assert demo.run("--resume").returncode == 2


def test_the_result_comes_from_the_document_given(tmp_path: Path) -> None:
    document = tmp_path / "seals 海豹.docx"
    document.write_bytes(word(["The lighthouse keeper of Skagen counts seventeen grey seals every Tuesday morning."]))
    demo = Demo(tmp_path / "data", {})
    done = demo.run(str(document), "--decide", "approved")
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = demo.results()
    assert "seventeen grey seals" in result
    file = next((demo.data / "results").glob("*.md"))
    assert f"The result lies in {file}" in done.stdout
    for step in ("ValidateInput", "PrepareMaterial", "GenerateDraft", "HumanReview", "SaveResult", "Notify"):
        assert f"│ {step}" in done.stdout


def test_a_document_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    done = Demo(tmp_path / "data", {}).run("no-such.pdf")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert done.stdout.strip() == "no-such.pdf: No such file or directory"
    assert not (tmp_path / "data").exists()


def test_a_document_that_cannot_be_used_is_replaced_on_resuming(tmp_path: Path) -> None:
    broken, good = tmp_path / "broken.pdf", tmp_path / "good.pdf"
    broken.write_bytes(b"this is no pdf at all")
    good.write_bytes(pdf([["The replacement speaks of forty blue herons standing in shallow water."]]))
    demo = Demo(tmp_path / "data", {})
    first = demo.run(str(broken), "--decide", "approved")
    assert first.returncode == 2
    assert "broken.pdf is not a PDF file" in first.stdout
    assert "./scripts/demo DOCUMENT --resume" in first.stdout
    again = demo.run(str(good), "--resume", "--decide", "approved")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "forty blue herons" in demo.results()[0]


def test_ctrl_c_at_the_review_leaves_a_state_that_resume_continues(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "data", {})
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "--data", str(demo.data)],
        cwd=ROOT,
        env=demo.environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background inherits "ignore"
    )
    os.close(slave)
    seen = ""
    while "[approved/rejected/more_info]? " not in seen:
        seen += os.read(master, 4096).decode(errors="replace")
    assert "## " in seen, "the draft is shown before the question"
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    os.close(master)
    done = demo.run("--resume", "--decide", "approved")
    assert done.returncode == 0, done.stderr
    assert len(demo.results()) == 1


def test_an_end_that_nobody_saw_is_shown_on_resuming(demo: Demo, provider: Loopback) -> None:
    assert demo.run("--crash-after", "Completed", "--decide", "approved").returncode == 128 + signal.SIGKILL
    assert demo.results() == []
    shown = demo.run("--resume")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert len(demo.results()) == 1
    assert (len(provider.asked), demo.notices("result_saved")) == (1, 1)
    again = demo.run("--resume")
    assert (again.returncode, "no unfinished run" in again.stdout) == (2, True)


def test_resuming_says_what_is_wrong_with_the_journal(demo: Demo) -> None:
    demo.data.mkdir()
    (demo.data / "journal.sqlite").write_bytes(b"garbage")
    done = demo.run("--resume")
    assert done.returncode == 2
    assert "file is not a database" in done.stdout


def test_what_is_no_file_is_refused_before_anything_starts(demo: Demo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path, Path(os.fsdecode(bytes(tmp_path / "b") + b"\xff.txt"))):
        done = demo.run(os.fspath(name))
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert not demo.data.exists()
