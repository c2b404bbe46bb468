"""Moves a task to other versions, leaving a migration record, and says which finished steps stay valid.

    python -m scripts.migrate t-1 --to prompt=p-8 --reason "better prompt" --by li
    python -m scripts.migrate t-1 --to workflow=content_review-2 --carry --reason "a new last step"

With --carry the finished steps keep their results under the new workflow version, and are undone there. Works on
whatever the endpoints of docs/architecture.md name. Exit status: 0 migrated (or nothing to change), 1 refused because
finished steps would run again or cannot be carried, 2 anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

import typer

from ledger import CarryPlan, CarryRefused, Direction, JsonValue, Ledger, LedgerError, StepRow, Versions

__all__ = ["Plan", "pins_moved", "plan_of"]

_NAMES = ("workflow", "function", "prompt", "input")


@dataclass(frozen=True)
class Plan:
    """What a migration changes. `valid` steps keep their results; `rerun` ones run again under the new version.

    `blocked` maps steps that cannot be carried over to the reason.
    """

    task_id: str
    before: Versions
    after: Versions
    valid: tuple[str, ...]
    rerun: tuple[str, ...]
    blocked: Mapping[str, str] = field(default_factory=dict)


def main(
    task_id: Annotated[str, typer.Argument(metavar="TASK")],
    to: Annotated[list[str], typer.Option(help="NAME=VERSION; NAME is workflow, function, prompt or input.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the migration record.")],
    by: Annotated[str, typer.Option(help="Who; it stays in the migration record.")] = "",
    rerun_finished: Annotated[
        bool, typer.Option(help="Migrate although finished steps would run again under the new workflow version.")
    ] = False,
    carry: Annotated[
        bool,
        typer.Option(help="Carry finished steps over instead of running them again. The flow must stand still."),
    ] = False,
    dry_run: Annotated[bool, typer.Option(help="Only say what would change.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Pin a task to other versions."""
    changes = _changes(to)
    try:
        ledger = Ledger.open()
        record = ledger.task(task_id)
        if record is None:
            typer.echo(f"migrate: task {task_id!r} never began", err=True)
            raise typer.Exit(2)
        before, after = record.versions, replace(record.versions, **changes)
        plan = _carrying(ledger, task_id, before, after) if carry else None
        plan = plan or plan_of(task_id, before, after, ledger.rows(task_id))
        refused = bool(plan.blocked) or (bool(plan.rerun) and not rerun_finished and not carry)
        if not dry_run and not refused:
            if carry and before.workflow != after.workflow:
                moved = pins_moved(after)
                ledger.carry(task_id, before.workflow, after.workflow, reason, by=by or "migrate", rewrite=moved)
            ledger.repin(task_id, plan.after, reason, by=by)
    except CarryRefused as error:
        typer.echo(f"migrate: {error}", err=True)
        raise typer.Exit(1) from None
    except LedgerError as error:
        typer.echo(f"migrate: {error}", err=True)
        raise typer.Exit(2) from None
    _print(plan, as_json=as_json, refused=refused, dry_run=dry_run)
    raise typer.Exit(1 if refused else 0)


def plan_of(task_id: str, before: Versions, after: Versions, rows: list[StepRow]) -> Plan:
    """Sort a task's finished steps. Only a change of the workflow version voids results: the steps' keys hold it."""
    finished = [row for row in rows if row.direction is Direction.FORWARD and row.state == "done"]
    voided = before.workflow != after.workflow
    valid = tuple(row.step for row in finished if not voided or row.workflow_version == after.workflow)
    rerun = tuple(row.step for row in finished if voided and row.workflow_version == before.workflow)
    return Plan(task_id, before, after, valid, rerun)


def _carrying(ledger: Ledger, task_id: str, before: Versions, after: Versions) -> Plan | None:
    """Return what a migration with --carry changes; None when the workflow's version stays, so nothing has to move."""
    if before.workflow == after.workflow:
        return None
    found: CarryPlan = ledger.carry_plan(task_id, before.workflow, after.workflow)
    blocked = dict(found.blocked)
    if before.input != after.input:
        blocked |= dict.fromkeys(found.valid, "the input's version changes, so its fingerprint could not match")
    return Plan(task_id, before, after, found.valid, found.rerun, blocked)


def pins_moved(after: Versions) -> Callable[[JsonValue], JsonValue]:
    """Return what puts the new pins into a result that hands the task's pins on, as the first step's does."""

    def rewrite(result: JsonValue) -> JsonValue:
        task: Any = result.get("task") if isinstance(result, dict) else None
        pins = task.get("versions") if isinstance(task, dict) else None
        if not isinstance(result, dict) or not isinstance(pins, dict):
            return result
        return {**result, "task": {**task, "versions": {**pins, **asdict(after)}}}

    return rewrite


def _changes(pairs: list[str]) -> dict[str, str]:
    changes: dict[str, str] = {}
    for pair in pairs:
        name, separator, version = pair.partition("=")
        if name not in _NAMES or not separator:
            raise typer.BadParameter(f"{pair!r} is not NAME=VERSION with NAME one of {', '.join(_NAMES)}")
        changes[name] = version
    return changes


def _print(plan: Plan, *, as_json: bool, refused: bool, dry_run: bool) -> None:
    done = "refused" if refused else "dry run" if dry_run else "migrated"
    if as_json:
        typer.echo(json.dumps({"outcome": done, **asdict(plan)}, ensure_ascii=False, indent=2))
        return
    typer.echo(f"{done}: {plan.task_id}")
    for name in _NAMES:
        before, after = getattr(plan.before, name), getattr(plan.after, name)
        typer.echo(f"  {name}: {before or '-'}" + (f" -> {after or '-'}" if before != after else ""))
    typer.echo(f"finished steps that stay valid: {', '.join(plan.valid) or 'none'}")
    if plan.rerun:
        typer.echo(f"steps that run again: {', '.join(plan.rerun)}")
    for step, problem in plan.blocked.items():
        typer.echo(f"refused: {step}: {problem}", err=True)
    if refused and not plan.blocked:
        typer.echo("refused: say --carry to take their results along, --rerun-finished to accept that", err=True)


if __name__ == "__main__":
    typer.run(main)
