"""The attribute columns of a row and what writes and reads make of them. Pure: no I/O, time comes in as `now_ms`."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.plainbuffer import Cell, CellOp, PlainRow
from local_sim.services.tablestore.schema import TableOptions
from local_sim.services.tablestore.values import KeyValue, Special, Value

Versions = list[tuple[int, Value]]
Columns = dict[str, Versions]

_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Selection:
    """Which cells a read wants.

    `columns` are names, empty for all. `start` (included) and `end` (excluded) bound the names. `times` is a
    half-open range of timestamps in ms, `max_versions` the number of versions a column, newest first, None for all.
    """

    columns: frozenset[str] = frozenset()
    start: str | None = None
    end: str | None = None
    times: tuple[int, int] | None = None
    max_versions: int | None = 1

    @property
    def takes_all(self) -> bool:
        """Whether the newest version of every column is wanted, and nothing else said."""
        bounded = self.start is not None or self.end is not None or self.times is not None
        return not self.columns and not bounded and self.max_versions is not None


def from_cells(cells: Iterable[Cell]) -> Columns:
    """Return the columns of stored cells, which carry a timestamp each and come newest first within a column."""
    columns: Columns = {}
    for name, value, timestamp, _ in cells:
        if value is not None and not isinstance(value, Special) and timestamp is not None:
            columns.setdefault(name, []).append((timestamp, value))
    return columns


def to_cells(columns: Columns) -> Iterator[Cell]:
    """Yield the cells by name, newest first within a column: the order in which rows are stored and answered."""
    for name in sorted(columns):
        for timestamp, value in columns[name]:
            yield Cell(name, value, timestamp)


def put(cells: Iterable[Cell], now_ms: int, options: TableOptions) -> Columns:
    """Return the columns of a row that PutRow writes; nothing of an older row stays."""
    return update({}, cells, now_ms, options)


def update(columns: Columns, cells: Iterable[Cell], now_ms: int, options: TableOptions) -> Columns:
    """Return `columns` after the cell operations of UpdateRow, trimmed to the table's number of versions."""
    changed = {name: list(versions) for name, versions in columns.items()}
    for cell in cells:
        versions = changed.setdefault(cell.name, [])
        _apply(versions, cell, now_ms)
    for name in [name for name, versions in changed.items() if not versions]:
        del changed[name]
    for versions in changed.values():
        del versions[options.max_versions :]
    return changed


def _apply(versions: Versions, cell: Cell, now_ms: int) -> None:
    if cell.op is CellOp.DELETE_ALL:
        versions.clear()
    elif cell.op is CellOp.DELETE_ONE:
        versions[:] = [version for version in versions if version[0] != cell.timestamp]
    elif cell.op is CellOp.INCREMENT:
        _set(versions, now_ms if cell.timestamp is None else cell.timestamp, _incremented(versions, cell))
    else:
        _set(versions, now_ms if cell.timestamp is None else cell.timestamp, _plain(cell))


def _set(versions: Versions, timestamp: int, value: Value) -> None:
    versions[:] = [version for version in versions if version[0] != timestamp]
    versions.append((timestamp, value))
    versions.sort(key=lambda version: version[0], reverse=True)


def _plain(cell: Cell) -> Value:
    if cell.value is None or isinstance(cell.value, Special):
        raise ParameterInvalid(f"The value of column: '{cell.name}' is missing.")
    return cell.value


def _incremented(versions: Versions, cell: Cell) -> int:
    """Add to the newest version; a missing column counts as 0 (tablestore.md section 7.4)."""
    step = _integer(cell.value, cell.name)
    total = (_integer(versions[0][1], cell.name) if versions else 0) + step
    if not _INT64_MIN <= total <= _INT64_MAX:
        raise ParameterInvalid(f"Overflow when incrementing column: '{cell.name}'.")
    return total


def _integer(value: KeyValue | None, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterInvalid(f"The type of column: '{name}' is not INTEGER, it cannot be incremented.")
    return value


def live(columns: Columns, now_ms: int, options: TableOptions) -> Columns:
    """Return what the table still shows: neither expired nor over its number of versions. Expiry counts per version."""
    oldest = _oldest_alive(now_ms, options)
    if oldest is None and all(len(versions) <= options.max_versions for versions in columns.values()):
        return columns
    kept = {
        name: [version for version in versions if oldest is None or version[0] > oldest][: options.max_versions]
        for name, versions in columns.items()
    }
    return {name: versions for name, versions in kept.items() if versions}


def _oldest_alive(now_ms: int, options: TableOptions) -> int | None:
    return None if options.time_to_live == -1 else now_ms - options.time_to_live * 1000


def select(columns: Columns, wanted: Selection) -> Columns:
    """Return the cells that `wanted` asks for."""
    chosen: Columns = {}
    for name in _names(columns, wanted):
        versions = columns[name]
        if wanted.times is not None:
            low, high = wanted.times
            versions = [version for version in versions if low <= version[0] < high]
        if versions := versions[: wanted.max_versions]:
            chosen[name] = versions
    return chosen


def _names(columns: Columns, wanted: Selection) -> Iterator[str]:
    for name in columns:
        inside = (wanted.start is None or name >= wanted.start) and (wanted.end is None or name < wanted.end)
        if inside and (not wanted.columns or name in wanted.columns):
            yield name


def page(columns: Columns, offset: int, limit: int) -> Columns:
    """Return `limit` columns from the `offset`th on, by name."""
    return {name: columns[name] for name in sorted(columns)[offset : offset + limit]}


def shows(columns: Columns, key_names: Container[str], wanted: Selection) -> bool:
    """Whether a read of an existing row answers with the row.

    A row that has none of the columns asked for is answered as if it were absent (tablestore.md section 7.3); key
    columns count.
    """
    return not wanted.columns or bool(columns) or any(name in key_names for name in wanted.columns)


def key_of(row: PlainRow) -> dict[str, KeyValue]:
    """Return the key columns by name, for conditions on them."""
    return {cell.name: cell.value for cell in row.primary_key if cell.value is not None}


def stored(primary_key: Sequence[Cell], columns: Columns) -> PlainRow:
    """Return the row as it is stored and answered."""
    return PlainRow(tuple(primary_key), tuple(to_cells(columns)))
