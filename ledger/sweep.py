"""What a sweep finds in the ledger, and what to do about each thing. Pure, but for listing and deleting objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ledger.blobs import BlobInfo, OssBlobs
from ledger.figures import DEFAULT_LIMITS, StuckStep, TaskHistory, figures_of
from ledger.model import Direction, StepRow
from ledger.results import result_prefix

# An object may be waiting for its completion; no lease is longer than a day.
ORPHAN_AGE_MS = 86_400_000

_STUCK_ADVICE = {
    "claimed": "Its worker is gone or hangs. Start the flow again from this step: the next call takes the claim over.",
    "failed": "Nothing is trying again. Start the flow again from this step, or unwind the task.",
    "uncertain": "Look for the side effect id on the other side, then settle it with Ledger.resolve.",
    "compensating": "Its worker is gone or hangs. Run the unwind again: it takes the claim over.",
    "compensation_failed": "Run the unwind again: it resumes here.",
    "compensation_uncertain": "Look for the side effect id on the other side, then settle it with Ledger.resolve.",
}
_EXPIRED_ADVICE = "The lease has run out. Call the step (or the unwind) again: it takes the claim over."


@dataclass(frozen=True)
class Finding:
    """One thing a person or a job should look at. `kind` is `expired_lease`, `stuck` or `orphaned_object`."""

    kind: str
    task_id: str
    step: str
    state: str
    seconds: float
    side_effect_id: str
    advice: str


def expired_leases(history: TaskHistory, now_ms: int) -> list[Finding]:
    """Return the claims whose deadline has passed."""
    return [
        Finding(
            "expired_lease",
            row.task_id,
            row.step,
            "claimed" if row.direction is Direction.FORWARD else "compensating",
            (now_ms - row.lease_until_ms) / 1000,
            row.side_effect_id,
            _EXPIRED_ADVICE,
        )
        for row in history.rows
        if row.lease_until_ms is not None and row.lease_until_ms <= now_ms
    ]


def stuck_steps(history: TaskHistory, now_ms: int, limits: Mapping[str, float] = DEFAULT_LIMITS) -> list[Finding]:
    """Return the steps that have been in one state for longer than its limit in seconds."""
    found = figures_of([history], now_ms, limits=limits).stuck
    return [_stuck(entry, history.rows) for entry in found]


def orphans(blobs: OssBlobs, history: TaskHistory, now_ms: int) -> Iterator[tuple[BlobInfo, Finding]]:
    """Yield the result objects of a task that none of its rows points to and that are older than a day."""
    for info in blobs.list(result_prefix(history.task_id)):
        age_ms = now_ms - info.modified_ms
        if info.uri not in history.references and age_ms >= ORPHAN_AGE_MS:
            advice = "No row points to it: a worker died before its completion. It can be deleted (--delete-orphans)."
            yield info, Finding("orphaned_object", history.task_id, info.uri, "", age_ms / 1000, "", advice)


def _stuck(entry: StuckStep, rows: Iterable[StepRow]) -> Finding:
    wanted = Direction.COMPENSATE if entry.state.startswith("compensat") else Direction.FORWARD
    key = next(
        (
            row.side_effect_id
            for row in rows
            if (row.workflow_version, row.step, row.direction) == (entry.workflow_version, entry.step, wanted)
        ),
        "",
    )
    advice = _STUCK_ADVICE.get(entry.state, "Look at the task.")
    return Finding("stuck", entry.task_id, entry.step, entry.state, entry.seconds, key, advice)
