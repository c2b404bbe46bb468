"""What s.yaml deploys, in the API's terms: the documents of the functions, their triggers, the names of the data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scripts.cloud.errors import NotConfigured
from scripts.cloud.settings import current_keys
from scripts.template import Resource, TemplateError, plain, read_template

if TYPE_CHECKING:
    from scripts.cloud.settings import CloudSettings

__all__ = ["Deployment", "FunctionSpec", "adopt_environment", "read_deployment", "role_arn"]

Document = dict[str, Any]
# What fc3 keeps apart from the function itself, and what only fc3 understands.
_APART = ("region", "code", "triggers", "asyncInvokeConfig", "provisionConfig", "scalingConfig", "concurrencyConfig")
_FC3_ONLY = ("customDomain", "vpcBinding", "endpoint", "annotations", "tags")
_DATA = ("TABLESTORE_ENDPOINT", "TABLESTORE_INSTANCE", "OSS_ENDPOINT", "OSS_BUCKET", "STEPKEEPER_LEDGER_TABLE")


@dataclass(frozen=True)
class FunctionSpec:
    """One function as it should be: `document` is the API's JSON without the code."""

    name: str
    resource: str
    document: Mapping[str, Any]
    async_config: Mapping[str, Any] | None = None
    triggers: tuple[Mapping[str, Any], ...] = field(default=())


@dataclass(frozen=True)
class Deployment:
    """All functions of a template, in its order."""

    functions: tuple[FunctionSpec, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(function.name for function in self.functions)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of the first function: the names of the data are the same for all."""
        return dict(self.functions[0].document.get("environmentVariables", {})) if self.functions else {}


def read_deployment(settings: CloudSettings) -> Deployment:
    """Read the template. Raises `TemplateError`, also for a variable that has no value, and `NotConfigured`."""
    template = read_template(settings.template, os.environ)
    for fault in template.faults:
        raise fault
    functions = tuple(_spec(resource, settings) for resource in template.functions())
    if not functions:
        raise TemplateError("it has no fc3 function", template.root.place)
    return Deployment(functions)


def adopt_environment(settings: CloudSettings) -> None:
    """Set what the environment does not say: credentials, and from the template the data's names and public endpoints.

    Functions reach the data from inside the region's network, these jobs mostly from outside of it. Without a template
    the environment has to say everything. Raises `NotConfigured` without credentials, and `TemplateError`.
    """
    keys = current_keys()
    os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"] = keys.key_id
    os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = keys.secret
    if keys.token:
        os.environ["ALIBABA_CLOUD_SECURITY_TOKEN"] = keys.token
    os.environ.setdefault("ALIBABA_CLOUD_REGION", settings.region)
    if all(os.environ.get(key) for key in _DATA) or not settings.template.is_file():
        return
    for key, value in read_deployment(settings).environment.items():
        if key in _DATA and value and not os.environ.get(key):
            os.environ[key] = _public(value)


def _public(endpoint: str) -> str:
    return endpoint.replace(".vpc.tablestore.", ".tablestore.").replace("-internal.aliyuncs.", ".aliyuncs.")


def role_arn(role: str, settings: CloudSettings) -> str:
    """The ARN of a role that is named or given whole. Raises `NotConfigured` when the account's number is missing."""
    if not role or role.startswith("acs:"):
        return role.lower()
    if not settings.account:
        raise NotConfigured("ALIBABA_CLOUD_ACCOUNT_ID", f"the role {role!r} is given by its bare name")
    # OBSERVED: fc3 lower-cases it on the wire (serverless-devs page, 5.3); both ways of deploying must agree.
    return f"acs:ram::{settings.account}:role/{role}".lower()


def _spec(resource: Resource, settings: CloudSettings) -> FunctionSpec:
    props = plain(resource.props)
    assert isinstance(props, dict)
    document = {key: value for key, value in props.items() if key not in _APART + _FC3_ONLY}
    role = document.pop("role", "")
    if role and role != "auto":
        document["role"] = role if not role.startswith("acs:") and not settings.account else role_arn(role, settings)
    for key in ("logConfig", "vpcConfig", "nasConfig", "ossMountConfig"):
        if document.get(key) == "auto":  # fc3 makes these; a deploy without fc3 does without
            del document[key]
    return FunctionSpec(
        name=str(document.get("functionName", resource.name)),
        resource=resource.name,
        document=document,
        async_config=props.get("asyncInvokeConfig"),
        triggers=tuple(props.get("triggers", ())),
    )
