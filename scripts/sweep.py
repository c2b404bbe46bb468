"""Finds expired leases, stuck steps and orphaned objects in the ledger, and says what to do about each.

    python -m scripts.sweep --days 30
    python -m scripts.sweep --json --delete-orphans

Looks at the tasks begun in the window. Changes nothing but, when asked to, orphaned objects. Exit status: 0 nothing
found, 1 something found, 2 the ledger cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from ledger import Ledger, LedgerError, LedgerSettings, OssBlobs, RealClock, TaskHistory
from ledger.sweep import Finding, expired_leases, orphans, stuck_steps
from scripts.report import histories, limits_of

__all__ = ["findings"]

_DAY_MS = 86_400_000


def main(
    days: Annotated[float, typer.Option(min=0, help="Length of the window in days, ending now.")] = 30,
    limit: Annotated[list[str] | None, typer.Option(help="STATE=SECONDS: when a step in STATE is stuck.")] = None,
    delete_orphans: Annotated[bool, typer.Option(help="Delete the orphaned objects that are found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find what somebody should look at."""
    now_ms, settings, limits = RealClock().now_ms(), LedgerSettings(), limits_of(limit or [])
    blobs = OssBlobs(settings.oss_endpoint, settings.oss_bucket) if settings.oss_bucket else None
    try:
        window = histories(Ledger.open(settings), now_ms - int(days * _DAY_MS), now_ms + _DAY_MS)
        found = findings(window, now_ms, limits, blobs, delete_orphans=delete_orphans)
    except LedgerError as error:
        typer.echo(f"sweep: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], ensure_ascii=False, indent=2))
    else:
        _print(found)
    raise typer.Exit(1 if found else 0)


def findings(
    window: Iterable[TaskHistory],
    now_ms: int,
    limits: Mapping[str, float],
    blobs: OssBlobs | None,
    *,
    delete_orphans: bool = False,
) -> list[Finding]:
    """Return what is found, the longest standing first; deletes orphaned objects when asked to."""
    found: list[Finding] = []
    for history in window:
        found += expired_leases(history, now_ms)
        found += stuck_steps(history, now_ms, limits)
        if blobs is None:
            continue
        for info, finding in list(orphans(blobs, history, now_ms)):
            found.append(finding)
            if delete_orphans:
                blobs.delete(info.key)
    return sorted(found, key=lambda finding: -finding.seconds)


def _print(found: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table

    if not found:
        typer.echo("nothing found")
        return
    table = Table("what", "task", "step or object", "state", "for", "side effect id", "what to do")
    for finding in found:
        seconds = f"{finding.seconds:,.0f} s"
        cells = (finding.kind.replace("_", " "), finding.task_id, finding.step, finding.state, seconds)
        table.add_row(*cells, finding.side_effect_id, finding.advice)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
