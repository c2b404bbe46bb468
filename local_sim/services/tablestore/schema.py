"""What a table is: its key columns and its options, and the checks that a definition must pass."""

from __future__ import annotations

import enum
import json
import re
from dataclasses import asdict, dataclass, replace

from local_sim.services.tablestore.errors import ParameterInvalid

MAX_KEY_COLUMNS = 4
DEFAULT_DEVIATION_S = 86_400
_MIN_TTL_S = 86_400
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}\Z")


class KeyType(enum.IntEnum):
    """Types of key columns, with their numbers on the wire."""

    INTEGER = 1
    STRING = 2
    BINARY = 3


@dataclass(frozen=True)
class KeyColumn:
    """One column of the primary key."""

    name: str
    type: KeyType
    auto_increment: bool = False


@dataclass(frozen=True)
class DefinedColumn:
    """An attribute column declared at creation; `type` is the wire's number. Only kept and described."""

    name: str
    type: int


@dataclass(frozen=True)
class TableOptions:
    """Times in seconds; `time_to_live` -1 keeps values for ever."""

    time_to_live: int = -1
    max_versions: int = 1
    deviation: int = DEFAULT_DEVIATION_S
    allow_update: bool = True


@dataclass(frozen=True)
class TableSchema:
    """A table.

    `most_versions` is the largest `max_versions` it ever had, so the most versions a stored row can hold.
    """

    name: str
    primary_key: tuple[KeyColumn, ...]
    options: TableOptions = TableOptions()
    defined_columns: tuple[DefinedColumn, ...] = ()
    read_units: int = 0
    write_units: int = 0
    created_s: int = 0
    most_versions: int = 1

    @property
    def keeps_all_it_stores(self) -> bool:
        """Whether every stored cell is readable: one version a column and no expiry."""
        return self.most_versions == 1 and self.options.time_to_live == -1

    def with_options(self, options: TableOptions) -> TableSchema:
        """Return the table with other options, checked."""
        check_options(options)
        most = max(self.most_versions, options.max_versions)
        return replace(self, options=options, most_versions=most)

    def to_json(self) -> str:
        """Return the form in which the store keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> TableSchema:
        """Return what `to_json` was given."""
        fields = json.loads(text)
        fields["primary_key"] = tuple(
            KeyColumn(column["name"], KeyType(column["type"]), column["auto_increment"])
            for column in fields["primary_key"]
        )
        fields["defined_columns"] = tuple(DefinedColumn(**column) for column in fields["defined_columns"])
        fields["options"] = TableOptions(**fields["options"])
        return cls(**fields)


def check_schema(schema: TableSchema) -> None:
    """Raise `ParameterInvalid` unless a table may be made like this (tablestore.md sections 7.4 and 9)."""
    check_table_name(schema.name)
    if not 1 <= len(schema.primary_key) <= MAX_KEY_COLUMNS:
        raise ParameterInvalid("The number of primary key columns must be in range: [1, 4].")
    names = [column.name for column in schema.primary_key] + [column.name for column in schema.defined_columns]
    for name in names:
        check_column_name(name)
    if len(set(names)) != len(names):
        raise ParameterInvalid("Duplicated column name in the table meta.")
    _check_auto_increment(schema.primary_key)
    check_options(schema.options)


def check_options(options: TableOptions) -> None:
    """Raise `ParameterInvalid` for options outside the limits."""
    if options.time_to_live != -1 and options.time_to_live < _MIN_TTL_S:
        raise ParameterInvalid(f"The time to live must be -1 or at least {_MIN_TTL_S} seconds.")
    if options.max_versions < 1:
        raise ParameterInvalid("The max versions must be greater than 0.")
    if options.deviation < 1:
        raise ParameterInvalid("The deviation cell version must be greater than 0 seconds.")


def check_table_name(name: str) -> None:
    """Raise `ParameterInvalid` unless `name` can name a table."""
    if not _NAME.match(name):
        raise ParameterInvalid(f"Invalid table name: '{name}'.")


def check_column_name(name: str) -> None:
    """Raise `ParameterInvalid` unless `name` can name a column."""
    if not _NAME.match(name):
        raise ParameterInvalid(f"Invalid column name: '{name}'.")


def _check_auto_increment(columns: tuple[KeyColumn, ...]) -> None:
    marked = [column for column in columns if column.auto_increment]
    if len(marked) > 1:
        raise ParameterInvalid("There must be at most one auto-increment primary key column.")
    if marked and (columns[0].auto_increment or marked[0].type is not KeyType.INTEGER):
        raise ParameterInvalid("An auto-increment column must be of type INTEGER and not the partition key.")
