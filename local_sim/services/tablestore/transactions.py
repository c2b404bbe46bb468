"""Local transactions: a lock on one partition key and changes that nobody sees until they are committed
(tablestore.md section 7.2).

Everything here runs on the writer's thread, so nothing else needs a lock. Transactions live in memory: after a
restart the service knows none of them, as after their timeout.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

from local_sim.services.tablestore.errors import ParameterInvalid, RowOperationConflict, SessionNotExist
from local_sim.services.tablestore.store import RowAccess, Table, WriteSession

TIMEOUT_MS = 60_000


@dataclass
class LocalTransaction:
    """An open transaction. `changes` maps keys to rows as they will be, None for a deleted one."""

    id: str
    table: Table
    partition: bytes
    expires_ms: int
    changes: dict[bytes, bytes | None] = field(default_factory=dict)


class LocalTransactions:
    """The open transactions of one service."""

    def __init__(self) -> None:
        self._by_id: dict[str, LocalTransaction] = {}
        self._by_partition: dict[tuple[int, bytes], LocalTransaction] = {}

    def start(self, table: Table, partition: bytes, now_ms: int) -> str:
        """Lock the partition and return the transaction's id; raises `RowOperationConflict` while another holds it."""
        self.check_unlocked(table, partition, now_ms)
        if any(column.auto_increment for column in table.schema.primary_key):
            raise ParameterInvalid("A table with an auto-increment column does not support local transaction.")
        transaction = LocalTransaction(secrets.token_hex(16), table, partition, now_ms + TIMEOUT_MS)
        self._by_id[transaction.id] = transaction
        self._by_partition[table.id, partition] = transaction
        return transaction.id

    def check_unlocked(self, table: Table, partition: bytes, now_ms: int) -> None:
        """Raise `RowOperationConflict` while a transaction holds the partition."""
        holder = self._by_partition.get((table.id, partition))
        if holder is not None and not self._expired(holder, now_ms):
            raise RowOperationConflict

    def view(
        self, session: WriteSession, transaction_id: str, table: Table, partition: bytes, now_ms: int
    ) -> RowAccess:
        """Return the rows as the transaction sees them; raises when it has ended or holds another partition."""
        transaction = self._open(transaction_id, now_ms)
        if (transaction.table.id, transaction.partition) != (table.id, partition):
            raise ParameterInvalid("The partition key is not the one of the local transaction.")
        return _View(session, transaction)

    def commit(self, session: WriteSession, transaction_id: str, now_ms: int) -> None:
        """Write the transaction's changes and end it."""
        transaction = self._open(transaction_id, now_ms)
        table = session.current(transaction.table)
        for key, row in transaction.changes.items():
            if row is None:
                session.delete(table, key)
            else:
                session.put(table, key, row)
        self._end(transaction)

    def abort(self, transaction_id: str, now_ms: int) -> None:
        """Forget the transaction's changes and end it."""
        self._end(self._open(transaction_id, now_ms))

    def _open(self, transaction_id: str, now_ms: int) -> LocalTransaction:
        if not transaction_id:
            raise ParameterInvalid("TransactionID is invalid.")
        transaction = self._by_id.get(transaction_id)
        if transaction is None or self._expired(transaction, now_ms):
            raise SessionNotExist
        return transaction

    def _expired(self, transaction: LocalTransaction, now_ms: int) -> bool:
        if now_ms < transaction.expires_ms:
            return False
        self._end(transaction)
        return True

    def _end(self, transaction: LocalTransaction) -> None:
        self._by_id.pop(transaction.id, None)
        self._by_partition.pop((transaction.table.id, transaction.partition), None)


class _View:
    """The committed rows under the transaction's changes."""

    def __init__(self, session: WriteSession, transaction: LocalTransaction) -> None:
        self._session = session
        self._changes = transaction.changes

    def get(self, table: Table, key: bytes) -> bytes | None:
        return self._changes[key] if key in self._changes else self._session.get(table, key)

    def put(self, table: Table, key: bytes, row: bytes) -> None:
        self._changes[key] = row

    def delete(self, table: Table, key: bytes) -> None:
        self._changes[key] = None

    def scan(self, table: Table, low: bytes, high: bytes, *, backward: bool) -> Iterator[tuple[bytes, bytes]]:
        """Merge both, which is cheap: a transaction holds few changes."""
        merged: dict[bytes, bytes | None] = dict(self._session.scan(table, low, high, backward=backward))
        merged.update({key: row for key, row in self._changes.items() if _inside(key, low, high, backward)})
        for key in sorted(merged, reverse=backward):
            if (row := merged[key]) is not None:
                yield key, row

    def next_in_sequence(self, table: Table, partition_key: bytes) -> int:
        return self._session.next_in_sequence(table, partition_key)


def _inside(key: bytes, low: bytes, high: bytes, backward: bool) -> bool:
    return low < key <= high if backward else low <= key < high
