"""Whatever a client sends to Function Compute: the documented error shape, never a 500 or a dead connection."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_sim.project import Project
from local_sim.server import LocalServer
from local_sim.services.function_compute.routes import ROUTES

HEADERS = ["x-fc-invocation-type", "x-fc-async-task-id", "x-fc-async-delay", "x-fc-log-type"]
KEYS = [
    "functionName",
    "runtime",
    "handler",
    "code",
    "memorySize",
    "timeout",
    "environmentVariables",
    "instanceLifecycleConfig",
    "versionId",
    "aliasName",
    "additionalVersionWeight",
    "triggerName",
    "triggerType",
    "triggerConfig",
    "maxAsyncRetryAttempts",
    "destinationConfig",
    "reservedConcurrency",
    "vpcId",
    "tags",
    "resourceArn",
]
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 100_000),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=20),
        st.sampled_from(["f", "1", "LATEST", "http", "timer", "python3.10", "{}", "{", "acs:fc:::functions/f", "AAAA"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*KEYS, "zipFile"]), inner, max_size=4)
    ),
    max_leaves=8,
)
CLIENT = httpx.Client(trust_env=False, timeout=20)  # one connection for all examples


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("bad")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", "def handler(event, context): return 'ok'")
    body = {
        "functionName": "f",
        "runtime": "python3.10",
        "handler": "index.handler",
        "code": {"zipFile": base64.b64encode(buffer.getvalue()).decode()},
    }
    with LocalServer(Project(folder), folder / "data", workers="in-process") as server:
        with httpx.Client(trust_env=False) as client:
            assert client.post(f"{server.endpoint}/2023-03-30/functions", json=body).status_code == 200
        yield server.endpoint


def check(answer: httpx.Response) -> Any:
    if answer.status_code >= 300:
        assert answer.status_code < 500, answer.text
        document = answer.json()
        assert {"RequestId", "Code", "Message"} <= set(document)
    assert answer.headers["x-fc-request-id"]


PATHS = sorted(
    {
        (method, "/".join(shape))
        for method, shape in ROUTES
        if (method, shape) != ("DELETE", ("functions", "{function}"))
    }
)


@given(
    st.sampled_from(PATHS),
    st.one_of(st.just("f"), st.text(min_size=1, max_size=12)),
    st.one_of(st.just("1"), st.text(min_size=1, max_size=12)),
    st.one_of(
        st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6).map(json.dumps),
        JSON.map(json.dumps),
        st.text(max_size=20),
    ),
    st.dictionaries(
        st.sampled_from(HEADERS), st.sampled_from(["Async", "Sync", "Tail", "x", "1", "9" * 30, "a-b"]), max_size=3
    ),
    st.dictionaries(
        st.sampled_from(
            ["limit", "nextToken", "qualifier", "prefix", "status", "ResourceId", "TagKey", "startedTimeBegin"]
        ),
        st.text(max_size=10),
        max_size=3,
    ),
)
@settings(max_examples=150)
def test_any_call_of_any_action(
    endpoint: str,
    route: tuple[str, str],
    function: str,
    item: str,
    body: str,
    headers: dict[str, str],
    query: dict[str, str],
) -> None:
    method, path = route

    def encode(text: str) -> str:
        return quote(text.encode("utf-8", "replace"), safe="")

    path = path.replace("{function}", encode(function)).replace("{item}", encode(item))
    url = f"{endpoint}/2023-03-30/{path}"
    pairs = {key: value.encode("utf-8", "replace").decode() for key, value in query.items()}
    check(CLIENT.request(method, url, content=body.encode("utf-8", "replace"), headers=headers, params=pairs))


@given(st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]), st.text(max_size=40))
@settings(max_examples=80)
def test_any_path(endpoint: str, method: str, path: str) -> None:
    tail = quote(path.encode("utf-8", "replace"), safe="/")
    check(CLIENT.request(method, f"{endpoint}/2023-03-30/{tail}"))
    check(CLIENT.request(method, f"{endpoint}/http/{tail}"))


def test_the_function_still_works_afterwards(endpoint: str) -> None:
    with httpx.Client(trust_env=False) as client:
        base = f"{endpoint}/2023-03-30/functions/f"
        client.post(f"{base}/invoke/enable")
        client.delete(f"{base}/concurrency")
        fresh = {"handler": "index.handler", "runtime": "python3.10", "environmentVariables": {}, "timeout": 5}
        fresh["instanceLifecycleConfig"] = {}
        client.put(base, json=fresh)
        answer = client.post(f"{base}/invocations", content=b"{}")
    assert answer.status_code == 200
