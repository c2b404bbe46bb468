"""Rows as they lie in the table, decoded once into frozen records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ledger.canonical_json import canonical
from ledger.errors import LedgerError
from ledger.keys import RowKey, StepKey, parse_entry
from ledger.model import Compensation, Direction, EffectKind, State, StepRow, Transition

Cell = str | int | float | bool
_SUMMARY_CHARACTERS = 120


@dataclass(frozen=True)
class StoredRow:
    """A row as read. `written_ms` is the store's own time of each column's last write."""

    key: RowKey
    columns: Mapping[str, Cell]
    written_ms: Mapping[str, int]


@dataclass(frozen=True)
class BlobRef:
    """A stored object: its `uri` (`oss://bucket/key`), `size` in bytes and SHA-256 (hex)."""

    uri: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Lane:
    """The forward or the undo half of a row: the names of its four states and the prefix of its columns."""

    direction: Direction
    prefix: str
    claimed: State
    done: State
    failed: State
    uncertain: State


FORWARD = Lane(Direction.FORWARD, "", State.CLAIMED, State.DONE, State.FAILED, State.UNCERTAIN)
UNDO = Lane(
    Direction.COMPENSATE,
    "c_",
    State.COMPENSATING,
    State.COMPENSATED,
    State.COMPENSATION_FAILED,
    State.COMPENSATION_UNCERTAIN,
)


@dataclass(frozen=True)
class LaneRecord:
    """One half of a row. `started_at` and `finished_at` are the store's times, `*_ms` the workers'.

    `doubt` is True once an attempt may have taken effect without leaving a result.
    """

    attempt: int
    kind: EffectKind
    doubt: bool
    started_ms: int
    finished_ms: int | None
    result: str | None
    result_ref: BlobRef | None
    error_type: str
    error: str
    started_at: int
    finished_at: int

    @property
    def completed(self) -> bool:
        """Tell whether this half has a stored result; None, False, 0, "" and {} are results (case C34)."""
        return self.result is not None or self.result_ref is not None


@dataclass(frozen=True)
class StepRecord:
    """A step's row. `token` and `epoch` belong to the last owner; `revision` counts that owner's own edits.

    `carried_to` is the workflow version that a carried step lies under now.
    """

    key: StepKey
    state: State
    token: str
    epoch: int
    revision: int
    fingerprint: str
    lease_ms: int
    lease_until_ms: int
    compensation: Compensation | None
    forward: LaneRecord
    undo: LaneRecord | None
    carried_to: str = ""

    def lane(self, lane: Lane) -> LaneRecord | None:
        """Return the half that `lane` names; None when it was never touched."""
        return self.forward if lane is FORWARD else self.undo


def decode_step(stored: StoredRow) -> StepRecord:
    """Decode a step's row. Raises `LedgerError` when the row is not one this code can have written."""
    key = _key_of(stored)
    if key is None:
        raise LedgerError(f"row {stored.key} is not a step")
    columns = stored.columns
    try:
        return StepRecord(
            key=key,
            state=State(columns["state"]),
            token=str(columns["token"]),
            epoch=int(columns["epoch"]),
            revision=int(columns.get("rev", 0)),
            fingerprint=str(columns.get("fingerprint", "")),
            lease_ms=int(columns.get("lease_ms", 0)),
            lease_until_ms=int(columns.get("lease_until_ms", 0)),
            compensation=decode_compensation(columns.get("comp")),
            forward=_decode_lane(stored, FORWARD),
            undo=_decode_lane(stored, UNDO) if "c_attempt" in columns else None,
            carried_to=str(columns.get("carried_to", "")),
        )
    except (KeyError, ValueError) as error:
        raise LedgerError(f"row {stored.key} cannot be read: {error!r}") from error


def _key_of(stored: StoredRow) -> StepKey | None:
    key = parse_entry(stored.key.task_id, stored.key.entry)
    return None if key is None else replace(key, origin=str(stored.columns.get("origin", "")))


def _decode_lane(stored: StoredRow, lane: Lane) -> LaneRecord:
    columns, prefix = stored.columns, lane.prefix
    result = columns.get(f"{prefix}result")
    finished = columns.get(f"{prefix}finished_ms")
    return LaneRecord(
        attempt=int(columns.get(f"{prefix}attempt", 0)),
        kind=EffectKind(columns.get(f"{prefix}kind", EffectKind.UNDECLARED.value)),
        doubt=bool(columns.get(f"{prefix}doubt", False)),
        started_ms=int(columns.get(f"{prefix}started_ms", 0)),
        finished_ms=None if finished is None else int(finished),
        result=None if result is None else str(result),
        result_ref=decode_ref(columns.get(f"{prefix}result_ref")),
        error_type=str(columns.get(f"{prefix}error_type", "")),
        error=str(columns.get(f"{prefix}error", "")),
        started_at=stored.written_ms.get(f"{prefix}started_ms", 0),
        finished_at=stored.written_ms.get(f"{prefix}finished_ms", 0),
    )


def encode_compensation(compensation: Compensation) -> str:
    """Return the column text of a compensation. Raises `NotJson` for its arguments."""
    return canonical(
        {
            "name": compensation.name,
            "arguments": compensation.arguments,
            "reversible": compensation.reversible,
            "kind": compensation.kind.value,
        }
    )


def decode_compensation(text: Cell | None) -> Compensation | None:
    """Return the compensation a column holds; None for a missing or empty column."""
    if not text:
        return None
    fields: dict[str, Any] = json.loads(str(text))
    return Compensation(fields["name"], fields["arguments"], fields["reversible"], EffectKind(fields["kind"]))


def encode_ref(ref: BlobRef) -> str:
    """Return the column text of a reference."""
    return canonical({"uri": ref.uri, "size": ref.size, "sha256": ref.sha256})


def decode_ref(text: Cell | None) -> BlobRef | None:
    """Return the reference a column holds; None for a missing or empty column."""
    if not text:
        return None
    fields: dict[str, Any] = json.loads(str(text))
    return BlobRef(fields["uri"], fields["size"], fields["sha256"])


def transition_column(epoch: int, part: int) -> str:
    """Return the column of a transition. Derived from the epoch, so that writing it twice is harmless."""
    return f"t_{epoch:08d}_{part}"


def decode_transitions(stored: StoredRow) -> list[Transition]:
    """Return the transitions a step's row carries, oldest first, with the store's times."""
    key = _key_of(stored)
    if key is None:
        return []
    names = sorted(name for name in stored.columns if name.startswith("t_"))
    return [_decode_transition(key, name, stored) for name in names]


def _decode_transition(key: StepKey, name: str, stored: StoredRow) -> Transition:
    fields: dict[str, Any] = json.loads(str(stored.columns[name]))
    direction = Direction(fields["direction"])
    return Transition(
        task_id=key.task_id,
        workflow_version=key.workflow_version,
        step_name=key.step,
        from_status=fields["from"],
        to_status=fields["to"],
        attempt=fields["attempt"],
        error_type=fields.get("error_type", ""),
        side_effect_id=key.side_effect_id(direction),
        timestamp=stored.written_ms[name],
        direction=direction,
        epoch=int(name.split("_")[1]),
        by=fields.get("by", ""),
        reason=fields.get("reason", ""),
    )


# The undo half of a row shows people the same four words as a step.
_UNDO_STATES = {
    State.COMPENSATING: State.CLAIMED,
    State.COMPENSATED: State.DONE,
    State.COMPENSATION_FAILED: State.FAILED,
    State.COMPENSATION_UNCERTAIN: State.UNCERTAIN,
}


def step_rows(record: StepRecord) -> list[tuple[int, StepRow]]:
    """Return what people see of a record, each line with the store's time of its first claim."""
    lines = [(record.forward.started_at, _line(record, FORWARD, record.forward, record.state.value))]
    if record.undo is not None:
        state = _UNDO_STATES.get(record.state, record.state).value
        lines.append((record.undo.started_at, _line(record, UNDO, record.undo, state)))
    return lines


def _line(record: StepRecord, lane: Lane, half: LaneRecord, state: str) -> StepRow:
    return StepRow(
        task_id=record.key.task_id,
        workflow_version=record.key.workflow_version,
        step=record.key.step,
        direction=lane.direction,
        state=state,
        attempt=half.attempt,
        epoch=record.epoch,
        kind=half.kind,
        side_effect_id=record.key.side_effect_id(lane.direction),
        result_summary=_summary(half),
        started_ms=half.started_ms,
        finished_ms=None if record.state is lane.claimed else half.finished_ms,
        lease_until_ms=record.lease_until_ms if record.state is lane.claimed else None,
        error_type=half.error_type,
        error=half.error,
        compensation=record.compensation.name if record.compensation else "",
    )


def _summary(half: LaneRecord) -> str:
    if half.result_ref is not None:
        return f"{half.result_ref.uri} ({half.result_ref.size} bytes)"
    text = half.result or ""
    return text if len(text) <= _SUMMARY_CHARACTERS else text[: _SUMMARY_CHARACTERS - 1] + "…"
