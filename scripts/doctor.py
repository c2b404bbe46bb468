"""Examines a deployment: credentials, rights, region, clock, tables, bucket, functions, flows, versions, quotas.

    python -m scripts.doctor

Changes nothing. Every finding that is not good comes with its mend.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated

import typer

from ledger import LedgerSettings
from scripts.cloud import CloudSettings, Flows, Functions, command_app, reported, show_json, show_table
from scripts.cloud.deployment import adopt_environment, read_deployment
from scripts.cloud.objects import Objects
from scripts.diagnosis import Result, deployed, places, run
from scripts.flow_rollout import Deployer
from scripts.provisioning import Data

__all__ = ["app", "examine"]

app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.doctor | python -m scripts.doctor --json.   "
    "Exit status: 0 all good or warnings only, 1 something is bad, 2 the examination could not begin."
)
@reported("doctor")
def main(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find what is wrong with a deployment and say how to mend it."""
    found = list(examine())
    if as_json:
        show_json(found)
    else:
        rows = [(one.subject, one.level, one.finding, one.mend) for one in found]
        show_table(("subject", "", "finding", "what to do"), rows)
    raise typer.Exit(1 if any(one.level == "bad" for one in found) else 0)


def examine() -> Iterator[Result]:
    """All findings, those about the surroundings first; without credentials there is nothing more to find."""
    settings = CloudSettings()
    first = list(run("credentials", places.credentials))
    yield from first
    if any(result.level == "bad" for result in first):
        return
    adopt_environment(settings)
    yield from run("region", lambda: places.region(settings))
    yield from _data(settings)
    yield from _deployed(settings)


def _data(settings: CloudSettings) -> Iterator[Result]:
    endpoint = os.environ.get("OSS_ENDPOINT", "")
    ledger = LedgerSettings()
    objects = Objects(endpoint, os.environ.get("OSS_BUCKET", ""), settings.region)
    data = Data(ledger, objects, endpoint)
    yield from run("clock", lambda: places.clock(endpoint))
    yield from run("tables", lambda: places.tables(data, ledger))
    yield from run("bucket", lambda: places.bucket(objects, data))


def _deployed(settings: CloudSettings) -> Iterator[Result]:
    flows, functions = Flows(settings), Functions(settings)
    deployment = read_deployment(settings)
    yield from run("functions", lambda: deployed.function_state(functions, deployment, settings.alias))
    yield from run("flows", lambda: deployed.flow_state(Deployer(settings, flows, functions), settings.flows))
    yield from run("versions in use", lambda: deployed.versions_in_use(flows, functions, settings.flows))
    yield from run("quotas", lambda: deployed.quotas(settings, flows))


if __name__ == "__main__":
    app()
