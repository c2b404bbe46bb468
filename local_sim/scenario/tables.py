"""Reads whole tables of the local Tablestore: what handlers that ran for real left behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rows_of(environment: Mapping[str, str], table: str) -> list[dict[str, Any]]:
    """Return all rows of a table in the order of their keys, key columns and attributes in one map each.

    `environment` is a local cloud's. Raises the SDK's OTSServiceError when there is no such table.
    """
    from tablestore import INF_MAX, INF_MIN, Direction, OTSClient

    client = OTSClient(environment["TABLESTORE_ENDPOINT"], "local", "local", environment["TABLESTORE_INSTANCE"])
    keys = [name for name, *_ in client.describe_table(table).table_meta.schema_of_primary_key]
    start: Any = [(name, INF_MIN) for name in keys]
    rows: list[dict[str, Any]] = []
    while start is not None:
        _, start, page, _ = client.get_range(
            table, Direction.FORWARD, start, [(name, INF_MAX) for name in keys], max_version=1
        )
        rows += [dict(row.primary_key) | {name: value for name, value, *_ in row.attribute_columns} for row in page]
    return rows
