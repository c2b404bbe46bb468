"""Live progress: one line a state as it is left, a spinner for what is going on, the question at a callback."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TextIO

from local_sim.engine import HistoryEvent
from local_sim.runner import Decision, Observer, Waiting
from local_sim.runner.form import split_answer

from .causes import error_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status as Spinner

_STYLES = {"✓": "green", "✗": "red", "↻": "yellow", "⏸": "cyan", "→": "dim", "!": "yellow"}


class Screen:
    """Prints lines: with rich at a terminal, plainly into a pipe, where rich need not be loaded. A context manager."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console: Console | None = None
        self._spinner: Spinner | None = None
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")

    def __enter__(self) -> Screen:
        if self._stream.isatty():
            from rich.console import Console

            self._console = Console(file=self._stream, highlight=False)
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()

    def print(self, line: str, mark: str = "") -> None:
        """Print one line, led by a mark when one is given."""
        text = f"{mark} {line}" if mark else line
        if self._console is None:
            self._stream.write(f"{text}\n")
            self._stream.flush()
        else:
            self._console.print(text, style=_STYLES.get(mark), markup=False)

    def busy(self, text: str) -> None:
        """Show that something is going on; only at a terminal."""
        if self._console is None:
            return
        if self._spinner is None:
            self._spinner = self._console.status(text)
            self._spinner.start()
        else:
            self._spinner.update(text)

    def rest(self) -> None:
        """Take the spinner away."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def ask(self, question: str) -> str:
        """Ask a person for a line. Raises EOFError when there is none."""
        self.rest()
        self._stream.write(question)
        self._stream.flush()
        wait_for_typing()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.strip()


def wait_for_typing(poll_seconds: float = 0.2) -> None:
    """Return once the terminal has a line, or at once when there is no terminal.

    A Ctrl-C that falls between the question and a blocking read would wait for the next key; between two polls it
    is seen.
    """
    while sys.stdin.isatty() and not select.select([sys.stdin], [], [], poll_seconds)[0]:
        pass


class Progress(Observer):
    """Shows a run on a screen. `crash` sees every event after it was shown; `logs` shows what handlers print."""

    def __init__(self, screen: Screen, crash: Callable[[HistoryEvent], None] | None, *, logs: bool = False) -> None:
        self.execution = ""
        self._screen = screen
        self._crash = crash
        self._logs = logs
        self._entered: dict[str, int] = {}
        self._failed: Mapping[str, object] | None = None

    def on_resumed(self, execution: str, states: tuple[str, ...]) -> None:
        """Say what is not done again."""
        self.execution = execution
        done = f"; done before: {', '.join(states)}" if states else ""
        self._screen.print(f"{execution} goes on{done}", "→")

    def on_history(self, execution: str, event: HistoryEvent) -> None:
        """Show states entered, left, failed and caught."""
        self.execution = self.execution or execution
        name = event.step_name if execution == self.execution else f"{execution}: {event.step_name}"
        if event.type == "StepEntered":
            self._entered[name] = event.time_ms
            self._screen.busy(name)
        elif event.type == "StepFailed":
            self._failed = event.detail
        elif event.type == "StepExited":
            self._left(name, event.time_ms)
        elif event.type == "TaskSubmitted":
            self._screen.busy(f"{name}: waiting for an answer")
        if self._crash is not None:
            self._crash(event)

    def _left(self, name: str, at_ms: int) -> None:
        seconds = (at_ms - self._entered.pop(name, at_ms)) / 1000
        failed, self._failed = self._failed, None
        if failed is None:
            self._screen.print(f"{name:<24} {seconds:.1f} s", "✓")
            return
        target = f" → {failed['next']}" if failed.get("next") else ""
        self._screen.print(f"{name:<24} {failed['error']}{target}", "✗")
        reason = error_text(failed.get("cause"))
        if reason:
            self._screen.print(f"    {reason}")

    def on_retry(self, execution: str, state: str, due_ms: int) -> None:
        """Show that a state will be tried again."""
        moment = datetime.fromtimestamp(due_ms / 1000).astimezone()
        self._screen.print(f"{state:<24} failed; again at {moment:%H:%M:%S}", "↻")

    def on_waiting(self, waiting: Waiting) -> None:
        """Show that a state waits for an answer, and until when."""
        until = ""
        if waiting.due_ms is not None:
            until = f" until {datetime.fromtimestamp(waiting.due_ms / 1000).astimezone():%Y-%m-%d %H:%M:%S}"
        self._screen.print(f"{waiting.state:<24} waits for an answer{until}", "⏸")

    def on_logs(self, function: str, text: str) -> None:
        """Show what a handler printed, when asked to."""
        for line in text.splitlines() if self._logs else ():
            self._screen.print(f"{function} | {line}", " ")

    def ask(self, waiting: Waiting) -> Decision | None:
        """Ask for a decision at the terminal: one of the choices, or a JSON object. End of input leaves it open."""
        form = waiting.form
        choices = "/".join(form.choices)
        question = f"{waiting.state}: {form.field} [{choices}]? " if choices else f"{waiting.state}: answer as JSON? "
        try:
            while True:
                answer = self._screen.ask(question)
                if answer.startswith("{"):
                    try:
                        return Decision(json.loads(answer), waiting.state)
                    except ValueError as error:
                        self._screen.print(f"not JSON: {error}")
                elif (word := split_answer(answer)[0]) in form.choices:
                    report = form.fill(answer)
                    missing = [other for other in form.others if not report.get(other)]
                    report |= {other: self._screen.ask(f"  {other} (may be empty)? ") for other in missing}
                    return Decision({**report, form.field: word}, waiting.state)
                elif answer:
                    self._screen.print(
                        f"one of {', '.join(form.choices)}, or a JSON object" if choices else "a JSON object"
                    )
        except EOFError:
            return None
