"""Roles and policies: least rights, printed, and made over the RAM API when asked to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from loopback import Answer, Asked, loopback
from typer.testing import CliRunner

from scripts import provision
from scripts.cloud import CloudSettings, ServiceFault
from scripts.cloud.deployment import read_deployment
from scripts.provisioning import Names, Ram, Role, roles_of

ROOT = Path(__file__).resolve().parents[2]
NAMES = Names(
    region="cn-hangzhou",
    account="42",
    instance="inst",
    table="led",
    bucket="buck",
    functions=("b", "a"),
    flows=("f",),
    function_role="fr",
    flow_role="wr",
    log_project="logs",
)


@dataclass
class FakeRam:
    """RAM as far as `Ram` uses it (API version 2015-05-01)."""

    roles: dict[str, str] = field(default_factory=dict)
    policies: dict[str, list[str]] = field(default_factory=dict)
    attached: set[tuple[str, str]] = field(default_factory=set)
    actions: list[str] = field(default_factory=list)
    failing: str = ""

    def answer(self, asked: Asked) -> Answer:
        fields = dict(parse_qsl(urlsplit(asked.path).query) + parse_qsl(asked.body.decode()))
        action = asked.headers.get("x-acs-action") or fields["Action"]
        self.actions.append(action)
        if action == self.failing:
            return Answer.of({"Code": "NoPermission", "Message": "not you", "RequestId": "r"}, 403)
        found: Any = getattr(self, action)(fields)
        if found is None:
            return Answer.of({"Code": "EntityNotExist", "Message": "no such thing", "RequestId": "r"}, 404)
        return Answer.of({"RequestId": "r", **found})

    def GetRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        trust = self.roles.get(fields["RoleName"])
        return trust and {"Role": {"AssumeRolePolicyDocument": trust}}

    def CreateRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        self.roles[fields["RoleName"]] = fields["AssumeRolePolicyDocument"]
        return {}

    def UpdateRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        self.roles[fields["RoleName"]] = fields["NewAssumeRolePolicyDocument"]
        return {}

    def DeleteRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        return None if self.roles.pop(fields["RoleName"], None) is None else {}

    def GetPolicy(self, fields: dict[str, str]) -> Any:  # noqa: N802
        versions = self.policies.get(fields["PolicyName"])
        return versions and {"DefaultPolicyVersion": {"PolicyDocument": versions[-1]}}

    def CreatePolicy(self, fields: dict[str, str]) -> Any:  # noqa: N802
        self.policies[fields["PolicyName"]] = [fields["PolicyDocument"]]
        return {}

    def CreatePolicyVersion(self, fields: dict[str, str]) -> Any:  # noqa: N802
        assert len(self.policies[fields["PolicyName"]]) < 5, "RAM keeps five versions"
        self.policies[fields["PolicyName"]].append(fields["PolicyDocument"])
        return {}

    def ListPolicyVersions(self, fields: dict[str, str]) -> Any:  # noqa: N802
        versions = self.policies.get(fields["PolicyName"])
        if versions is None:
            return None
        listed = [
            {"VersionId": f"v{number}", "IsDefaultVersion": number == len(versions), "CreateDate": f"{number:03}"}
            for number in range(1, len(versions) + 1)
        ]
        return {"PolicyVersions": {"PolicyVersion": listed}}

    def DeletePolicyVersion(self, fields: dict[str, str]) -> Any:  # noqa: N802
        del self.policies[fields["PolicyName"]][int(fields["VersionId"][1:]) - 1]
        return {}

    def DeletePolicy(self, fields: dict[str, str]) -> Any:  # noqa: N802
        return None if self.policies.pop(fields["PolicyName"], None) is None else {}

    def ListPoliciesForRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        if fields["RoleName"] not in self.roles:
            return None
        mine = [policy for role, policy in sorted(self.attached) if role == fields["RoleName"]]
        return {"Policies": {"Policy": [{"PolicyName": policy, "PolicyType": "Custom"} for policy in mine]}}

    def AttachPolicyToRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        self.attached.add((fields["RoleName"], fields["PolicyName"]))
        return {}

    def DetachPolicyFromRole(self, fields: dict[str, str]) -> Any:  # noqa: N802
        self.attached.discard((fields["RoleName"], fields["PolicyName"]))
        return {}


@pytest.fixture
def ram(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeRam, Ram]]:
    fake = FakeRam()
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "local")
    with loopback() as server:
        server.answers = [fake.answer]
        monkeypatch.setenv("STEPKEEPER_RAM_ENDPOINT", server.url)
        yield fake, Ram(CloudSettings())


def test_rights_name_every_action_and_resource() -> None:
    for role in roles_of(NAMES):
        for statement in role.policy["Statement"]:
            assert statement["Effect"] == "Allow"
            assert not any("*" in action for action in statement["Action"]), statement
            reports = {"fnf:ReportTaskSucceeded", "fnf:ReportTaskFailed"}
            assert "*" not in statement["Resource"] or set(statement["Action"]) == reports


def test_functions_may_work_on_rows_and_objects_and_make_or_drop_nothing() -> None:
    functions, _ = roles_of(NAMES)
    allowed = {action for statement in functions.policy["Statement"] for action in statement["Action"]}
    assert allowed == {
        "ots:GetRow",
        "ots:PutRow",
        "ots:UpdateRow",
        "ots:GetRange",
        "oss:GetObject",
        "oss:PutObject",
        "oss:DeleteObject",
        "oss:ListObjects",
        "log:PostLogStoreLogs",
        "fnf:ReportTaskSucceeded",
        "fnf:ReportTaskFailed",
        "fnf:GetExecutionHistory",
    }
    resources = {one for statement in functions.policy["Statement"] for one in statement["Resource"]}
    assert "acs:ots:cn-hangzhou:42:instance/inst/table/led" in resources
    assert "acs:oss:*:42:buck/*" in resources
    assert functions.trust["Statement"][0]["Principal"] == {"Service": ["fc.aliyuncs.com"]}


def test_flows_may_call_the_functions_and_nothing_else() -> None:
    _, flows = roles_of(NAMES)
    (statement,) = flows.policy["Statement"]
    assert statement["Action"] == ["fc:InvokeFunction"]
    assert statement["Resource"][:2] == [
        "acs:fc:cn-hangzhou:42:functions/a",
        "acs:fc:cn-hangzhou:42:functions/a/*",
    ]
    assert flows.trust["Statement"][0]["Principal"] == {"Service": ["fnf.aliyuncs.com"]}


def test_every_call_of_the_functions_has_its_right() -> None:
    """What the handlers and the ledger send is what the policy allows."""
    source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "ledger").glob("*.py"))
    calls = {
        "get_row": "ots:GetRow",
        "put_row": "ots:PutRow",
        "update_row": "ots:UpdateRow",
        "get_range": "ots:GetRange",
    }
    functions, _ = roles_of(NAMES)
    allowed = {action for statement in functions.policy["Statement"] for action in statement["Action"]}
    assert {right for call, right in calls.items() if f"client.{call}(" in source} <= allowed
    handlers = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "functions").rglob("*.py"))
    asked = set(re.findall(r"models\.(\w+)Request\(", handlers))
    assert asked
    assert {f"fnf:{action}" for action in asked} <= allowed
    for other in ("delete_row", "batch_write_row", "delete_table"):
        assert f"client.{other}(" not in source


def test_policies_are_printed_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("ALIBABA_CLOUD_ACCESS_KEY_ID", raising=False)
    printed = CliRunner().invoke(provision.app, ["--print-policies", "--json"])
    assert printed.exit_code == 0
    names = [role["name"] for role in json.loads(printed.output)]
    assert names == ["stepkeeper-functions", "stepkeeper-flows"]
    text = CliRunner().invoke(provision.app, ["--print-policies"]).output
    assert "aliyun ram AttachPolicyToRole --PolicyType Custom --PolicyName stepkeeper-flows" in text


def test_the_flows_right_covers_all_functions_that_flows_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    settings = CloudSettings()
    _, flows = provision.roles(settings, read_deployment(settings))
    resources = flows.policy["Statement"][0]["Resource"]
    called = [file.read_text(encoding="utf-8") for file in (ROOT / "flows").glob("*.yaml")]
    assert any("functions/stepkeeper-hand-over/" in text for text in called)
    assert "acs:fc:cn-hangzhou:*:functions/stepkeeper-hand-over/*" in resources


def test_roles_are_made_once_and_changed_when_they_differ(ram: tuple[FakeRam, Ram]) -> None:
    fake, client = ram
    wanted = roles_of(NAMES)
    assert len(client.plan(wanted)) == 6
    client.apply(wanted)
    assert client.plan(wanted) == []
    fake.actions.clear()
    client.apply(wanted)
    assert {action for action in fake.actions if not action.startswith(("Get", "List"))} == set()
    wider = [Role(role.name, role.description, role.trust, {"Statement": [], "Version": "1"}) for role in wanted]
    assert {change.what for change in client.plan(wider)} == {"policy fr", "policy wr"}
    client.apply(wider)
    assert json.loads(fake.policies["fr"][-1]) == {"Statement": [], "Version": "1"}


def test_the_oldest_version_of_a_policy_makes_room(ram: tuple[FakeRam, Ram]) -> None:
    fake, client = ram
    for number in range(8):
        policy = {"Statement": [], "Version": str(number)}
        client.apply([Role("fr", "d", {"Version": "1"}, policy)])
    assert [json.loads(text)["Version"] for text in fake.policies["fr"]] == ["3", "4", "5", "6", "7"]


def test_roles_go_away_whole_and_a_second_time_quietly(ram: tuple[FakeRam, Ram]) -> None:
    fake, client = ram
    client.apply(roles_of(NAMES))
    assert client.there(["fr", "wr", "other"]) == ["fr", "wr"]
    client.remove(["fr", "wr"])
    assert (fake.roles, fake.policies, fake.attached) == ({}, {}, set())
    client.remove(["fr", "wr"])


def test_a_missing_right_is_a_typed_error(ram: tuple[FakeRam, Ram]) -> None:
    fake, client = ram
    fake.failing = "CreateRole"
    with pytest.raises(ServiceFault) as caught:
        client.apply(roles_of(NAMES))
    assert (caught.value.service, caught.value.action, caught.value.code) == ("RAM", "CreateRole", "NoPermission")
