"""Every kind of fault on every service of a running server, armed by the control endpoint."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

import oss2
import pytest
import tablestore as sdk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served_world import World, passing
from tablestore.retry import NoRetryPolicy

from local_sim.project import load_project
from local_sim.server import ControlClient, LocalServer, ServerUnreachable
from local_sim.services.faults import FaultKind

TEMPLATE = """
edition: 3.0.0
name: f
access: default
resources:
  work:
    component: fc3
    props: {region: cn-hangzhou, functionName: work, runtime: python3.10, handler: index.h, code: ./code}
"""
LOST = (http.client.HTTPException, ConnectionError)
KINDS = list(FaultKind)


class Cut(Exception):
    """The answer did not arrive whole."""


class Refused(Exception):
    """The service answered an error."""


class Target:
    """One service: a write with a value, and a read of what is there."""

    def __init__(self, service: str, api: str, write: Callable[[int], None], read: Callable[[], int]) -> None:
        self.service, self.api, self.write, self.read = service, api, write, read


def answered(endpoint: str, method: str, path: str, body: bytes = b"", media_type: str = "") -> Any:
    address = urlsplit(endpoint)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
    with contextlib.closing(connection):
        connection.request(method, path, body, {"content-type": media_type})
        answer = connection.getresponse()
        document = json.loads(answer.read() or b"{}")
        if answer.status >= 400:
            raise Refused(document["Code"])
        return document


def fnf_target(endpoint: str) -> Target:
    def call(action: str, **parameters: str) -> Any:
        body = urlencode({"Action": action, **parameters}).encode()
        return answered(endpoint, "POST", "/", body, "application/x-www-form-urlencoded")

    return Target(
        "fnf",
        "UpdateFlow",
        lambda value: call("UpdateFlow", Name="f", Description=str(value)),
        lambda: int(call("DescribeFlow", Name="f")["Description"]),
    )


def fc_target(endpoint: str) -> Target:
    path = "/2023-03-30/functions/work/concurrency"

    def write(value: int) -> None:
        answered(endpoint, "PUT", path, json.dumps({"reservedConcurrency": value}).encode(), "application/json")

    return Target("fc", "PutConcurrencyConfig", write, lambda: answered(endpoint, "GET", path)["reservedConcurrency"])


def ots_target(endpoint: str) -> Target:
    client = sdk.OTSClient(endpoint, "local", "local", "inst", retry_policy=NoRetryPolicy())
    with contextlib.suppress(sdk.OTSServiceError):
        client.create_table(
            sdk.TableMeta("t", [("k", "STRING")]), sdk.TableOptions(), sdk.ReservedThroughput(sdk.CapacityUnit(0, 0))
        )

    def write(value: int) -> None:
        try:
            client.put_row("t", sdk.Row([("k", "a")], [("value", value)]))
        except sdk.OTSServiceError as error:
            raise Refused(error.get_error_code()) from error
        except Exception as error:  # whatever urllib3 or the parser makes of a cut connection
            raise Cut from error

    return Target("ots", "PutRow", write, lambda: client.get_row("t", [("k", "a")])[1].attribute_columns[0][1])


def oss_target(endpoint: str) -> Target:
    bucket = oss2.Bucket(oss2.Auth("local", "local"), endpoint, "bucket")
    bucket.create_bucket()
    bucket.put_object("source", b"x")

    def write(value: int) -> None:
        # A copy, because its answer has a body that can be cut; sent raw, because oss2 does not read that body.
        headers = {"x-oss-copy-source": "/bucket/source", "x-oss-meta-v": str(value), **REPLACE}
        address = urlsplit(bucket.sign_url("PUT", "o", 600, headers=headers))
        connection = http.client.HTTPConnection(address.netloc, timeout=20)
        with contextlib.closing(connection):
            connection.request("PUT", f"{address.path}?{address.query}", headers=headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status >= 400:
            raise Refused(text.partition("<Code>")[2].partition("</Code>")[0])

    return Target("oss", "CopyObject", write, lambda: int(bucket.head_object("o").headers["x-oss-meta-v"]))


REPLACE = {"x-oss-metadata-directive": "REPLACE"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "code").mkdir()
    (folder / "code" / "index.py").write_text("def h(event, context): return event")
    (folder / "s.yaml").write_text(TEMPLATE)
    world = World(folder)
    world.server = LocalServer(load_project(folder), folder / "data")
    with world.server:
        world.create("f", passing("A"))
        yield world


@pytest.fixture
def control(served: World) -> Iterator[ControlClient]:
    """The control endpoint; the rules go with the test."""
    client = ControlClient(served.folder / "data")
    yield client
    client.call("POST", "faults/clear")


@pytest.fixture(scope="module")
def targets(served: World) -> dict[str, Target]:
    environment = served.server.environment
    return {
        "fnf": fnf_target(served.server.endpoint),
        "fc": fc_target(served.server.endpoint),
        "ots": ots_target(environment["TABLESTORE_ENDPOINT"]),
        "oss": oss_target(environment["OSS_ENDPOINT"]),
    }


# What the client sees, and whether the write counts once its answer (or its loss) is there.
SEEN = {
    FaultKind.DROP_BEFORE: ("cut", False),
    FaultKind.DROP_AFTER: ("cut", True),
    FaultKind.APPLIED_THEN_ERROR: ("refused", True),
    FaultKind.DELAY: ("ok", True),
    FaultKind.THROTTLE: ("refused", False),
    FaultKind.DUPLICATE: ("ok", True),
    FaultKind.PARTIAL_BODY: ("cut", True),
    FaultKind.REORDER: ("ok", True),
    FaultKind.LATE: ("cut", False),
}
THROTTLED = {"fnf": "ResourceThrottled", "fc": "ResourceExhausted", "ots": "OTSServerBusy", "oss": "ServiceUnavailable"}


def outcome(write: Callable[[int], None], value: int) -> tuple[str, str]:
    try:
        write(value)
    except (*LOST, Cut):
        return "cut", ""
    except Refused as error:
        return "refused", str(error)
    return "ok", ""


@pytest.mark.parametrize("service", ["fnf", "fc", "ots", "oss"])
@pytest.mark.parametrize("kind", KINDS, ids=[kind.value for kind in KINDS])
def test_a_fault_of_each_kind_strikes_each_service(
    served: World, control: ControlClient, targets: dict[str, Target], service: str, kind: FaultKind
) -> None:
    target = targets[service]
    target.write(1)
    rule = {"service": service, "api": target.api, "kind": kind.value, "times": 1, "delay_ms": 20}
    control.call("POST", "faults", rule)
    seen, applied = SEEN[kind]
    assert outcome(target.write, 2) == (seen, THROTTLED[service] if seen == "refused" else "")
    assert [fault["hits"] for fault in control.call("GET", "faults")["faults"]] == [1]
    if kind is FaultKind.LATE:  # lands when a later request is over
        target.read()
        served.until(lambda: target.read() == 2)
    else:
        assert target.read() == (2 if applied else 1)
    assert outcome(target.write, 3) == ("ok", "")


def test_drop_is_short_for_drop_before(control: ControlClient, targets: dict[str, Target]) -> None:
    control.call("POST", "faults", {"service": "oss", "api": "CopyObject", "kind": "drop", "times": 1})
    assert outcome(targets["oss"].write, 9) == ("cut", "")
    assert control.call("GET", "faults")["faults"][0]["kind"] == "drop-before"


def test_a_service_that_is_none_is_refused(control: ControlClient) -> None:
    with pytest.raises(ServerUnreachable, match="'otss' is none of"):
        control.call("POST", "faults", {"service": "otss", "api": "*", "kind": "throttle"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
FIELDS = ["service", "api", "kind", "rate", "times", "seed", "delay_ms", "code", "more"]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3) | JSON)
def test_any_rule_is_taken_or_refused_by_name(control: ControlClient, given_rule: Any) -> None:
    usual = {"service": "fnf", "api": "None", "kind": "throttle"}
    rule = {**usual, **given_rule} if isinstance(given_rule, dict) else given_rule
    said = "an id"
    try:
        control.call("POST", "faults", rule)
    except ServerUnreachable as error:
        said = str(error)
    assert re.search(r"an id|not a fault rule|is of the wrong type|is not between|less than|is none of", said)


def test_large_objects_stream_past_the_rules(served: World, control: ControlClient, targets: dict[str, Target]) -> None:
    """A rule for another API leaves 10 MB alone; one that repeats the request sends the same bytes again."""
    bucket = oss2.Bucket(oss2.Auth("local", "local"), served.server.environment["OSS_ENDPOINT"], "bucket")
    data = bytes(range(256)) * 40_000
    control.call("POST", "faults", {"service": "oss", "api": "PutObject", "kind": "duplicate", "times": 1})
    assert bucket.put_object("large", data).status == 200
    control.call("POST", "faults", {"service": "oss", "api": "GetObject", "kind": "partial-body", "times": 1})
    with pytest.raises(Exception, match=r".+"):
        bucket.get_object("large").read()
    assert bucket.get_object("large").read() == data
