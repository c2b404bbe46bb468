"""The table APIs: create, list, describe, update, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from local_sim.clock import Clock
from local_sim.services.tablestore import limits, messages
from local_sim.services.tablestore.errors import (
    ObjectAlreadyExist,
    ObjectNotExist,
    ParameterInvalid,
    QuotaExhausted,
    UnsupportedOperation,
)
from local_sim.services.tablestore.schema import (
    DefinedColumn,
    KeyColumn,
    KeyType,
    TableOptions,
    TableSchema,
    check_schema,
)
from local_sim.services.tablestore.store import Table, TablestoreStore, WriteSession


class TableApi:
    """Handlers of the table APIs.

    Each takes an instance name and a request message and returns the answer's message.
    """

    def __init__(self, store: TablestoreStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def create(self, instance: str, request: Any) -> Any:
        """CreateTable. A secondary index, a stream or encryption is refused, not ignored."""
        _refuse_extras(request)
        schema = _schema(request, self._clock.now_ms() // 1000)
        check_schema(schema)

        def operation(session: WriteSession) -> None:
            if (instance, schema.name) in session.catalog:
                raise ObjectAlreadyExist
            if sum(owner == instance for owner, _ in session.catalog) >= limits.MAX_TABLES:
                raise QuotaExhausted("Number of tables exceeded the quota.")
            session.create_table(instance, schema)

        await self._store.write(operation)
        return messages.table_pb2().CreateTableResponse()

    async def list(self, instance: str, request: Any) -> Any:
        """ListTable, by name."""
        names = sorted(name for owner, name in self._store.catalog if owner == instance)
        return messages.table_pb2().ListTableResponse(table_names=names)

    async def describe(self, instance: str, request: Any) -> Any:
        """DescribeTable."""
        schema = self._store.table(instance, request.table_name).schema
        answer = messages.table_pb2().DescribeTableResponse()
        _fill_meta(answer.table_meta, schema)
        _fill_state(answer, schema)
        return answer

    async def update(self, instance: str, request: Any) -> Any:
        """UpdateTable: throughput and options; a field that is not sent stays."""
        if not request.HasField("table_options") and not request.HasField("reserved_throughput"):
            raise ParameterInvalid("Neither the table options nor the reserved throughput is specified.")
        if request.stream_spec.enable_stream:
            raise UnsupportedOperation("stream")
        table = self._store.table(instance, request.table_name)

        def operation(session: WriteSession) -> TableSchema:
            current = session.current(table)
            schema = _with_throughput(current.schema, request)
            schema = schema.with_options(_options(request.table_options, schema.options))
            session.update_table(current, schema)
            return schema

        answer = messages.table_pb2().UpdateTableResponse()
        _fill_state(answer, await self._store.write(operation))
        return answer

    async def delete(self, instance: str, request: Any) -> Any:
        """DeleteTable, with all its rows."""
        name = request.table_name

        def operation(session: WriteSession) -> None:
            table: Table | None = session.catalog.get((instance, name))
            if table is None:
                raise ObjectNotExist
            session.delete_table(table)

        await self._store.write(operation)
        return messages.table_pb2().DeleteTableResponse()


def _refuse_extras(request: Any) -> None:
    if request.index_metas:
        raise UnsupportedOperation("secondary index")
    if request.stream_spec.enable_stream:
        raise UnsupportedOperation("stream")
    if request.sse_spec.enable:
        raise UnsupportedOperation("server-side encryption")


def _schema(request: Any, now_s: int) -> TableSchema:
    options = _options(request.table_options, TableOptions())
    schema = TableSchema(
        request.table_meta.table_name,
        tuple(_key_column(column) for column in request.table_meta.primary_key),
        options,
        tuple(DefinedColumn(column.name, column.type) for column in request.table_meta.defined_column),
        created_s=now_s,
        most_versions=options.max_versions,
    )
    return _with_throughput(schema, request)


def _key_column(message: Any) -> KeyColumn:
    try:
        kind = KeyType(message.type)
    except ValueError:
        raise ParameterInvalid(f"The type of primary key column: '{message.name}' is not supported.") from None
    return KeyColumn(message.name, kind, message.HasField("option"))


def _options(message: Any, base: TableOptions) -> TableOptions:
    """Return `base` with the fields that were sent."""
    return TableOptions(
        message.time_to_live if message.HasField("time_to_live") else base.time_to_live,
        message.max_versions if message.HasField("max_versions") else base.max_versions,
        message.deviation_cell_version_in_sec if message.HasField("deviation_cell_version_in_sec") else base.deviation,
        message.allow_update if message.HasField("allow_update") else base.allow_update,
    )


def _with_throughput(schema: TableSchema, request: Any) -> TableSchema:
    wanted = request.reserved_throughput.capacity_unit
    read = wanted.read if wanted.HasField("read") else schema.read_units
    write = wanted.write if wanted.HasField("write") else schema.write_units
    if min(read, write) < 0:
        raise ParameterInvalid("The reserved throughput must not be negative.")
    return replace(schema, read_units=read, write_units=write)


def _fill_meta(message: Any, schema: TableSchema) -> None:
    message.table_name = schema.name
    for column in schema.primary_key:
        added = message.primary_key.add(name=column.name, type=column.type.value)
        if column.auto_increment:
            added.option = 1
    for defined in schema.defined_columns:
        message.defined_column.add(name=defined.name, type=defined.type)


def _fill_state(message: Any, schema: TableSchema) -> None:
    details = message.reserved_throughput_details
    details.capacity_unit.read, details.capacity_unit.write = schema.read_units, schema.write_units
    details.last_increase_time = schema.created_s
    options = message.table_options
    options.time_to_live = schema.options.time_to_live
    options.max_versions = schema.options.max_versions
    options.deviation_cell_version_in_sec = schema.options.deviation
    options.allow_update = schema.options.allow_update
