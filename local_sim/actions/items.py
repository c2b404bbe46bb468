"""Items of a distributed Map out of an object's bytes: CSV, JSON lines, one JSON array (language page 5.7, B40).

Pure: bytes in, items out, lazily, so that a reader who needs ten items of a huge file reads little of it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator

from .model import ActionFailure, Json

MAX_LINE = 1024 * 1024
"""Bytes of one line; an item must fit into a child's input, which is far smaller."""
MAX_ARRAY = 64 * 1024 * 1024
"""Bytes of an object that is one JSON array, which has to be held whole."""
_BAD = "FnF.RuntimeError"


def csv_items(chunks: Iterable[bytes], what: str, headers: list[str] | None, delimiter: str) -> Iterator[Json]:
    """Yield each row as an object of texts by its header: `headers`, or the first row when they are None.

    Raises ActionFailure, naming the line, for a row of another width, a header twice, and what is no CSV.
    """
    rows = csv.reader(_texts(chunks, what), delimiter=delimiter, strict=True)
    names = headers
    try:
        for row in rows:
            if not row:
                continue
            if names is None:
                names = _checked(row, what)
                continue
            if len(row) != len(names):
                raise ActionFailure(
                    _BAD, f"{what}, line {rows.line_num}: {len(row)} cells, the header has {len(names)}"
                )
            yield dict(zip(names, row, strict=True))
    except csv.Error as error:
        raise ActionFailure(_BAD, f"{what}, line {rows.line_num}: no CSV: {error}") from None


def _checked(names: list[str], what: str) -> list[str]:
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise ActionFailure(_BAD, f"{what}: the header has {twice!r} twice")
    return names


def json_line_items(chunks: Iterable[bytes], what: str) -> Iterator[Json]:
    """Yield the JSON value of each line that is not blank. Raises ActionFailure that names the line."""
    for number, text in enumerate(_texts(chunks, what), 1):
        if text.strip():
            yield _parsed(text, f"{what}, line {number}")


def json_items(chunks: Iterable[bytes], what: str) -> Iterator[Json]:
    """Yield the elements of the JSON array that the object is. Raises ActionFailure."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MAX_ARRAY:
            raise ActionFailure(_BAD, f"{what} is larger than {MAX_ARRAY} bytes; use OSS.JSONLines")
    value = _parsed(_decoded(bytes(data), what), what)
    if not isinstance(value, list):
        raise ActionFailure(_BAD, f"{what} holds no JSON array")
    yield from value


def _texts(chunks: Iterable[bytes], what: str) -> Iterator[str]:
    for number, line in enumerate(_lines(chunks, what), 1):
        yield _decoded(line, f"{what}, line {number}")


def _lines(chunks: Iterable[bytes], what: str) -> Iterator[bytes]:
    """Yield lines with their ends."""
    rest, number = b"", 1
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n"
            number += 1
        if len(rest) > MAX_LINE:
            raise ActionFailure(_BAD, f"{what}, line {number} is longer than {MAX_LINE} bytes")
    if rest:
        yield rest


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ActionFailure(_BAD, f"{where} is not UTF-8 (byte {error.start + 1})") from None


def _parsed(text: str, where: str) -> Json:
    try:
        return json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        raise ActionFailure(_BAD, f"{where} is not JSON: {str(error)[:200]}") from None


def _not_json(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")
