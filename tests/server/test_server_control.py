"""The control endpoint, the state file, the secret, and faults."""

from __future__ import annotations

import http.client
import json
import stat
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client as FnfClient
from alibabacloud_tea_openapi.models import Config
from served_world import World, passing
from Tea.exceptions import TeaException

from local_sim.project import Project
from local_sim.server import ControlClient, LocalServer, SecretNeeded, ServerNotRunning, ServerUnreachable, read_state


def ask(world: World, headers: dict[str, str], path: str = "/_local/status") -> int:
    address = urlsplit(world.server.endpoint)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_the_holder_of_the_token_is_answered(world: World) -> None:
    token = read_state(world.folder / "data").token
    assert ask(world, {"x-local-sim-token": token}) == 200
    assert ask(world, {}) == 403
    assert ask(world, {"x-local-sim-token": token[:-1]}) == 403
    assert ask(world, {"x-local-sim-token": token}, "/_local/nothing") == 404


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_foreign_hosts_and_origins_are_refused_even_with_the_token(world: World, headers: dict[str, str]) -> None:
    token = read_state(world.folder / "data").token
    assert ask(world, {"x-local-sim-token": token, **headers}) == 403


def test_the_state_file_is_private_and_goes_with_the_server(world: World) -> None:
    folder = world.folder / "data"
    assert stat.S_IMODE((folder / "server.json").stat().st_mode) == 0o600
    assert read_state(folder).endpoint == world.server.endpoint
    world.server.stop()
    with pytest.raises(ServerNotRunning):
        ControlClient(folder)


def test_a_fault_strikes_as_often_as_it_may(world: World) -> None:
    world.create("f", passing("A"))
    client = ControlClient(world.folder / "data")
    rule = {"service": "fnf", "api": "ListFlows", "kind": "throttle", "times": 1}
    number = client.call("POST", "faults", rule)["id"]
    world.fnf.describe_flow(fnf.DescribeFlowRequest(name="f"))
    with pytest.raises(TeaException) as struck:
        world.fnf.list_flows(fnf.ListFlowsRequest())
    assert (struck.value.code, struck.value.statusCode) == ("ResourceThrottled", 429)
    assert len(world.fnf.list_flows(fnf.ListFlowsRequest()).body.flows) == 1
    (shown,) = client.call("GET", "faults")["faults"]
    assert (shown["id"], shown["hits"]) == (number, 1)
    client.call("POST", "faults/clear")
    assert client.call("GET", "faults")["faults"] == []


def test_a_dropped_start_that_was_applied_can_be_repeated(world: World) -> None:
    """The answer is lost, not the start: the same name finds the running execution (A30)."""
    world.create("f", {"Type": "Wait", "Name": "W", "Seconds": 100})
    rule = {"service": "fnf", "api": "StartExecution", "kind": "drop-after", "times": 1}
    ControlClient(world.folder / "data").call("POST", "faults", rule)
    with pytest.raises(Exception, match=r".+"):
        world.begin("f", "one")
    assert world.begin("f", "one").status == "Running"
    assert len(world.fnf.list_executions(fnf.ListExecutionsRequest(flow_name="f")).body.executions) == 1


def test_a_bad_rule_is_refused_with_the_kinds(world: World) -> None:
    with pytest.raises(ServerUnreachable, match="drop-before"):
        ControlClient(world.folder / "data").call("POST", "faults", {"service": "fnf", "kind": "explode"})


def test_beyond_loopback_a_secret_is_needed(tmp_path: Path) -> None:
    with pytest.raises(SecretNeeded):
        LocalServer(Project(tmp_path), tmp_path / "data", host="0.0.0.0")


def test_with_a_secret_signatures_are_checked(tmp_path: Path) -> None:
    with LocalServer(Project(tmp_path), tmp_path / "data", secret="right") as server:
        good = FnfClient(Config(endpoint=server.endpoint, access_key_id="local", access_key_secret="right"))
        bad = FnfClient(Config(endpoint=server.endpoint, access_key_id="local", access_key_secret="wrong"))
        assert good.list_flows(fnf.ListFlowsRequest(limit=5)).body.flows == []
        definition = json.dumps({"Name": "x", "文": "+ /&=~*"})
        request = fnf.CreateFlowRequest(name="x", definition=definition, description="ü +", type="FDL")
        with pytest.raises(TeaException) as invalid:
            good.create_flow(request)
        assert invalid.value.code == "InvalidArgument"  # the signature was right, the definition is not
        with pytest.raises(TeaException) as refused:
            bad.list_flows(fnf.ListFlowsRequest())
        assert (refused.value.code, refused.value.statusCode) == ("SignatureNotMatch", 403)


def test_one_server_at_a_time_on_a_data_folder(world: World) -> None:
    second = LocalServer(Project(world.folder), world.folder / "data")
    with pytest.raises(Exception, match="another process"):
        second.start()
    assert read_state(world.folder / "data").endpoint == world.server.endpoint
