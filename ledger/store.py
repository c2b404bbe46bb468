"""The one module that speaks to Tablestore's rows: a conditional write, a read, a scan, each with a deadline.

No write is ever sent without an explicit condition: EXPECT_NOT_EXIST for a new row, EXPECT_EXIST and equality of every
expected column (missing columns fail, `pass_if_missing=False`) for an existing one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ledger.clock import Clock
from ledger.errors import LedgerUnavailable
from ledger.failures import Verdict, classify, definite_error, describe
from ledger.keys import RowKey
from ledger.records import Cell, StoredRow
from ledger.writes import Write

T = TypeVar("T")
_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 1.0


@dataclass(frozen=True)
class Settled:
    """How a write ended: `won`, and if not, the row as read."""

    won: bool
    row: StoredRow | None = None


@dataclass(frozen=True)
class Column:
    """A primary key column's bounds for a scan: from `low` (included) to `high` (excluded)."""

    low: Any
    high: Any


class Patience:
    """Retries of one operation: full jitter, growing pauses, a deadline on monotonic time."""

    def __init__(self, clock: Clock, seconds: float, operation: str, jitter: random.Random) -> None:
        self._clock, self._seconds, self._operation, self._jitter = clock, seconds, operation, jitter
        self._start = clock.monotonic()
        self._pause = _FIRST_PAUSE_SECONDS

    def rest(self, error: Exception | None) -> None:
        """Wait before the next try. Raises `LedgerUnavailable` once the deadline is past."""
        waited = self._clock.monotonic() - self._start
        if waited >= self._seconds:
            reason = describe(error) if error else "the row kept changing"
            raise LedgerUnavailable(self._operation, waited, reason) from error
        self._clock.sleep(min(self._jitter.uniform(0, self._pause), self._seconds - waited))
        self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)


class TableStore:
    """Rows of one table (and scans of its siblings) through an `OTSClient`. Thread-safe as far as the client is."""

    def __init__(
        self, client: Any, table: str, clock: Clock, deadline_seconds: float, jitter: random.Random | None = None
    ) -> None:
        self._client, self.table, self._clock = client, table, clock
        self._deadline = deadline_seconds
        self._jitter = jitter or random.Random()  # noqa: S311

    def settle(self, write: Write) -> Settled:
        """Send `write` until it is certain whether it landed.

        After any answer but success the row is read back and the write's own mark decides. Raises `LedgerUnavailable`
        (the write may still land later; its lease or its condition covers that) or a `LedgerMisconfigured`.
        """
        patience = self._patience(f"write {write.row.entry}")
        while True:
            verdict, error = self._send(write)
            if error is None:
                return Settled(won=True)
            if verdict is not Verdict.RETRY:
                row = self._read(write.row, patience)
                if write.landed(row):
                    return Settled(won=True, row=row)
                if not write.possible(row):
                    return Settled(won=False, row=row)
            patience.rest(error)

    def read(self, key: RowKey) -> StoredRow | None:
        """Return the whole row, or None. Reads see every completed write at once (tablestore.md 7.3)."""
        return self._read(key, self._patience(f"read {key.entry}"))

    def put(self, table: str, primary_key: list[tuple[str, str]], columns: Mapping[str, Cell]) -> None:
        """Write a row whose content is the same however often it is written. Never for a change of state."""
        from tablestore import Condition, Row, RowExistenceExpectation

        row = Row(primary_key, list(columns.items()))
        self._again(
            lambda: self._client.put_row(table, row, Condition(RowExistenceExpectation.IGNORE)),
            self._patience(f"put into {table}"),
            table,
        )

    def scan(self, task_id: str, entry: Column) -> Iterator[StoredRow]:
        """Yield the rows of one task between two entries, in key order."""
        bounds = [("task_id", Column(task_id, task_id)), ("entry", entry)]
        for primary_key, columns in self.scan_table(self.table, bounds):
            yield _stored(RowKey(primary_key["task_id"], primary_key["entry"]), columns)

    def scan_table(
        self, table: str, bounds: list[tuple[str, Column]]
    ) -> Iterator[tuple[dict[str, Any], list[tuple[str, Cell, int]]]]:
        """Yield (primary key, columns) between two keys. Loops on the next key only: a page may be empty."""
        start = [(name, column.low) for name, column in bounds]
        end = [(name, column.high) for name, column in bounds]
        while start:
            _, start, rows, _ = self._page(table, start, end)
            for row in rows:
                yield dict(_plain(row.primary_key)), row.attribute_columns

    def _page(self, table: str, start: Any, end: Any) -> Any:
        return self._again(
            lambda: self._client.get_range(table, "FORWARD", start, end, max_version=1),
            self._patience(f"scan {table}"),
            table,
        )

    def _send(self, write: Write) -> tuple[Verdict | None, Exception | None]:
        try:
            self._put_or_update(write)
        except Exception as error:
            verdict = classify(error)
            if verdict is Verdict.DEFINITE:
                raise definite_error(error, self.table) from error
            return verdict, error
        return None, None

    def _put_or_update(self, write: Write) -> None:
        from tablestore import Condition, Row, RowExistenceExpectation

        primary_key = _primary_key(write.row)
        if write.expect is None:
            condition = Condition(RowExistenceExpectation.EXPECT_NOT_EXIST)
            self._client.put_row(self.table, Row(primary_key, list(write.columns.items())), condition)
        else:
            condition = Condition(RowExistenceExpectation.EXPECT_EXIST, _all_equal(write.expect))
            self._client.update_row(self.table, Row(primary_key, {"PUT": list(write.columns.items())}), condition)

    def _read(self, key: RowKey, patience: Patience) -> StoredRow | None:
        found = self._again(
            lambda: self._client.get_row(self.table, _primary_key(key), max_version=1), patience, self.table
        )
        return None if found[1] is None else _stored(key, found[1].attribute_columns)

    def _again(self, call: Callable[[], T], patience: Patience, table: str) -> T:
        """Repeat a harmless call until it succeeds or the deadline is past."""
        while True:
            try:
                return call()
            except Exception as error:  # noqa: PERF203 (a retry loop)
                if classify(error) is Verdict.DEFINITE:
                    raise definite_error(error, table) from error
                patience.rest(error)

    def _patience(self, operation: str) -> Patience:
        return Patience(self._clock, self._deadline, operation, self._jitter)


def _primary_key(key: RowKey) -> list[tuple[str, str]]:
    return [("task_id", key.task_id), ("entry", key.entry)]


def _plain(primary_key: list[Any]) -> list[tuple[str, Any]]:
    return [(column[0], column[1]) for column in primary_key]


def _stored(key: RowKey, columns: list[tuple[str, Cell, int]]) -> StoredRow:
    return StoredRow(
        key=key,
        columns={name: value for name, value, _ in columns},
        written_ms={name: written for name, _, written in columns},
    )


def _all_equal(expect: Mapping[str, Cell]) -> Any:
    from tablestore import ComparatorType, CompositeColumnCondition, LogicalOperator, SingleColumnCondition

    both = CompositeColumnCondition(LogicalOperator.AND)
    for name, value in expect.items():
        both.add_sub_condition(
            SingleColumnCondition(name, value, ComparatorType.EQUAL, pass_if_missing=False, latest_version_only=True)
        )
    return both
