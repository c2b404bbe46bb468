"""HTTP:Request over a real connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, closed_port
from projects import flow_text

from local_sim.actions import Call, CallFailed, CallSucceeded, Outcome
from local_sim.actions.http import TOKEN_HEADER, request
from local_sim.clock import VirtualClock
from local_sim.definition.model import TaskMode
from local_sim.project import Project
from local_sim.runner import Decision, run_flow


@pytest.fixture
def server() -> Iterator[Loopback]:
    made = Loopback()
    yield made
    made.released.set()
    made.server.shutdown()
    made.server.server_close()


def ask(parameters: Any, token: str | None = None) -> Outcome:
    return request(Call("run", ("T",), "HTTP:Request", TaskMode.REQUEST_COMPLETE, parameters, "1-0-0", token=token))


def test_an_answer_is_header_code_and_body(server: Loopback) -> None:
    server.answers = [Answer.of({"ok": [1]}, 201, X_Mine="yes")]
    outcome = ask({"url": server.url, "method": "Post", "body": {"名": 1}, "headers": {"X-A": 5}})
    assert isinstance(outcome, CallSucceeded)
    assert (outcome.output["Code"], outcome.output["Body"]) == (201, {"ok": [1]})
    assert outcome.output["Header"]["x-mine"] == "yes"
    asked = server.asked[0]
    assert (json.loads(asked.body), asked.headers["content-type"], asked.headers["x-a"]) == (
        {"名": 1},
        "application/json",
        "5",
    )
    assert TOKEN_HEADER.lower() not in asked.headers


def test_text_is_sent_and_kept_as_it_is(server: Loopback) -> None:
    server.answers = [Answer(200, b"plain")]
    outcome = ask({"url": server.url, "method": "POST", "body": "中 {"})
    assert isinstance(outcome, CallSucceeded)
    assert outcome.output["Body"] == "plain"
    assert server.asked[0].body.decode() == "中 {"


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_400_and_above_fail_by_their_status(server: Loopback, status: int) -> None:
    server.answers = [Answer(status, b"why")]
    assert ask({"url": server.url, "method": "POST"}) == CallFailed(f"HTTP.{status}", "why")


def test_no_answer_is_a_failed_request() -> None:
    outcome = ask({"url": f"http://127.0.0.1:{closed_port()}/", "method": "GET"})
    assert isinstance(outcome, CallFailed)
    assert outcome.error == "HTTP.RequestFailed"
    assert "ConnectError" in outcome.cause


@pytest.mark.parametrize(
    "parameters", [None, {}, {"url": "http://x"}, {"url": 5, "method": "GET"}, {"url": "u", "method": "FLY"}]
)
def test_parameters_that_cannot_be_meant_fail(parameters: Any) -> None:
    outcome = ask(parameters)
    assert isinstance(outcome, CallFailed)
    assert outcome.error == "HTTP.InvalidArgument"


def test_a_callback_gets_its_token_by_the_header(server: Loopback) -> None:
    server.answers = [Answer(202)]
    parameters = f"{{url: '{server.url}', method: POST, body: {{}}}}"
    task = "Type: Task, Name: Ask, Action: 'HTTP:Request', TaskMode: WaitForCustomCallback"
    states = f"- {{{task}, Parameters: {parameters}, End: true}}"
    result = run_flow(
        Project(Path()), flow_text("f", states), {}, clock=VirtualClock(0), decisions=[Decision({"answer": 42})]
    )
    assert result.output == {"answer": 42}
    assert server.asked[0].headers[TOKEN_HEADER.lower()]
