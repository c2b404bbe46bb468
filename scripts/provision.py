"""Makes what the functions need: the ledger's tables, the bucket of payloads with its rules, and with --ram the roles.

    python -m scripts.provision --plan
    python -m scripts.provision --print-policies
    python -m scripts.provision --ram

Works on whatever the endpoints of docs/architecture.md name. local_sim calls `provision` before a project's first run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from functions.bucket import Bucket
from functions.settings import current
from ledger import LedgerSettings
from ledger import provision as provision_ledger

if TYPE_CHECKING:
    from scripts.cloud import CloudSettings
    from scripts.cloud.deployment import Deployment
    from scripts.provisioning import Role

__all__ = ["Provisioned", "app", "provision", "roles"]


@dataclass(frozen=True)
class Provisioned:
    """What is there now: the ledger's tables, the bucket, and whether the bucket was made by this call."""

    tables: tuple[str, ...]
    bucket: str
    bucket_made: bool


def provision() -> Provisioned:
    """Make the tables and the bucket unless they are there. Raises `LedgerError` and `StepkeeperError`."""
    settings = current()
    tables = provision_ledger(LedgerSettings())
    made = Bucket(settings.oss_endpoint, settings.oss_bucket).provision()
    return Provisioned(tuple(tables), settings.oss_bucket, made)


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(
    epilog="Examples:  python -m scripts.provision --plan | python -m scripts.provision --ram | "
    "python -m scripts.provision --print-policies --json.   "
    "Exit status: 0 done (or nothing to do), 2 anything that stood in the way."
)
def main(
    plan_only: Annotated[bool, typer.Option("--plan", help="Say what is missing and change nothing.")] = False,
    print_policies: Annotated[
        bool, typer.Option("--print-policies", help="Print the roles and policies, with the commands that make them.")
    ] = False,
    ram: Annotated[bool, typer.Option("--ram", help="Make the roles too; needs rights on RAM.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing on success.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make what the functions need, wherever the environment says it belongs. Safe to repeat."""
    from scripts.cloud import reported

    @reported("provision")
    def run() -> None:
        if print_policies:
            _print_policies(as_json=as_json)
        else:
            _provision(plan_only=plan_only, ram=ram, quiet=quiet, as_json=as_json)

    run()


def roles(settings: CloudSettings, deployment: Deployment) -> list[Role]:
    """The roles of a deployment, with the least rights. Raises `ServiceFault` never: nothing is asked."""
    from scripts.checking import flow_files
    from scripts.provisioning import Names, roles_of

    environment = deployment.environment
    role = str(deployment.functions[0].document.get("role", "")).rpartition("/")[2]
    return roles_of(
        Names(
            region=settings.region,
            account=settings.account,
            instance=environment.get("TABLESTORE_INSTANCE", ""),
            table=environment.get("STEPKEEPER_LEDGER_TABLE", "stepkeeper_ledger"),
            bucket=environment.get("OSS_BUCKET", ""),
            functions=deployment.names,
            flows=[file.stem for file in flow_files(settings.flows)] if settings.flows.is_dir() else [],
            function_role=role or "stepkeeper-functions",
            flow_role=settings.flow_role.rpartition("/")[2],
            log_project=_log_project(deployment),
        )
    )


def _log_project(deployment: Deployment) -> str:
    logs = deployment.functions[0].document.get("logConfig")
    return str(logs.get("project", "")) if isinstance(logs, dict) else ""


def _provision(*, plan_only: bool, ram: bool, quiet: bool, as_json: bool) -> None:
    from scripts.cloud import CloudSettings, say, show_changes
    from scripts.cloud.deployment import adopt_environment, read_deployment
    from scripts.cloud.objects import Objects
    from scripts.provisioning import Data, Ram

    settings = CloudSettings()
    adopt_environment(settings)
    deployment = read_deployment(settings)
    endpoint, bucket = os.environ.get("OSS_ENDPOINT", ""), os.environ.get("OSS_BUCKET", "")
    data = Data(LedgerSettings(), Objects(endpoint, bucket, settings.region), endpoint)
    wanted = roles(settings, deployment) if ram else []
    changes = data.plan() + (Ram(settings).plan(wanted) if ram else [])
    if not plan_only:
        data.apply()
        if ram:
            Ram(settings).apply(wanted)
    if not quiet:
        show_changes(changes, planned=plan_only, as_json=as_json)
    project = _log_project(deployment)
    if project and not as_json and not quiet:
        say(f"log project {project}: not looked at; make it in the console once (assumption D05)")


def _print_policies(*, as_json: bool) -> None:
    import json
    import shlex

    from scripts.cloud import CloudSettings, say, show_json
    from scripts.cloud.deployment import read_deployment

    settings = CloudSettings()
    wanted = roles(settings, read_deployment(settings))
    if as_json:
        show_json(wanted)
        return
    for role in wanted:
        say(f"# {role.name}: {role.description}")
        say(json.dumps(role.policy, indent=2))
        trust, policy = shlex.quote(json.dumps(role.trust)), shlex.quote(json.dumps(role.policy))
        name = shlex.quote(role.name)
        say(f"aliyun ram CreateRole --RoleName {name} --AssumeRolePolicyDocument {trust}")
        say(f"aliyun ram CreatePolicy --PolicyName {name} --PolicyDocument {policy}")
        say(f"aliyun ram AttachPolicyToRole --PolicyType Custom --PolicyName {name} --RoleName {name}\n")


if __name__ == "__main__":
    app()
