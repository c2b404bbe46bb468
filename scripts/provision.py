"""Makes what the functions need: the ledger's tables and the bucket of payloads. Safe to repeat.

    python -m scripts.provision

Works on whatever the endpoints of docs/architecture.md name. local_sim calls `provision` before a project's first run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from functions.bucket import Bucket
from functions.errors import StepkeeperError, describe
from functions.settings import current
from ledger import LedgerError, LedgerSettings
from ledger import provision as provision_ledger

__all__ = ["Provisioned", "provision"]


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


def main(quiet: Annotated[bool, "Say nothing on success."] = False) -> None:
    """Make the ledger's tables and the bucket of payloads, wherever the environment says they belong."""
    import typer

    try:
        done = provision()
    except (StepkeeperError, LedgerError) as error:
        typer.echo(f"provision: {describe(error)['message']}", err=True)
        raise typer.Exit(2) from None
    if not quiet:
        typer.echo(f"ledger tables: {', '.join(done.tables)}")
        typer.echo(f"bucket: {done.bucket} ({'made' if done.bucket_made else 'was there'})")


if __name__ == "__main__":
    import typer

    typer.run(main)
