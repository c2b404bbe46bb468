"""What a request is about, for people: service, operation, row or object, and the line of code that sent it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import unquote

from local_sim.services import oss
from local_sim.services.tablestore import messages
from local_sim.services.tablestore.plainbuffer import read_row, read_rows

from .wire import Request, scope_of
from .world import OSS, TABLESTORE

_ROW_FIELDS = {"PutRow": "row", "UpdateRow": "row_change", "DeleteRow": "primary_key", "GetRow": "primary_key"}


def label(service: str, request: Request) -> tuple[str, str]:
    """Return operation and key of a request."""
    if service == TABLESTORE:
        operation = request.path.rsplit("/", 1)[-1]
        return operation, _row(operation, request.body)
    if service == OSS:
        return oss.DIALECT.api_of(scope_of(request), b""), unquote(request.path.lstrip("/"))
    return f"{request.method} {unquote(request.path)}", ""


def _row(operation: str, body: bytes) -> str:
    """Table and primary key, as far as the request names them."""
    kind: Any = getattr(messages.table_pb2(), f"{operation}Request", None)
    if kind is None:
        return ""
    try:
        message = kind.FromString(body)
    except Exception:  # noqa: BLE001 - a request the service will refuse has no label
        return ""
    table = str(getattr(message, "table_name", ""))
    field = _ROW_FIELDS.get(operation)
    if field is None:
        return table
    try:
        key = read_row(getattr(message, field)).primary_key
    except Exception:  # noqa: BLE001
        return table
    return f"{table}[{', '.join(str(cell.value) for cell in key)}]"


def rows_as_json(rows: list[bytes]) -> list[dict[str, Any]]:
    """Return stored rows as objects of their columns, primary key first."""
    found = []
    for data in rows:
        row = read_rows(data)[0]
        columns: dict[str, Any] = {cell.name: _shown(cell.value) for cell in row.primary_key}
        for cell in row.cells:  # several versions of a column: the newest comes first
            columns.setdefault(cell.name, _shown(cell.value))
        found.append(columns)
    return found


def _shown(value: object) -> Any:
    return value.hex() if isinstance(value, bytes | bytearray) else value


Code = tuple[str, int]
"""A function of the source: its file and its first line."""


@dataclass(frozen=True)
class Sources:
    """Which code is the project's own. `handlers` are the functions' handlers, under whatever wraps them."""

    root: Path
    folders: tuple[Path, ...]
    handlers: set[Code]

    def trace(self) -> tuple[str, tuple[str, ...]]:
        """Return the line of the handler at work, and all lines of the project at work, the innermost last.

        Where no handler's own function is at work (a probe, say), it is the innermost line in a handler's file, else
        the innermost line there is.
        """
        files = {file for file, _ in self.handlers}
        found: list[str] = []
        line = beside = ""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if self.own(code.co_filename):
                place = f"{self._shown(code.co_filename)}:{frame.f_lineno}"
                found.append(place)
                line = line or (place if (code.co_filename, code.co_firstlineno) in self.handlers else "")
                beside = beside or (place if code.co_filename in files else "")
            frame = frame.f_back
        return line or beside or (found[0] if found else ""), tuple(reversed(found))

    def own(self, file: str) -> bool:
        """Say whether a file is the project's code."""
        if "site-packages" in file or "/local_sim/" in file:
            return False
        return any(file.startswith(f"{folder}/") for folder in self.folders)

    def _shown(self, file: str) -> str:
        return file.removeprefix(f"{self.root}/")
