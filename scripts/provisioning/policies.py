"""The rights of the two roles, no wider than what the code does: one for the functions, one for CloudFlow.

Actions and resources are named one by one. The functions read and write rows of the ledger's tables, objects of the
bucket and lines of the log, and report decisions to waiting tasks; they make, change or delete no tables, buckets,
flows or functions. CloudFlow calls the functions of the template and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Names", "Role", "roles_of"]

Document = dict[str, Any]


@dataclass(frozen=True)
class Names:
    """What the rights are about. An empty `account` means the account that the role belongs to (`*`)."""

    region: str
    account: str
    instance: str
    table: str
    bucket: str
    functions: Sequence[str]
    flows: Sequence[str]
    function_role: str
    flow_role: str
    log_project: str = ""


@dataclass(frozen=True)
class Role:
    """A role: who may take it on (`trust`) and what it may do then (`policy`, kept under the role's own name)."""

    name: str
    description: str
    trust: Mapping[str, Any]
    policy: Mapping[str, Any]


def roles_of(names: Names) -> list[Role]:
    """The roles with the least rights they need."""
    return [
        Role(
            names.function_role,
            "What the functions of Stepkeeper may do",
            _trust("fc.aliyuncs.com"),
            _policy(_ledger(names), _payloads(names), _listing(names), _logs(names), _reports(), _histories(names)),
        ),
        Role(
            names.flow_role,
            "What the flows of Stepkeeper may do: call its functions",
            _trust("fnf.aliyuncs.com"),
            _policy(_invocations(names)),
        ),
    ]


def _trust(service: str) -> Document:
    statement = {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": [service]}}
    return {"Statement": [statement], "Version": "1"}


def _policy(*statements: Document) -> Document:
    return {"Statement": list(statements), "Version": "1"}


def _allow(actions: Sequence[str], resources: Sequence[str]) -> Document:
    return {"Action": list(actions), "Effect": "Allow", "Resource": list(resources)}


def _ledger(names: Names) -> Document:
    table = f"acs:ots:{names.region}:{names.account or '*'}:instance/{names.instance}/table/{names.table}"
    return _allow(["ots:GetRow", "ots:PutRow", "ots:UpdateRow", "ots:GetRange"], [table, f"{table}_tasks"])


def _payloads(names: Names) -> Document:
    # PutObject also makes a copy; DeleteObject is the compensation of a put.
    return _allow(
        ["oss:GetObject", "oss:PutObject", "oss:DeleteObject"], [f"acs:oss:*:{names.account or '*'}:{names.bucket}/*"]
    )


def _listing(names: Names) -> Document:
    return _allow(["oss:ListObjects"], [f"acs:oss:*:{names.account or '*'}:{names.bucket}"])


def _logs(names: Names) -> Document:
    project = names.log_project or "*"
    return _allow(
        ["log:PostLogStoreLogs"], [f"acs:log:{names.region}:{names.account or '*'}:project/{project}/logstore/*"]
    )


def _reports() -> Document:
    # A report names a token and no flow, so there is no resource to narrow it to (assumption D08).
    return _allow(["fnf:ReportTaskSucceeded", "fnf:ReportTaskFailed"], ["*"])


def _histories(names: Names) -> Document:
    # After a lost answer the review page asks the execution's history whether its report arrived.
    flows = [f"acs:fnf:{names.region}:{names.account or '*'}:flow/{flow}" for flow in sorted(names.flows)]
    return _allow(["fnf:GetExecutionHistory"], [one for flow in flows for one in (flow, f"{flow}/*")])


def _invocations(names: Names) -> Document:
    functions = [f"acs:fc:{names.region}:{names.account or '*'}:functions/{name}" for name in sorted(names.functions)]
    # With a version or an alias the resource has one more part.
    return _allow(["fc:InvokeFunction"], [one for name in functions for one in (name, f"{name}/*")])
