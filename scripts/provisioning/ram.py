"""RAM roles and policies over the RAM API (2015-05-01). Used with `provision --ram` only (assumption D05)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scripts.cloud import Change, CloudSettings, ServiceFault
from scripts.cloud.calls import call, open_config
from scripts.provisioning.policies import Role

__all__ = ["Ram"]

_VERSIONS_KEPT = 5  # the most versions a policy may have


@dataclass(frozen=True)
class Ram:
    """Roles and policies of the account. Every method raises `ServiceFault`."""

    settings: CloudSettings

    def plan(self, roles: Sequence[Role]) -> list[Change]:
        """What `apply` would change."""
        changes = []
        for role in roles:
            thing = f"role {role.name}"
            found = self._found("GetRole", RoleName=role.name)
            if found is None:
                changes.append(Change(thing, "role", None, "made"))
            elif _parsed(found["Role"]["AssumeRolePolicyDocument"]) != role.trust:
                changes.append(Change(thing, "trust", "other", "as documented"))
            if self._policy(role.name) != role.policy:
                changes.append(
                    Change(thing, f"policy {role.name}", None if found is None else "other", "as documented")
                )
            if found is None or role.name not in self._attached(role.name):
                changes.append(Change(thing, "attachment", None, f"policy {role.name}"))
        return changes

    def apply(self, roles: Sequence[Role]) -> None:
        """Make roles and policies what they should be; each step looks first."""
        for role in roles:
            self._settle_role(role)
            self._settle_policy(role)
            if role.name not in self._attached(role.name):
                self._send("AttachPolicyToRole", PolicyType="Custom", PolicyName=role.name, RoleName=role.name)

    def remove(self, names: Sequence[str]) -> None:
        """Remove roles and the policies of their names; quiet about what is gone."""
        for name in names:
            for policy in self._attached(name):
                self._found("DetachPolicyFromRole", PolicyType="Custom", PolicyName=policy, RoleName=name)
            self._found("DeleteRole", RoleName=name)
            for version in self._versions(name):
                if not version["IsDefaultVersion"]:
                    self._found("DeletePolicyVersion", PolicyName=name, VersionId=version["VersionId"])
            self._found("DeletePolicy", PolicyName=name)

    def there(self, names: Sequence[str]) -> list[str]:
        """Those of the roles that exist."""
        return [name for name in names if self._found("GetRole", RoleName=name) is not None]

    def _settle_role(self, role: Role) -> None:
        found = self._found("GetRole", RoleName=role.name)
        trust = json.dumps(role.trust)
        if found is None:
            fields = {"Description": role.description, "AssumeRolePolicyDocument": trust}
            self._send("CreateRole", RoleName=role.name, **fields)
        elif _parsed(found["Role"]["AssumeRolePolicyDocument"]) != role.trust:
            self._send("UpdateRole", RoleName=role.name, NewAssumeRolePolicyDocument=trust)

    def _settle_policy(self, role: Role) -> None:
        before = self._policy(role.name)
        text = json.dumps(role.policy)
        if before is None:
            fields = {"Description": role.description, "PolicyDocument": text}
            self._send("CreatePolicy", PolicyName=role.name, **fields)
        elif before != role.policy:
            self._make_room(role.name)
            self._send("CreatePolicyVersion", PolicyName=role.name, PolicyDocument=text, SetAsDefault="true")

    def _make_room(self, policy: str) -> None:
        versions = self._versions(policy)
        old = sorted((one for one in versions if not one["IsDefaultVersion"]), key=lambda one: str(one["CreateDate"]))
        if old and len(versions) >= _VERSIONS_KEPT:
            self._send("DeletePolicyVersion", PolicyName=policy, VersionId=old[0]["VersionId"])

    def _policy(self, name: str) -> object:
        found = self._found("GetPolicy", PolicyType="Custom", PolicyName=name)
        return None if found is None else _parsed(found["DefaultPolicyVersion"]["PolicyDocument"])

    def _versions(self, name: str) -> list[Mapping[str, Any]]:
        found = self._found("ListPolicyVersions", PolicyType="Custom", PolicyName=name)
        return [] if found is None else list(found["PolicyVersions"]["PolicyVersion"])

    def _attached(self, role: str) -> list[str]:
        found = self._found("ListPoliciesForRole", RoleName=role)
        policies = [] if found is None else found["Policies"]["Policy"]
        return [one["PolicyName"] for one in policies if one["PolicyType"] == "Custom"]

    @cached_property
    def _client(self) -> Any:
        from alibabacloud_tea_openapi.client import Client

        return Client(open_config(self.settings.ram_endpoint, self.settings.region))

    def _found(self, action: str, **fields: str) -> Mapping[str, Any] | None:
        try:
            return self._send(action, **fields)
        except ServiceFault as fault:
            if fault.missing:
                return None
            raise

    def _send(self, action: str, **fields: str) -> Mapping[str, Any]:
        from alibabacloud_tea_openapi.models import OpenApiRequest, Params
        from darabonba.runtime import RuntimeOptions

        scheme = self.settings.ram_endpoint.partition("://")[0] if "://" in self.settings.ram_endpoint else "https"
        params = Params(
            action=action,
            version="2015-05-01",
            protocol=scheme,
            pathname="/",
            method="POST",
            auth_type="AK",
            style="RPC",
            req_body_type="formData",
            body_type="json",
        )
        request = OpenApiRequest(query=fields)
        answer = call("RAM", action, lambda: self._client.call_api(params, request, RuntimeOptions()))
        return dict(answer["body"])


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
