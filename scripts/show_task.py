"""Shows what the ledger knows of a task: a table of its steps; its draft or its result on request.

    python -m scripts.show_task t-1 --save results

Works on whatever the endpoints of docs/architecture.md name.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from functions.errors import StepkeeperError
from functions.handlers.save_result import result_key
from functions.models import PayloadRef
from functions.payloads import Payloads
from ledger import Ledger, LedgerError, StepRow

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["draft_of", "save_result", "table_of"]


def table_of(task_id: str, rows: Sequence[StepRow]) -> Table:
    """Return the table of a task's steps and compensations: step, attempts, state, effect, time."""
    from rich.table import Table

    table = Table(title=f"Ledger of {task_id}", title_justify="left")
    for heading in ("step", "attempts", "state", "effect", "begun", "time"):
        table.add_column(heading, justify="right" if heading in ("attempts", "time") else "left")
    for row in rows:
        name = row.step if row.direction.value == "forward" else f"undo {row.step}"
        effect = " ".join(part for part in (row.kind.value, row.side_effect_id[:12]) if part)
        failed = f" ({row.error_type})" if row.error_type else ""
        table.add_row(name, str(row.attempt), row.state + failed, effect, _begun(row), _seconds(row))
    return table


def _begun(row: StepRow) -> str:
    return f"{datetime.fromtimestamp(row.started_ms / 1000).astimezone():%H:%M:%S}"


def _seconds(row: StepRow) -> str:
    return "" if row.finished_ms is None else f"{(row.finished_ms - row.started_ms) / 1000:.2f} s"


def save_result(task_id: str, folder: Path) -> Path | None:
    """Write the task's saved result to a file of `folder`, checked, and return its path; None when nothing is saved."""
    payloads = Payloads.open()
    ref = payloads.find(result_key(task_id))
    if ref is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{quote(task_id, safe='')}.md"
    file.write_bytes(payloads.read(ref))
    return file


def draft_of(ledger: Ledger, rows: Sequence[StepRow]) -> str | None:
    """Return the text of the newest draft of a task; None when there is none."""
    for row in reversed(rows):
        if row.step.split("@")[0] == "GenerateDraft" and row.direction.value == "forward" and row.state == "done":
            result: Any = ledger.stored_result(row.task_id, row.workflow_version, row.step)
            ref = PayloadRef.model_validate(result["task"]["draft"])
            return Payloads.open().read(ref).decode()
    return None


def main() -> int:
    """Print the table, or with --draft the draft; with --save the result goes to a file whose path is printed last."""
    parser = argparse.ArgumentParser(prog="show_task", description="Show what the ledger knows of a task.")
    parser.add_argument("task", help="the task's id")
    parser.add_argument("--draft", action="store_true", help="print the newest draft instead")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the saved result into a folder")
    options = parser.parse_args()
    try:
        return _show(options.task, options.draft, options.save)
    except (StepkeeperError, LedgerError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _show(task_id: str, draft: bool, folder: Path | None) -> int:
    from rich.console import Console

    ledger = Ledger.open()
    rows = ledger.rows(task_id)
    if not rows:
        sys.stderr.write(f"the ledger knows no task {task_id!r}\n")
        return 2
    if draft:
        sys.stdout.write((draft_of(ledger, rows) or "") + "\n")
        return 0
    # A pipe has no width; rich would fold the columns to 80.
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(table_of(task_id, rows))
    file = save_result(task_id, folder) if folder else None
    if file is not None:
        console.print(f"\nThe result lies in {file.resolve()}", soft_wrap=True, highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
