"""The data of a deployment: the ledger's tables, the bucket, and the rules for what is temporary in it."""

from __future__ import annotations

from dataclasses import dataclass

from functions.bucket import Bucket
from ledger import LedgerError, LedgerSettings, environment_credentials
from ledger import provision as provision_ledger
from ledger.client import tablestore_client
from scripts.cloud import Change, NotThere
from scripts.cloud.objects import CODE_PREFIX, LifecycleRule, Objects

__all__ = ["RULES", "Data"]

RULES = (
    # FC has copied a package when the function is made; a week leaves time for a deploy that is gone on with later.
    LifecycleRule("stepkeeper-code", CODE_PREFIX, 7),
    # No shipped flow waits longer than 7 days, so an older token has nobody waiting for it.
    LifecycleRule("stepkeeper-tokens", "tokens/", 30),
)
"""Rules of the bucket, by prefix. Rules that somebody else made stay."""


@dataclass(frozen=True)
class Data:
    """Tables and bucket as the environment names them."""

    ledger: LedgerSettings
    objects: Objects
    endpoint: str

    def tables(self) -> list[str]:
        """The tables of the instance. Raises `NotThere` when the instance does not answer."""
        client = tablestore_client(self.ledger, environment_credentials)
        try:
            return list(client.list_table())
        except LedgerError:
            raise
        except Exception as error:
            if getattr(error, "code", "") in ("OTSAuthFailed", "OTSNoPermissionAccess"):
                raise
            what = f"Tablestore instance {self.ledger.tablestore_instance!r} at {self.ledger.tablestore_endpoint}"
            mend = "make it in the console (an instance costs nothing by itself) or correct TABLESTORE_INSTANCE"
            raise NotThere(what, f"{mend}; {str(error).splitlines()[0][:200]}") from error

    def plan(self) -> list[Change]:
        """What `apply` would make."""
        instance = f"Tablestore {self.ledger.tablestore_instance}"
        there = self.tables()
        wanted = (self.ledger.table, self.ledger.tasks_table)
        changes = [Change(instance, f"table {table}", None, "made") for table in wanted if table not in there]
        bucket = f"bucket {self.objects.name}"
        made = self.objects.there()
        if not made:
            changes.append(Change(bucket, "bucket", None, "made, private"))
        before = {rule.id: rule for rule in self.objects.lifecycle()} if made else {}
        for rule in RULES:
            old = before.get(rule.id)
            if old != rule:
                shown = None if old is None else f"{old.prefix} after {old.days} days"
                changes.append(Change(bucket, f"lifecycle {rule.id}", shown, f"{rule.prefix} after {rule.days} days"))
        return changes

    def apply(self) -> None:
        """Make what is missing. Each part is looked at again, so a run that was cut off can be repeated."""
        provision_ledger(self.ledger)
        Bucket(self.endpoint, self.objects.name).provision()
        before = self.objects.lifecycle()
        ours = {rule.id for rule in RULES}
        wanted = sorted([*(rule for rule in before if rule.id not in ours), *RULES])
        if wanted != sorted(before):
            self.objects.put_lifecycle(wanted)
