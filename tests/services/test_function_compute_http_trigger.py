"""HTTP triggers over the wire, and their pure conversions."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.server import LocalServer
from local_sim.services.function_compute.errors import BadResponse, InvalidArgument
from local_sim.services.function_compute.http_trigger import build_event, read_answer
from local_sim.workers import InvokeResult

SOURCE = """
import json
def handler(event, context):
    request = json.loads(event)
    if request["rawPath"] == "/boom":
        raise RuntimeError("boom")
    seen = {"path": request["rawPath"], "query": request["queryParameters"], "body": request["body"],
            "method": request["requestContext"]["http"]["method"], "header": request["headers"].get("X-Mine")}
    return json.dumps({"statusCode": 201, "headers": {"X-Out": "yes", "Content-Type": "application/json"},
                       "body": json.dumps(seen)})
"""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "index.py").write_text(SOURCE)
    (tmp_path / "s.yaml").write_text(
        "edition: 3.0.0\nname: x\naccess: default\nresources:\n  web:\n    component: fc3\n    props:\n"
        "      region: cn-hangzhou\n      functionName: web\n      runtime: python3.10\n      handler: index.handler\n"
        "      code: ./code\n"
    )
    from local_sim.project import load_project

    with LocalServer(load_project(tmp_path), tmp_path / "data", workers="in-process") as server:
        body = {
            "triggerName": "www",
            "triggerType": "http",
            "triggerConfig": json.dumps({"authType": "anonymous", "methods": ["GET", "POST"]}),
        }
        with httpx.Client(trust_env=False) as client:
            made = client.post(f"{server.endpoint}/2023-03-30/functions/web/triggers", json=body)
        yield made.json()["httpTrigger"]["urlInternet"]


def test_a_request_goes_in_and_the_answer_comes_out(url: str) -> None:
    with httpx.Client(trust_env=False) as client:
        answer = client.post(url + "a/b%20c?x=1&y=%E6%96%87", content="hello", headers={"x-mine": "1"})
        assert (answer.status_code, answer.headers["x-out"]) == (201, "yes")
        assert answer.json() == {
            "path": "/a/b c",
            "query": {"x": "1", "y": "文"},
            "body": "hello",
            "method": "POST",
            "header": "1",
        }
        failed = client.get(url + "boom")
        assert (failed.status_code, failed.headers["x-fc-error-type"]) == (502, "UnhandledInvocationError")
        assert client.delete(url).status_code == 403
        assert client.get(url.replace("/www/", "/other/")).json()["Code"] == "TriggerNotFound"
        assert client.get(url + "x" * 5000).json()["Code"] == "InvalidArgument"


def event_of(**changes: object) -> bytes:
    given: dict[str, object] = {
        "method": "GET",
        "path": "/",
        "query": "",
        "headers": {"host": "h"},
        "body": b"",
        "request_id": "1-x",
        "account": "1",
        "at_ms": 0,
    }
    return build_event(**{**given, **changes})  # type: ignore[arg-type]


@given(st.binary(max_size=200))
def test_every_body_survives_the_envelope(body: bytes) -> None:
    event = json.loads(event_of(body=body))
    found = base64.b64decode(event["body"]) if event["isBase64Encoded"] else event["body"].encode()
    assert found == body


def test_headers_over_the_limit_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        event_of(headers={"x": "y" * 9000})


@pytest.mark.parametrize(
    "document",
    [
        {"statusCode": "abc"},
        {"statusCode": 99},
        {"statusCode": 200, "headers": ["x"]},
        {"statusCode": 200, "headers": {"x": "a\r\nset-cookie: b"}},
        {"statusCode": 200, "headers": {"x": "y" * 9000}},
        {"statusCode": 200, "body": "%%%", "isBase64Encoded": True},
    ],
)
def test_answers_that_are_none_are_bad_responses(document: dict[str, object]) -> None:
    with pytest.raises(BadResponse):
        read_answer(InvokeResult("1-x", json.dumps(document).encode()))


def test_text_and_bytes_are_plain_answers() -> None:
    assert (read_answer(InvokeResult("1-x", b"hi")).status, read_answer(InvokeResult("1-x", b"hi")).body) == (
        200,
        b"hi",
    )
    binary = {"statusCode": 200, "body": base64.b64encode(b"\x00\xff").decode(), "isBase64Encoded": True}
    assert read_answer(InvokeResult("1-x", json.dumps(binary).encode())).body == b"\x00\xff"
