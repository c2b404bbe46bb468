"""A console over made-up executions, and HTML looked at as a browser does."""

from __future__ import annotations

from typing import Any

import html5lib
from starlette.testclient import TestClient

from local_sim.console import NotFound, Panels, make_console
from local_sim.console.model import Event, ExecutionDetail, ExecutionRow, Filter, FlowRow, LogText, Page, WaitingTask

HOST = "http://127.0.0.1"
FLOW = """\
Type: StateMachine
SpecVersion: v1
Name: made_up
StartAt: Draft
States:
  - Type: Task
    Name: Draft
    Action: "MNS:Send"
    Retry: [{Errors: [Busy], MaxAttempts: 2, IntervalSeconds: 5}]
    Catch: [{Errors: [FnF.ALL], Next: Sorry}]
    Next: Done
  - {Type: Succeed, Name: Done}
  - {Type: Fail, Name: Sorry, Code: Sorry, Detail: no}
"""


class MadeUp:
    """A Source whose every text is the same, so that a test can see where it ends up."""

    title = "made up"
    writable = True
    local = True

    def __init__(self, text: str = "t", *, definition: str = FLOW) -> None:
        self.text = text
        self.flow_text = definition
        self.done: list[tuple[str, Any]] = []

    async def flows(self) -> list[FlowRow]:
        return [FlowRow(self.text, self.text, "Standard", {"Running": 3})]

    async def definition(self, flow: str) -> str:
        if flow == "none":
            raise NotFound(f"there is no flow {flow}")
        return self.flow_text

    async def executions(self, wanted: Filter) -> Page:
        row = ExecutionRow(flow=self.text, name=self.text, status="Failed", started_ms=1_000, stopped_ms=64_000)
        return Page((row,), self.text)

    async def counts(self) -> dict[str, int]:
        return {"Failed": 2}

    async def execution(self, flow: str, name: str) -> ExecutionDetail:
        if name == "none":
            raise NotFound(self.text)
        given = f'{{"task_id": {_json(self.text)}, "ref": {{"bucket": "b", "key": {_json(self.text)}}}}}'
        return ExecutionDetail(
            flow=self.text,
            name=self.text,
            status="Failed",
            started_ms=1_000,
            stopped_ms=64_000,
            definition=self.flow_text,
            input=given,
            error=self.text,
            cause=self.text,
        )

    async def history(self, flow: str, name: str) -> list[Event]:
        text = self.text
        rows: list[tuple[int, int, str, str, dict[str, Any]]] = [
            (1, 0, "", "ExecutionStarted", {"input": {"a": text}}),
            (2, 1, text, "StepEntered", {"input": {"a": text}}),
            (3, 2, text, "TaskScheduled", {"action": text, "parameters": {"a": text}}),
            (4, 3, text, "TaskFailed", {"error": text, "cause": text}),
            (5, 4, text, "TaskScheduled", {"action": text}),
            (6, 5, text, "TaskFailed", {"error": text, "cause": text}),
            (7, 6, text, "StepFailed", {"error": text, "cause": text, "next": text}),
            (8, 7, text, "StepExited", {}),
            (9, 8, text, "StepEntered", {"input": text}),
            (10, 9, "", "ExecutionFailed", {"error": text, "cause": text}),
        ]
        return [Event(n, after, state, kind, 1_000 * n, detail) for n, after, state, kind, detail in rows]

    async def waiting(self) -> list[WaitingTask]:
        text = self.text
        task = WaitingTask(
            flow=text, execution=text, state=text, token=text, since_ms=5, due_ms=9, field=text, choices=(text, "b")
        )
        return [task]

    async def logs(self, flow: str, name: str) -> list[LogText]:
        return [LogText(self.text, 0, 7, self.text)]

    async def payload(self, bucket: str, key: str) -> bytes | None:
        return None if key == "none" else self.text.encode("utf-8", "surrogatepass")

    def change(self) -> int:
        return 0

    async def start(self, flow: str, name: str, given: str) -> ExecutionDetail:
        self.done.append(("start", (flow, name, given)))
        return await self.execution(flow, name or "x")

    async def stop(self, flow: str, name: str) -> None:
        self.done.append(("stop", (flow, name)))

    async def answer(self, token: str, output: Any) -> None:
        self.done.append(("answer", (token, output)))


class OwnPanels(Panels):
    """Panels of a text instead of a project's."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def overview(self) -> list[Any]:
        from local_sim.console.panels import Panel

        return [Panel(self._text, (self._text,), ((self._text, self._text),), (1.0, 2.0), self._text)]

    async def execution(self, described: Any) -> list[Any]:
        return await self.overview()


def client(source: MadeUp, **options: Any) -> TestClient:
    app = make_console(source, panels=OwnPanels(source.text), **options)
    return TestClient(app, base_url=HOST, follow_redirects=False)


def parsed(text: str) -> Any:
    """Return a page's tree as a browser builds it."""
    return html5lib.parse(text, namespaceHTMLElements=False)


def form_token(page: str) -> str:
    return str(parsed(page).find(".//input[@name='form_token']").attrib["value"])


def _json(text: str) -> str:
    import json

    return json.dumps(text)
