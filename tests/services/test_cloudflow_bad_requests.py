"""Whatever a client sends to CloudFlow: the documented error shape, never a 500 or a dead connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_sim.project import Project
from local_sim.server import LocalServer
from local_sim.services.cloudflow import ACTIONS
from local_sim.services.cloudflow.parameters import wire_names

FLOW = json.dumps(
    {
        "Type": "StateMachine",
        "SpecVersion": "v1",
        "Name": "f",
        "StartAt": "A",
        "States": [{"Type": "Pass", "Name": "A", "End": True}],
    }
)
ODD = ["f", "e", "0", "1", "-1", "60", "1e9", "true", "null", "{}", "[]", '{"a":1}', "NaN", "djEjZiNlIzEjeA=="]
TIMES = ["2026-01-01T00:00:00Z", "9999-99-99T00:00:00Z", "0 0 0 * * *", "@every 1m"]
SHAPES = ['[{"Version":"1","Weight":1}]', '{"Variables":[{"Name":1}]}']
LONG = ["9" * 40, "x" * 5000, "[" * 3000, FLOW, "", "\x00", "文"]
VALUES = st.one_of(st.text(max_size=30), st.sampled_from([*ODD, *TIMES, *SHAPES, *LONG])).map(
    lambda text: text.encode("utf-8", "replace").decode()
)

CLIENT = httpx.Client(trust_env=False, timeout=20)  # one connection for all examples


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("bad")
    with LocalServer(Project(folder), folder / "data", workers="in-process") as server:
        create = {"Action": "CreateFlow", "Name": "f", "Definition": FLOW, "Description": "", "Type": "FDL"}
        with httpx.Client(trust_env=False) as client:
            client.post(server.endpoint, data=create)
            client.post(server.endpoint, data={"Action": "StartExecution", "FlowName": "f", "ExecutionName": "e"})
        yield server.endpoint


def check(answer: httpx.Response) -> None:
    assert answer.headers["content-type"].startswith("application/json")
    document = answer.json()
    assert document["RequestId"]
    if answer.status_code == 200:
        assert "Code" not in document
    else:
        assert 400 <= answer.status_code < 500, document
        assert {"RequestId", "HostId", "Code", "Message"} <= set(document)


@given(
    st.sampled_from(sorted(ACTIONS)).flatmap(
        lambda action: st.tuples(
            st.just(action),
            st.dictionaries(st.sampled_from([*wire_names(ACTIONS[action]), "Version", "Format"]), VALUES, max_size=9),
            st.booleans(),
        )
    )
)
@settings(max_examples=150)
def test_any_parameters_of_any_action(endpoint: str, call: tuple[str, dict[str, str], bool]) -> None:
    action, parameters, in_form = call
    if action == "DescribeExecution":  # a long poll would only cost time
        parameters.pop("WaitTimeSeconds", None)
    if action == "DeleteFlow" and parameters.get("Name") == "f":
        parameters["Name"] = "g"
    if in_form:
        check(CLIENT.post(endpoint, content=urlencode({"Action": action, **parameters}).encode(), headers=FORM))
    else:
        check(CLIENT.get(f"{endpoint}/?{urlencode({'Action': action, **parameters})}"))


FORM = {"content-type": "application/x-www-form-urlencoded"}


@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
    st.binary(max_size=200),
    st.sampled_from(
        ["application/x-www-form-urlencoded", "application/json", "text/xml; charset=x", "", "multipart/x"]
    ),
)
@settings(max_examples=100)
def test_any_bytes_by_any_method(endpoint: str, method: str, body: bytes, media_type: str) -> None:
    # A GET of the bare address is a person's who looks for the console.
    address = f"{endpoint}/?Action=" if method == "GET" else endpoint
    check(CLIENT.request(method, address, content=body, headers={"content-type": media_type}))


def test_an_oversized_request_is_answered(endpoint: str) -> None:
    answer = CLIENT.post(endpoint, data={"Action": "CreateFlow", "Definition": "x" * 1_100_000})
    check(answer)
    assert answer.json()["Code"] == "EntityTooLarge"


def test_the_server_still_works_afterwards(endpoint: str) -> None:
    with httpx.Client(trust_env=False) as client:
        answer = client.get(f"{endpoint}/?Action=DescribeExecution&FlowName=f&ExecutionName=e&WaitTimeSeconds=5")
    assert answer.json()["Status"] == "Succeeded"
