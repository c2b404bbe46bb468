"""The row APIs: single rows, batches, ranges and local transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from local_sim.clock import Clock
from local_sim.services.tablestore import limits, messages, requests
from local_sim.services.tablestore.errors import ObjectNotExist, ParameterInvalid, TablestoreError
from local_sim.services.tablestore.keys import encode_key
from local_sim.services.tablestore.plainbuffer import PlainRow, read_row
from local_sim.services.tablestore.reads import RowFound, get_range, get_row
from local_sim.services.tablestore.store import RowAccess, Table, TablestoreStore, WriteSession
from local_sim.services.tablestore.transactions import LocalTransactions
from local_sim.services.tablestore.writes import Consumed, Kind, RowChange, Written, apply_change

_T = TypeVar("_T")


class DataApi:
    """Handlers of the row APIs: each takes an instance name and a request message and returns the answer's message.

    `local_transactions` says whether tables have them enabled (T05).
    """

    def __init__(self, store: TablestoreStore, clock: Clock, *, local_transactions: bool) -> None:
        self._store = store
        self._clock = clock
        self._transactions_enabled = local_transactions
        self._transactions = LocalTransactions()

    async def put_row(self, instance: str, request: Any) -> Any:
        """PutRow."""
        written = await self._write_one(instance, request, Kind.PUT, request.row)
        return _filled(messages.table_pb2().PutRowResponse(), written)

    async def update_row(self, instance: str, request: Any) -> Any:
        """UpdateRow."""
        written = await self._write_one(instance, request, Kind.UPDATE, request.row_change)
        return _filled(messages.table_pb2().UpdateRowResponse(), written)

    async def delete_row(self, instance: str, request: Any) -> Any:
        """DeleteRow."""
        written = await self._write_one(instance, request, Kind.DELETE, request.primary_key)
        return _filled(messages.table_pb2().DeleteRowResponse(), written)

    async def get_row(self, instance: str, request: Any) -> Any:
        """GetRow."""
        table = self._store.table(instance, request.table_name)
        key = requests.primary_key(table, request.primary_key)
        spec = requests.read_spec(request)
        now_ms = self._clock.now_ms()
        found = await self._read(
            request, table, [key], lambda access, current: get_row(access, current, key, spec, now_ms)
        )
        answer = messages.table_pb2().GetRowResponse(row=found.row)
        _fill_consumed(answer, found.consumed)
        return answer

    async def get_range(self, instance: str, request: Any) -> Any:
        """GetRange."""
        table = self._store.table(instance, request.table_name)
        spec = requests.range_spec(table, request)
        now_ms = self._clock.now_ms()
        found = await self._read(
            request,
            table,
            [spec.start, spec.end],
            lambda access, current: get_range(access, current, spec, now_ms),
        )
        answer = messages.table_pb2().GetRangeResponse(rows=found.rows)
        if found.next_start:
            answer.next_start_primary_key = found.next_start
        _fill_consumed(answer, found.consumed)
        return answer

    async def batch_get_row(self, instance: str, request: Any) -> Any:
        """BatchGetRow: rows are independent; a table that is absent fails its own rows."""
        _check_row_count(sum(len(part.primary_key) for part in request.tables), limits.MAX_BATCH_GET_ROWS)
        answer = messages.table_pb2().BatchGetRowResponse()
        for part in request.tables:
            added = answer.tables.add(table_name=part.table_name)
            for result in self._get_rows(instance, part):
                _fill_row(added.rows.add(), result)
        return answer

    def _get_rows(self, instance: str, part: Any) -> list[RowFound | TablestoreError]:
        _check_some(part.primary_key, part.table_name)
        spec = requests.read_spec(part)
        try:
            table = self._store.table(instance, part.table_name)
        except ObjectNotExist as error:
            return [error] * len(part.primary_key)
        keys = [requests.primary_key(table, data) for data in part.primary_key]
        now_ms = self._clock.now_ms()
        return self._store.read(lambda access: [get_row(access, table, key, spec, now_ms) for key in keys])

    async def batch_write_row(self, instance: str, request: Any) -> Any:
        """BatchWriteRow: rows are independent and written in order; an unusable parameter fails the whole request."""
        _check_row_count(sum(len(part.rows) for part in request.tables), limits.MAX_BATCH_WRITE_ROWS)
        if sum(len(row.row_change) for part in request.tables for row in part.rows) > limits.MAX_WRITE:
            raise ParameterInvalid(
                f"The total data size of BatchWriteRow exceeds the limit, limit: {limits.MAX_WRITE}."
            )
        changes = [self._changes(instance, part) for part in request.tables]
        answer = messages.table_pb2().BatchWriteRowResponse()
        for part, results in zip(request.tables, await self._write_batch(request, changes), strict=True):
            added = answer.tables.add(table_name=part.table_name)
            for result in results:
                _fill_row(added.rows.add(), result)
        return answer

    def _changes(self, instance: str, part: Any) -> list[RowChange | TablestoreError]:
        _check_some(part.rows, part.table_name)
        try:
            table = self._store.table(instance, part.table_name)
        except ObjectNotExist as error:
            return [error] * len(part.rows)
        now_ms = self._clock.now_ms()
        return [requests.row_change(table, Kind(row.type), row.row_change, row, now_ms) for row in part.rows]

    async def _write_batch(
        self, request: Any, changes: list[list[RowChange | TablestoreError]]
    ) -> list[list[Written | TablestoreError]]:
        def attempt(session: WriteSession, change: RowChange | TablestoreError) -> Written | TablestoreError:
            if isinstance(change, TablestoreError):
                return change
            try:
                return self._apply(session, request, change)
            except TablestoreError as error:
                return error

        def operation(session: WriteSession) -> list[list[Written | TablestoreError]]:
            return [[attempt(session, change) for change in part] for part in changes]

        return await self._store.write(operation)

    async def start_local_transaction(self, instance: str, request: Any) -> Any:
        """StartLocalTransaction: lock one partition key for at most 60 s."""
        table = self._store.table(instance, request.table_name)
        row = read_row(request.key)
        limits.check_partition_key(table.schema, row.primary_key)
        if not self._transactions_enabled:
            raise ParameterInvalid("The local transaction is not enabled on the table.")
        partition, now_ms = _partition(row), self._clock.now_ms()
        identity = await self._store.write(
            lambda session: self._transactions.start(session.current(table), partition, now_ms)
        )
        return messages.table_pb2().StartLocalTransactionResponse(transaction_id=identity)

    async def commit_transaction(self, instance: str, request: Any) -> Any:
        """CommitTransaction."""
        identity, now_ms = request.transaction_id, self._clock.now_ms()
        await self._store.write(lambda session: self._transactions.commit(session, identity, now_ms))
        return messages.table_pb2().CommitTransactionResponse()

    async def abort_transaction(self, instance: str, request: Any) -> Any:
        """AbortTransaction."""
        identity, now_ms = request.transaction_id, self._clock.now_ms()
        await self._store.write(lambda session: self._transactions.abort(identity, now_ms))
        return messages.table_pb2().AbortTransactionResponse()

    async def _write_one(self, instance: str, request: Any, kind: Kind, data: bytes) -> Written:
        table = self._store.table(instance, request.table_name)
        change = requests.row_change(table, kind, data, request, self._clock.now_ms())
        return await self._store.write(lambda session: self._apply(session, request, change))

    def _apply(self, session: WriteSession, request: Any, change: RowChange) -> Written:
        """On the writer's thread: write through the transaction, or when the partition is free."""
        now_ms = self._clock.now_ms()
        table = session.current(change.table)
        partition = _partition(PlainRow(change.primary_key))
        if request.HasField("transaction_id"):
            access = self._transactions.view(session, request.transaction_id, table, partition, now_ms)
            return apply_change(access, change, now_ms)
        self._transactions.check_unlocked(table, partition, now_ms)
        return apply_change(session, change, now_ms)

    async def _read(
        self, request: Any, table: Table, keys: list[PlainRow], query: Callable[[RowAccess, Table], _T]
    ) -> _T:
        """Read committed rows, or through the transaction, whose view only the writer's thread may use."""
        if not request.HasField("transaction_id"):
            return self._store.read(lambda access: query(access, table))
        now_ms, identity = self._clock.now_ms(), request.transaction_id

        def operation(session: WriteSession) -> _T:
            current = session.current(table)
            views = [self._transactions.view(session, identity, current, _partition(key), now_ms) for key in keys]
            return query(views[0], current)

        return await self._store.write(operation)


def _partition(row: PlainRow) -> bytes:
    return encode_key([key_value for cell in row.primary_key[:1] if (key_value := cell.value) is not None])


def _check_row_count(count: int, most: int) -> None:
    if count == 0:
        raise ParameterInvalid("No row is specified in the request.")
    if count > most:
        raise ParameterInvalid(f"Rows count exceeds the upper limit: {most}.")


def _check_some(operations: Any, table_name: str) -> None:
    if not operations:
        raise ParameterInvalid(f"No operation is specified for table: '{table_name}'.")


def _filled(answer: Any, written: Written) -> Any:
    _fill_consumed(answer, written.consumed)
    if written.row:
        answer.row = written.row
    return answer


def _fill_row(message: Any, result: RowFound | Written | TablestoreError) -> None:
    message.is_ok = not isinstance(result, TablestoreError)
    if isinstance(result, TablestoreError):
        message.error.code, message.error.message = result.code, result.message
        return
    _fill_consumed(message, result.consumed)
    message.row = result.row


def _fill_consumed(message: Any, consumed: Consumed) -> None:
    unit = message.consumed.capacity_unit
    unit.read, unit.write = consumed.read, consumed.write
