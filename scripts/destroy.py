"""Takes a deployment away: flows, functions, and with --data the tables and the bucket, with --ram the roles.

    python -m scripts.destroy --plan
    python -m scripts.destroy --data --ram

Asks first. What is kept is listed at the end. Cut off half-way it can be run again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from ledger import LedgerSettings, environment_credentials
from ledger.client import tablestore_client
from scripts.checking import flow_files
from scripts.cloud import CloudSettings, Flows, Functions, Refused, command_app, reported, say, show_json
from scripts.cloud.deployment import adopt_environment, read_deployment
from scripts.cloud.objects import Objects

__all__ = ["Destroyer", "app"]

app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.destroy --plan | python -m scripts.destroy | "
    "python -m scripts.destroy --data --ram --yes.   "
    "Exit status: 0 gone (or nothing was there), 1 not confirmed, 2 anything that stood in the way."
)
@reported("destroy")
def main(
    plan_only: Annotated[bool, typer.Option("--plan", help="Only say what there is.")] = False,
    data: Annotated[bool, typer.Option("--data", help="Delete tables, bucket and all that is in them too.")] = False,
    ram: Annotated[bool, typer.Option("--ram", help="Delete the roles and their policies too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Delete what was deployed. Data stays unless told otherwise."""
    destroyer = Destroyer.open(data=data, ram=ram)
    there = destroyer.find()
    if not plan_only:
        if there and not yes:
            _ask(destroyer, there)
        destroyer.remove()
    remains = [] if plan_only else destroyer.remains()
    if as_json:
        show_json({"applied": not plan_only, "deleted": there, "remains": remains})
        return
    for thing in there:
        say(f"{'there is' if plan_only else 'deleted'}: {thing}")
    for thing in remains:
        say(f"remains: {thing}")
    if not there:
        say("nothing to delete")


@dataclass(frozen=True)
class Destroyer:
    """What a deployment consists of, and how it goes away."""

    settings: CloudSettings
    flows: Flows
    functions: Functions
    objects: Objects
    ledger: LedgerSettings
    with_data: bool
    with_ram: bool

    @classmethod
    def open(cls, *, data: bool, ram: bool) -> Destroyer:
        """For the deployment that environment and template name."""
        settings = CloudSettings()
        adopt_environment(settings)
        objects = Objects(os.environ.get("OSS_ENDPOINT", ""), os.environ.get("OSS_BUCKET", ""), settings.region)
        return cls(settings, Flows(settings), Functions(settings), objects, LedgerSettings(), data, ram)

    def find(self) -> list[str]:
        """What `remove` would delete."""
        found = [f"flow {name}" for name in self._flow_names()]
        found += [f"function {name}" for name in self._function_names()]
        return found + (self._data() if self.with_data else []) + (self._roles() if self.with_ram else [])

    def running(self) -> int:
        """How many executions would be ended."""
        return sum(len(self.flows.executions(name, status="Running")) for name in self._flow_names())

    def remove(self) -> None:
        """Delete it: flows first, so that nothing calls a function that is gone."""
        for name in self._flow_names():
            self._remove_flow(name)
        for name in self._function_names():
            self._remove_function(name)
        if self.with_data:
            self._remove_data()
        if self.with_ram:
            from scripts.provisioning import Ram

            Ram(self.settings).remove(self._role_names())

    def remains(self) -> list[str]:
        """What is left: kept on purpose, or made by others."""
        left = [] if self.with_data else self._data()
        if not self.with_ram:
            left += [f"role {name} (not looked for; --ram deletes it)" for name in self._role_names()]
        left.append(
            f"Tablestore instance {self.ledger.tablestore_instance} and log projects (delete them in the console)"
        )
        return left

    def _remove_flow(self, name: str) -> None:
        alias = self.settings.alias
        self.flows.delete_alias(name, alias)
        for version in self.flows.versions(name):
            _unless_in_use(lambda number=version.number: self.flows.delete_version(name, number))  # type: ignore[misc]
        self.flows.delete(name)

    def _remove_function(self, name: str) -> None:
        for trigger in self.functions.triggers(name):
            self.functions.delete_trigger(name, trigger.name)
        for alias in self.functions.aliases(name):
            self.functions.delete_alias(name, alias.name)
        for version in self.functions.versions(name):
            self.functions.delete_version(name, version.number)
        self.functions.delete_async_config(name)
        self.functions.delete(name)

    def _remove_data(self) -> None:
        client = tablestore_client(self.ledger, environment_credentials)
        for table in self._tables():
            client.delete_table(table)
        self.objects.empty()
        self.objects.remove()

    def _flow_names(self) -> list[str]:
        files = flow_files(self.settings.flows) if self.settings.flows.is_dir() else []
        return [file.stem for file in files if self.flows.find(file.stem) is not None]

    def _function_names(self) -> list[str]:
        return [name for name in read_deployment(self.settings).names if self.functions.find(name) is not None]

    def _tables(self) -> list[str]:
        client = tablestore_client(self.ledger, environment_credentials)
        ours = (self.ledger.table, self.ledger.tasks_table)
        return [table for table in client.list_table() if table in ours]

    def _data(self) -> list[str]:
        found = [f"table {table}" for table in self._tables()]
        if self.objects.there():
            found.append(f"bucket {self.objects.name} with {self.objects.count()} objects")
        return found

    def _role_names(self) -> list[str]:
        from scripts.provision import roles

        return [role.name for role in roles(self.settings, read_deployment(self.settings))]

    def _roles(self) -> list[str]:
        from scripts.provisioning import Ram

        return [f"role {name} with its policy" for name in Ram(self.settings).there(self._role_names())]


def _ask(destroyer: Destroyer, there: list[str]) -> None:
    for thing in there:
        say(thing)
    running = destroyer.running()
    ends = f" {running} running executions end." if running else ""
    if not typer.confirm(f"Delete these {len(there)}?{ends}"):
        raise Refused(["not confirmed"])


def _unless_in_use(delete: Callable[[], None]) -> None:
    """A version that an alias of somebody else's points at goes with the flow."""
    from scripts.cloud import ServiceFault

    try:
        delete()
    except ServiceFault as fault:
        if fault.code != "PreconditionFailed":
            raise


if __name__ == "__main__":
    app()
