"""The demo: a document goes in, a reviewed and saved result comes out. `./scripts/demo` starts it.

It only puts together commands that anybody can type. `local-sim exec` lends the local services to a cloud-side job
(upload, table), `local-sim run` runs the flow; each is a process of its own, so that the scripts stay free of the local
cloud, and so that every decision is really taken up from the journal by a new process.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import select
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "examples" / "service-agreement.md"
FLOW = "content_review"
DATA = ROOT / ".local-sim"
DECISIONS = ("approved", "rejected", "more_info")
BAD_INPUT, WAITING, INTERRUPTED = 2, 3, 130
_LOCAL_SIM = (sys.executable, "-m", "local_sim.cli")


class Stop(Exception):
    """The demo ends here with a status; the reason has been shown."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit status: 0 finished, 1 failed, 2 bad input, 3 waiting, 130 interrupted."""
    options = _options(arguments)
    try:
        return _main(options)
    except Stop as stop:
        return stop.status


def _main(options: argparse.Namespace) -> int:
    try:
        if options.page:
            return _page(options)
        result = _resume(options) if options.resume else _start(options)
        result = _until_over(result, options)
        return _close(result, options)
    except KeyboardInterrupt:
        _say(f"\nInterrupted. Nothing is lost; go on with: {_again(options)}")
        return INTERRUPTED


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./scripts/demo", description="Run the product's main job on a document, offline."
    )
    parser.add_argument("document", nargs="?", type=Path, help=f"default: {DOCUMENT.relative_to(ROOT)}")
    parser.add_argument("--decide", choices=DECISIONS, help="the reviewer's decision; asked for when left out")
    parser.add_argument("--crash-after", metavar="STATE", help="kill the process with no clean-up right after STATE")
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help="where runs and services keep files")
    parser.add_argument("--resume", action="store_true", help="go on with the last run that was broken off")
    parser.add_argument("--page", action="store_true", help="review in a browser: serve the page and print its link")
    options = parser.parse_args(arguments)
    options.data = options.data.resolve()
    return options


def _page(options: argparse.Namespace) -> int:
    """Let the local server run the flow and the page decide; the terminal shows how it goes."""
    from scripts.demo_page import PageDemo, serving

    mark = options.data / "page-task"
    if options.resume and not mark.exists():
        _say("There is no run with a page to go on with; start one with ./scripts/demo --page")
        raise Stop(BAD_INPUT)
    document = options.document or DOCUMENT
    task_id = mark.read_text(encoding="utf-8") if options.resume else _new_task()
    if not options.resume:
        _check(document)
    with serving(options.data) as environment:
        demo = PageDemo(task_id, environment, _say)
        if not options.resume:
            _say(f"Document: {document}")
            demo.start(document)
            mark.write_text(task_id, encoding="utf-8")
        status = demo.wait()
    mark.unlink(missing_ok=True)
    _say(f"\nThe flow has ended: {status}")
    _job(["show_task", task_id, "--save", str(options.data / "results")], options)
    return 0 if status == "Succeeded" else 1


def _new_task() -> str:
    return f"demo-{datetime.now().astimezone():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _start(options: argparse.Namespace) -> dict[str, Any]:
    document = options.document or DOCUMENT
    task_id = _new_task()
    _check(document)
    _say(f"Document: {document}")
    flow_input = _upload(document, task_id, options)
    return _run([FLOW, "--name", task_id, "--input", flow_input], options)


def _resume(options: argparse.Namespace) -> dict[str, Any]:
    task_id = _last_task(options)
    if options.document is None:
        return _run(["--resume", task_id], options)
    _check(options.document)
    flow_input = _upload(options.document, task_id, options)
    result = _run(["--resume", task_id, "--decide", f"NeedInput={flow_input}"], options)
    if any(text.startswith("NeedInput=") for text in result["unused"]):
        waits = ", ".join(waiting["state"] for waiting in result["waiting"]) or "nothing"
        _say(f"{options.document} was not used: {waits} waits, not NeedInput. Start a new run to have it reviewed")
    return result


def _last_task(options: argparse.Namespace) -> str:
    """Return the task of the last run: one that has not ended, or whose end has not been shown."""
    done = subprocess.run(  # noqa: S603 - our own command
        [*_LOCAL_SIM, "history", "--format", "json", "--data", str(options.data)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        _say(f"There is no run to go on with: {done.stderr.strip()}\nStart one with ./scripts/demo")
        raise Stop(BAD_INPUT)
    found = json.loads(done.stdout)
    if found["Status"] not in ("Starting", "Running") and _shown(options, found["Execution"]).exists():
        _say("There is no unfinished run to go on with; start one with ./scripts/demo")
        raise Stop(BAD_INPUT)
    return str(found["Execution"])


def _shown(options: argparse.Namespace, task_id: str) -> Path:
    """Name the file that says that a task's end has been shown; a kill may come between the end and the showing."""
    return Path(options.data, "shown", task_id)


def _check(document: Path) -> None:
    try:
        str(document).encode()
        regular = document.is_file() or not document.exists()
        if regular:
            with document.open("rb") as stream:
                stream.read(1)
    except OSError as error:
        _say(f"{document}: {error.strerror or error}")
        raise Stop(BAD_INPUT) from None
    except UnicodeEncodeError:
        _say(f"{os.fsencode(document)!r}: the name is not UTF-8; rename the file")
        raise Stop(BAD_INPUT) from None
    if not regular:
        _say(f"{document}: not a file" + (", but a folder" if document.is_dir() else ""))
        raise Stop(BAD_INPUT)


def _upload(document: Path, task_id: str, options: argparse.Namespace) -> str:
    job = ["put_document", str(document.resolve()), "--task", task_id]
    return _job(job, options, capture=True).strip()


def _until_over(result: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Answer callbacks until the flow is over; stop where nobody can answer."""
    while result["waiting"]:
        waiting = result["waiting"][0]
        task_id = result["execution"]
        if waiting["state"] == "NeedInput":
            _say(f"\nThe document cannot be used, see above. Give another: {_again(options, 'DOCUMENT')}")
            raise Stop(BAD_INPUT)
        if not sys.stdin.isatty():
            _say(f"\n{waiting['state']} waits. Go on with: {_again(options)} --decide DECISION")
            raise Stop(WAITING)
        answer = _ask(task_id, waiting, options)
        options.decide = None
        result = _run(["--resume", task_id, "--decide", f"{waiting['state']}={json.dumps(answer)}"], options)
    return result


def _ask(task_id: str, waiting: dict[str, Any], options: argparse.Namespace) -> dict[str, str]:
    """Show the draft and ask for a decision. Raises KeyboardInterrupt at the end of input: nobody is there."""
    choices = waiting["choices"] or ["retry", "compensate", "abandon"]
    if waiting["state"] == "HumanReview":
        _say("\n(./scripts/demo --page asks in a browser instead)")
        _say("\n" + _job(["show_task", task_id, "--draft"], options, capture=True))
    answer = ""
    while answer not in choices:
        answer = _line(f"{waiting['state']} [{'/'.join(choices)}]? ")
    note = _line("  What should be different? ") if answer == "more_info" else ""
    return {"decision": answer, **({"note": note} if note else {})}


def _line(question: str) -> str:
    print(question, end="", flush=True)  # noqa: T201
    # A Ctrl-C that falls between the question and a blocking read would wait for the next key.
    while sys.stdin.isatty() and not select.select([sys.stdin], [], [], 0.2)[0]:
        pass
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip()


def _close(result: dict[str, Any], options: argparse.Namespace) -> int:
    output = result["output"] or {}
    outcome = output.get("outcome") or result["error"] or result["status"]
    _say(f"\nThe flow has ended: {outcome}")
    if result["cause"]:
        _say(f"  {result['cause']}")
    task_id = str(result["execution"])
    _job(["show_task", task_id, "--save", str(options.data / "results")], options)
    mark = _shown(options, task_id)
    mark.parent.mkdir(exist_ok=True)
    mark.touch()
    return 0 if result["status"] == "Succeeded" else 1


def _run(arguments: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Run or resume the flow; its progress goes to the terminal, its result is returned."""
    decide = ["--decide", options.decide] if options.decide else []
    crash = ["--crash-after", options.crash_after] if options.crash_after else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        status, _ = _call(
            [*_LOCAL_SIM, "run", *arguments, *decide, *crash, "--data", str(options.data), "--result", str(file)],
            capture=False,
        )
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    if status == -signal.SIGKILL:
        _say(f"\nKilled right after {options.crash_after}. Go on with: {_again(options)}")
        raise Stop(128 + signal.SIGKILL)
    if not text:
        raise Stop(status)
    found: dict[str, Any] = json.loads(text)
    return found


def _job(arguments: list[str], options: argparse.Namespace, *, capture: bool = False) -> str:
    """Run one of our cloud-side scripts beside the local services; return what it printed when that is captured."""
    name, *rest = arguments
    data = ["--data", str(options.data)]
    command = [*_LOCAL_SIM, "exec", *data, "--", sys.executable, "-m", f"scripts.{name}", *rest]
    status, text = _call(command, capture=capture)
    if status != 0:
        raise Stop(status)
    return text


def _call(command: list[str], *, capture: bool) -> tuple[int, str]:
    """Run a command and wait for its own end, also when Ctrl-C reaches both of us."""
    out = subprocess.PIPE if capture else None
    with subprocess.Popen(  # noqa: S603 - our own commands
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, text=True, encoding="utf-8"
    ) as process:
        try:
            text, _ = process.communicate()
        except KeyboardInterrupt:
            process.wait()
            raise
    return process.returncode, text or ""


def _again(options: argparse.Namespace, *more: str) -> str:
    """Return the command that goes on with this run."""
    data = [] if options.data == DATA else ["--data", shlex.quote(str(options.data))]
    page = ["--page"] if options.page else []
    return " ".join(["./scripts/demo", *more, *page, "--resume", *data])


def _say(text: str) -> None:
    """Print a line. Raises Stop when nobody can read it any more: the run itself is safe in the journal."""
    try:
        print(text, flush=True)  # noqa: T201
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered must not fail again at exit
        raise Stop(1) from None


if __name__ == "__main__":
    sys.exit(main())
