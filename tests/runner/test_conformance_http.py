"""HTTP:Request row by row, over a real connection (HTTP, MODE; A28, R06)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from loopback import Answer, Loopback
from projects import flow_text

from local_sim.actions.http import TOKEN_HEADER
from local_sim.clock import VirtualClock
from local_sim.engine import Status
from local_sim.project import Project
from local_sim.runner import Decision, run_flow


@dataclass(frozen=True)
class Row:
    """`parameters` beside url; `answer` comes back. Expected: what was `asked` for, and `output` or `error`."""

    source: str
    name: str
    parameters: str
    answer: Answer
    asked: Any = None
    output: Any = None
    error: str = ""
    more: str = "OutputConstructor: {code.$: $Output.Code, body.$: $Output.Body}, "
    decide: Any = None

    def __str__(self) -> str:
        return f"{self.source}: {self.name}"


OK = Answer.of({"v": 1})
GOT = {"code": 200, "body": {"v": 1}}
CUSTOM = "TaskMode: WaitForCustomCallback, Timeout: 60, "
ROWS = [
    *(Row("HTTP", f"method {m}", f"method: {m}", OK, (m, b""), GOT) for m in ("GET", "POST", "PATCH", "PUT", "DELETE")),
    Row("HTTP", "HEAD has no body", "method: HEAD", Answer(200, b""), ("HEAD", b""), {"code": 200, "body": ""}),
    Row("HTTP", "the example's spelling Get", "method: Get", OK, ("GET", b""), GOT),
    Row("HTTP", "text is sent as it is", "method: POST, body: 'a {'", OK, ("POST", b"a {"), GOT),
    Row("HTTP", "an object as JSON", "method: POST, body: {a: [1]}", OK, ("POST", b'{"a": [1]}'), GOT),
    Row("HTTP", "an array as JSON", "method: POST, body: [1, 2]", OK, ("POST", b"[1, 2]"), GOT),
    Row("HTTP", "a body by expression", "method: POST, body.$: $Input", OK, ("POST", b"{}"), GOT),
    Row("HTTP", "plain text stays text", "method: GET", Answer(200, b"hi"), ("GET", b""), {"code": 200, "body": "hi"}),
    Row("HTTP", "a status below 400", "method: GET", Answer(299, b"1"), ("GET", b""), {"code": 299, "body": 1}),
    Row("R06", "a status of 400 and above", "method: GET", Answer(418, b"tea"), ("GET", b""), error="HTTP.418"),
    Row("R06", "which Catch takes", "method: GET", Answer(503, b""), ("GET", b""), {"e": "HTTP.503"},
        more="Catch: [{Errors: [HTTP.503], OutputConstructor: {e.$: $Context.Current.Error.Code}, Next: Z}], "),
    Row("HTTP", "an unknown method", "method: FETCH", OK, None, error="HTTP.InvalidArgument"),
    Row("MODE", "a custom callback is answered by its report", "method: POST", OK, ("POST", b""), {"said": 1},
        more=CUSTOM, decide={"said": 1}),
]  # fmt: skip


@pytest.fixture
def server() -> Iterator[Loopback]:
    made = Loopback()
    yield made
    made.released.set()
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_http_request(row: Row, server: Loopback, tmp_path: Any) -> None:
    server.answers = [row.answer]
    call = f"Action: 'HTTP:Request', Parameters: {{url: '{server.url}', {row.parameters}}}"
    states = f"- {{Type: Task, Name: T, {call}, {row.more}Next: Z}}\n- {{Type: Succeed, Name: Z}}"
    decisions = [Decision(row.decide)] if row.decide is not None else []
    result = run_flow(Project(tmp_path), flow_text("f", states), {}, clock=VirtualClock(0), decisions=decisions)
    if row.error:
        assert (result.status, result.error) == (Status.FAILED, row.error), result.cause
    else:
        assert (result.status, result.output) == (Status.SUCCEEDED, row.output), (result.error, result.cause)
    assert [(asked.method, asked.body) for asked in server.asked] == ([] if row.asked is None else [row.asked])
    assert all((TOKEN_HEADER.lower() in asked.headers) == (row.decide is not None) for asked in server.asked)
