"""Results on their way into a row and out of it: inline JSON when small, else an object and its reference."""

from __future__ import annotations

import hashlib
import json
from urllib.parse import quote

from ledger.blobs import BlobStore
from ledger.canonical_json import JsonValue, canonical
from ledger.errors import LedgerMisconfigured, TooLarge
from ledger.records import Cell, LaneRecord, encode_ref

# Half of what an attribute value may hold (tablestore.md 9): room for the rest of the row.
_COLUMN_LIMIT_BYTES = 1_048_576
_LONGEST_QUOTED = 300


def result_prefix(task_id: str) -> str:
    """Return the key prefix of a task's result objects."""
    quoted = quote(task_id, safe="")
    if len(quoted) > _LONGEST_QUOTED:
        quoted = "sha256-" + hashlib.sha256(task_id.encode()).hexdigest()
    return f"ledger/results/{quoted}/"


class Results:
    """Encodes and decodes results. `inline_limit` counts bytes of UTF-8 (case C54)."""

    def __init__(self, blobs: BlobStore | None, inline_limit: int) -> None:
        self._blobs, self._inline_limit = blobs, inline_limit

    def encode(self, task_id: str, value: JsonValue) -> dict[str, Cell]:
        """Return the columns of a result, storing a big one first. Raises `NotJson`, `TooLarge`, `BlobError`."""
        text = canonical(value)
        data = text.encode()
        if len(data) <= self._inline_limit:
            return {"result": text}
        if self._blobs is None:
            if len(data) > _COLUMN_LIMIT_BYTES:
                raise TooLarge("the result", len(data), _COLUMN_LIMIT_BYTES)
            return {"result": text}
        key = f"{result_prefix(task_id)}{hashlib.sha256(data).hexdigest()}.json"
        return {"result_ref": encode_ref(self._blobs.put(key, data))}

    def decode(self, half: LaneRecord) -> JsonValue:
        """Return the stored result. Raises `BlobError`."""
        if half.result_ref is None:
            value: JsonValue = None if half.result is None else json.loads(half.result)
            return value
        if self._blobs is None:
            raise LedgerMisconfigured(f"the result lies at {half.result_ref.uri}, but OSS_BUCKET is not set")
        loaded: JsonValue = json.loads(self._blobs.get(half.result_ref))
        return loaded
