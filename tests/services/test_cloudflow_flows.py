"""Flows, versions and aliases through the unmodified SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config
from Tea.exceptions import TeaException

from local_sim.project import Project
from local_sim.server import LocalServer


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with LocalServer(Project(tmp_path), tmp_path / "data", workers="in-process") as server:
        yield Client(Config(endpoint=server.endpoint, access_key_id="a", access_key_secret="b"))


def definition(name: str, mark: int = 0) -> str:
    state = {"Type": "Pass", "Name": "A", "OutputConstructor": {"mark": mark}, "End": True}
    return json.dumps({"Type": "StateMachine", "SpecVersion": "v1", "Name": name, "StartAt": "A", "States": [state]})


def create(client: Client, name: str, **fields: Any) -> Any:
    given = {"definition": definition(name), "description": "d", "type": "FDL", **fields}
    return client.create_flow(fnf.CreateFlowRequest(name=name, **given)).body


def refusal(call: Any) -> tuple[str, int]:
    with pytest.raises(TeaException) as caught:
        call()
    return caught.value.code, caught.value.statusCode


def test_a_flow_is_described_as_it_was_made(client: Client) -> None:
    variables = [fnf.CreateFlowRequestEnvironmentVariables(name="K", value="v", description="why")]
    made = create(
        client,
        "f",
        role_arn="acs:ram::1:role/x",
        environment=fnf.CreateFlowRequestEnvironment(variables=variables),
        resource_group_id="rg",
    )
    body = client.describe_flow(fnf.DescribeFlowRequest(name="f")).body
    assert (body.name, body.id, body.type, body.role_arn) == ("f", made.id, "FDL", "acs:ram::1:role/x")
    assert (body.execution_mode, body.resource_group_id, body.definition) == ("Standard", "rg", definition("f"))
    assert [(item.name, item.value, item.description) for item in body.environment.variables] == [("K", "v", "why")]
    assert body.created_time == body.last_modified_time == made.created_time


def test_an_update_changes_what_is_given_only(client: Client) -> None:
    made = create(client, "f", role_arn="r")
    body = client.update_flow(fnf.UpdateFlowRequest(name="f", description="")).body
    assert (body.description, body.definition, body.role_arn, body.id) == ("", definition("f"), "r", made.id)
    assert body.last_modified_time > made.last_modified_time


def test_the_documented_codes(client: Client) -> None:
    create(client, "f")
    assert refusal(lambda: create(client, "f")) == ("FlowAlreadyExists", 409)
    assert refusal(lambda: create(client, "g", type="XYZ")) == ("InvalidArgument", 400)
    assert refusal(lambda: create(client, "g", execution_mode="Slow")) == ("InvalidArgument", 400)
    assert refusal(lambda: create(client, "g", definition=definition("other"))) == ("InvalidArgument", 400)
    assert refusal(lambda: create(client, "g", definition="no: flow")) == ("InvalidArgument", 400)
    assert refusal(lambda: client.delete_flow(fnf.DeleteFlowRequest(name="none"))) == ("FlowNotExists", 404)
    missing = client.start_execution
    assert refusal(lambda: missing(fnf.StartExecutionRequest(flow_name="none"))) == ("FlowNotExists", 404)


def test_a_bad_definition_says_where(client: Client) -> None:
    head = "Type: StateMachine\nSpecVersion: v1\nName: g\nStartAt: Nowhere\n"
    text = head + "States:\n  - {Type: Pass, Name: A, End: true}\n"
    with pytest.raises(TeaException) as refused:
        create(client, "g", definition=text)
    assert ":4:" in refused.value.message
    assert "Nowhere" in refused.value.message


def test_the_missing_flow_text_is_what_tools_match_on(client: Client) -> None:
    with pytest.raises(TeaException) as refused:
        client.describe_flow(fnf.DescribeFlowRequest(name="none"))
    assert "Flow 'none' does not exist." in refused.value.message
    assert refused.value.data["Code"] == "FlowNotExists"


def test_flows_are_listed_by_name_in_pages(client: Client) -> None:
    for number in range(5):
        create(client, f"f{number}", resource_group_id="even" if number % 2 == 0 else "odd")
    names: list[str] = []
    token = None
    while True:
        body = client.list_flows(fnf.ListFlowsRequest(limit=2, next_token=token)).body
        names += [flow.name for flow in body.flows]
        token = body.next_token
        if not token:
            break
    assert names == ["f0", "f1", "f2", "f3", "f4"]
    odd = client.list_flows(fnf.ListFlowsRequest(limit=1000, resource_group_id="odd")).body.flows
    assert [flow.name for flow in odd] == ["f1", "f3"]


def test_versions_are_numbered_and_never_used_again(client: Client) -> None:
    create(client, "f")
    publish = fnf.PublishFlowVersionRequest(flow_name="f", description="x")
    assert client.publish_flow_version(publish).body.version == "1"
    client.update_flow(fnf.UpdateFlowRequest(name="f", definition=definition("f", 2)))
    assert client.publish_flow_version(publish).body.version == "2"
    old = client.describe_flow(fnf.DescribeFlowRequest(name="f", flow_version="1")).body
    assert old.definition == definition("f")
    client.delete_flow_version(fnf.DeleteFlowVersionRequest(flow_name="f", flow_version="2"))
    assert client.publish_flow_version(publish).body.version == "3"
    listed = client.list_flow_versions(fnf.ListFlowVersionsRequest(flow_name="f")).body.flow_versions
    assert [version.version for version in listed] == ["3", "1"]
    gone = refusal(lambda: client.describe_flow(fnf.DescribeFlowRequest(name="f", flow_version="2")))
    assert gone == ("FlowVersionNotExists", 404)


def test_aliases_point_at_versions_with_weights(client: Client) -> None:
    create(client, "f")
    for _ in range(2):
        client.publish_flow_version(fnf.PublishFlowVersionRequest(flow_name="f"))
    route = fnf.CreateFlowAliasRequestRoutingConfigurations
    request = fnf.CreateFlowAliasRequest(
        flow_name="f",
        name="prod",
        routing_configurations=[route(version="1", weight=90), route(version="2", weight=10)],
    )
    made = client.create_flow_alias(request).body
    assert [(item.version, item.weight) for item in made.routing_configurations] == [("1", 90), ("2", 10)]
    assert refusal(lambda: client.create_flow_alias(request)) == ("FlowAliasAlreadyExists", 409)
    busy = fnf.DeleteFlowVersionRequest(flow_name="f", flow_version="2")
    assert refusal(lambda: client.delete_flow_version(busy)) == ("PreconditionFailed", 412)
    changed = fnf.UpdateFlowAliasRequest(
        flow_name="f",
        name="prod",
        routing_configurations=[fnf.UpdateFlowAliasRequestRoutingConfigurations(version="1", weight=100)],
    )
    assert len(client.update_flow_alias(changed).body.alias.routing_configurations) == 1
    client.delete_flow_version(busy)
    shown = client.describe_flow_alias(fnf.DescribeFlowAliasRequest(flow_name="f", name="prod")).body.alias
    assert shown.name == "prod"
    assert len(client.list_flow_aliases(fnf.ListFlowAliasesRequest(flow_name="f")).body.aliases) == 1
    client.delete_flow_alias(fnf.DeleteFlowAliasRequest(flow_name="f", name="prod"))
    assert client.list_flow_aliases(fnf.ListFlowAliasesRequest(flow_name="f")).body.aliases == []


def test_an_alias_of_a_missing_version_is_refused(client: Client) -> None:
    create(client, "f")
    route = fnf.CreateFlowAliasRequestRoutingConfigurations(version="7", weight=1)
    request = fnf.CreateFlowAliasRequest(flow_name="f", name="a", routing_configurations=[route])
    assert refusal(lambda: client.create_flow_alias(request)) == ("FlowVersionNotExists", 404)


def test_regions_name_this_machine(client: Client) -> None:
    (region,) = client.describe_regions(fnf.DescribeRegionsRequest()).body.regions.region
    assert region.region_id == "cn-hangzhou"


def test_flows_of_the_project_are_there_until_the_api_makes_them(tmp_path: Path) -> None:
    """S18."""
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "f.json").write_text(definition("f", 1))
    (tmp_path / "flows" / "broken.yaml").write_text("Type: nothing")
    with LocalServer(Project(tmp_path), tmp_path / "data") as server:
        client = Client(Config(endpoint=server.endpoint, access_key_id="a", access_key_secret="b"))
        assert [flow.name for flow in client.list_flows(fnf.ListFlowsRequest()).body.flows] == ["f"]
        create(client, "f", definition=definition("f", 2))
        assert refusal(lambda: create(client, "f")) == ("FlowAlreadyExists", 409)
    with LocalServer(Project(tmp_path), tmp_path / "data") as server:
        client = Client(Config(endpoint=server.endpoint, access_key_id="a", access_key_secret="b"))
        assert client.describe_flow(fnf.DescribeFlowRequest(name="f")).body.definition == definition("f", 2)
