"""The demo with its review in a browser: the local server runs the flow, the link opens the page, the page decides.

`./scripts/demo --page` starts it. Everything is what anybody can type: `local-sim serve`, `scripts.put_document`, a
StartExecution by the SDK. Stopping it loses nothing: `--page --resume` goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from functions.review import Desk
from functions.review.messages import link_of

if TYPE_CHECKING:
    from functions.review import Review

__all__ = ["PageDemo", "serving"]

ROOT = Path(__file__).resolve().parent.parent
FLOW = "content_review"
_LOCAL_SIM = (sys.executable, "-m", "local_sim.cli")
_LOOK_SECONDS = 0.3
_OVER = ("Succeeded", "Failed", "TimedOut", "Stopped")


@contextlib.contextmanager
def serving(data: Path) -> Iterator[dict[str, str]]:
    """Run the local server on a data folder; gives the variables that point at it. Raises CalledProcessError."""
    where = ["--data", str(data)]
    serve = [*_LOCAL_SIM, "serve", "--background", *where]
    subprocess.run(serve, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    try:
        state = json.loads((data / "server.json").read_text(encoding="utf-8"))
        yield dict(state["environment"])
    finally:
        subprocess.run([*_LOCAL_SIM, "stop", *where], cwd=ROOT, check=False)  # noqa: S603


class PageDemo:
    """One task on a running server. `environment` points at it; `say` prints a line."""

    def __init__(self, task_id: str, environment: dict[str, str], say: Callable[[str], None]) -> None:
        os.environ.update(environment)
        self.task_id = task_id
        self._say = say
        self._entered = 0
        self._last = ("", "")

    def start(self, document: Path) -> None:
        """Upload the document and start the flow on it."""
        job = [sys.executable, "-m", "scripts.put_document", str(document.resolve()), "--task", self.task_id]
        done = subprocess.run(job, cwd=ROOT, check=True, capture_output=True, text=True, encoding="utf-8")  # noqa: S603
        self._client().start_execution(_request("StartExecutionRequest", self.task_id, input=done.stdout.strip()))

    def wait(self) -> str:
        """Print states as they are entered and each round's link; returns the status the execution ended with."""
        shown: set[str] = set()
        desk = Desk.open()
        while True:
            asked = _request("DescribeExecutionRequest", self.task_id)
            status = str(self._client().describe_execution(asked).body.status)
            self._progress()
            for record in desk.reviews.of_task(self.task_id):
                if record.review.pending and record.review.step not in shown and status not in _OVER:
                    shown.add(record.review.step)
                    self._invite(desk, record.review)
            if status in _OVER:
                return status
            if self._stuck() and not shown & {"-"}:
                shown.add("-")
                self._say(f"\n{self._stuck()} waits, and this demo answers reviews only; stop with Ctrl-C.")
            time.sleep(_LOOK_SECONDS)

    def _invite(self, desk: Desk, review: Review) -> None:
        for seat in review.seats:
            link = link_of(desk.settings, review, seat)
            self._say(f"\nRound {review.round} waits for you. Open in a browser:\n  {link}\n")

    def _progress(self) -> None:
        request = _request("GetExecutionHistoryRequest", self.task_id, limit=999)
        events = self._client().get_execution_history(request).body.events
        left = [event.step_name for event in events if event.type == "StepExited"]
        for name in left[self._entered :]:
            self._say(f"  ✓ {name}")
        self._entered = len(left)
        self._last = (events[-1].type, events[-1].step_name) if events else ("", "")

    def _stuck(self) -> str:
        """The state that waits for somebody else than a reviewer; "" for none."""
        kind, name = self._last
        return name if kind == "TaskSubmitted" and name != "HumanReview" else ""

    def _client(self) -> Any:
        from alibabacloud_fnf20190315.client import Client
        from alibabacloud_tea_openapi.models import Config

        return Client(
            Config(
                endpoint=os.environ["FNF_ENDPOINT"],
                access_key_id=os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"],
                access_key_secret=os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
            )
        )


def _request(name: str, execution: str, **more: Any) -> Any:
    from alibabacloud_fnf20190315 import models

    return getattr(models, name)(flow_name=FLOW, execution_name=execution, **more)
