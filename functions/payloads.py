"""Payloads: what is too big for a flow lies in OSS, and a reference with size and SHA-256 travels instead.

Objects are written once and never changed: a put that finds the same bytes is a success, one that finds others is
`ResultConflict`. Sizes are counted as UTF-8 of what is really sent (case C54).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from functions.bucket import Bucket
from functions.errors import InvalidInput, ResultConflict, SystemFault
from functions.models import Inline, Payload, PayloadRef
from functions.settings import Settings, current

__all__ = ["Payloads", "Stored", "object_key", "sent_bytes"]

MAX_KEY_BYTES = 1023


def sent_bytes(value: Any) -> int:
    """Bytes of `value` on the wire: JSON without escapes, as UTF-8. The one place where sizes are counted."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def object_key(kind: str, task_id: str, name: str) -> str:
    """`kind/task/name` with the task id percent-encoded, so that two ids never share a folder."""
    folder = quote(task_id, safe="") if task_id.strip(".") else task_id.replace(".", "%2E")
    return f"{kind}/{folder}/{name}"


@dataclass(frozen=True)
class Stored:
    """Answer of `Payloads.keep`: what is stored under the key, and whether this call stored it."""

    ref: PayloadRef
    created: bool


class Payloads:
    """The payloads in one bucket."""

    def __init__(self, bucket: Bucket, settings: Settings) -> None:
        self.bucket = bucket
        self.settings = settings

    @classmethod
    def open(cls, settings: Settings | None = None) -> Payloads:
        """The payloads where the environment says they are."""
        settings = settings or current()
        return cls(Bucket(settings.oss_endpoint, settings.oss_bucket), settings)

    def put(self, key: str, data: bytes, content_type: str = "text/plain; charset=utf-8") -> PayloadRef:
        """Store `data` under `key`; quiet when the same bytes are there. Raises `ResultConflict` when others are."""
        stored = self.keep(key, data, content_type).ref
        wanted = hashlib.sha256(data).hexdigest()
        if stored.sha256 != wanted:
            raise ResultConflict(
                f"other content is stored at {stored.uri}", key=key, stored=stored.sha256, wanted=wanted
            )
        return stored

    def keep(self, key: str, data: bytes, content_type: str = "text/plain; charset=utf-8") -> Stored:
        """Store `data` under `key` unless something is there; the first one stays. Returns what is there afterwards."""
        if len(key.encode()) > MAX_KEY_BYTES:
            raise InvalidInput(f"the object key would be over {MAX_KEY_BYTES} bytes", reason="key too long")
        if self.bucket.put_new(key, data, content_type):
            return Stored(self._ref(key, len(data), hashlib.sha256(data).hexdigest()), created=True)
        found = self.find(key)
        if found is None:  # removed between the two requests, by a compensation that has to win
            raise ResultConflict(f"the object at {key} vanished while it was written", key=key)
        return Stored(found, created=False)

    def find(self, key: str) -> PayloadRef | None:
        """Reference to what is stored under `key`, or None. An object put by others is read to learn its SHA-256."""
        info = self.bucket.info(key)
        if info is None:
            return None
        if info.sha256:
            return self._ref(key, info.size, info.sha256)
        data = self.bucket.get(key, max(info.size, 1))
        return None if data is None else self._ref(key, len(data), hashlib.sha256(data).hexdigest())

    def read(self, ref: PayloadRef, limit: int | None = None) -> bytes:
        """The bytes of `ref`, checked. Raises `InvalidInput` when missing, over `limit` bytes, or not what the ref
        says.
        """
        limit = self.settings.document_bytes if limit is None else limit
        if ref.size > limit:
            raise InvalidInput(f"{ref.uri} has {ref.size} bytes; {limit} are allowed", reason="too large")
        data = self._bucket_of(ref).get(ref.key, ref.size)
        if data is None:
            raise InvalidInput(f"{ref.uri} does not exist", reason="missing")
        if len(data) != ref.size:
            raise InvalidInput(f"{ref.uri} has not the {ref.size} bytes of its reference", reason="size differs")
        if hashlib.sha256(data).hexdigest() != ref.sha256:
            raise InvalidInput(f"{ref.uri} has not the SHA-256 of its reference", reason="content differs")
        return data

    def read_text(self, payload: Payload) -> str:
        """The text of a payload, inline or by reference."""
        if isinstance(payload, Inline):
            return payload.inline
        try:
            return self.read(payload).decode()
        except UnicodeDecodeError as error:
            raise SystemFault(f"{payload.uri} is not UTF-8 text", effect_applied=False) from error

    def pack(self, text: str, key: str) -> Payload:
        """`text` inline when what is sent stays within `inline_bytes`, else stored under `key`."""
        inline = Inline(inline=text)
        if sent_bytes(inline.model_dump()) <= self.settings.inline_bytes:
            return inline
        return self.put(key, text.encode())

    def remove(self, ref: PayloadRef) -> bool:
        """Remove the object if it still has the content of `ref`. False when it is gone or holds something else."""
        found = self.find(ref.key)
        if found is None or found.sha256 != ref.sha256:
            return False
        self.bucket.remove(ref.key)
        return True

    def _ref(self, key: str, size: int, sha256: str) -> PayloadRef:
        return PayloadRef(uri=f"oss://{self.bucket.name}/{key}", size=size, sha256=sha256)

    def _bucket_of(self, ref: PayloadRef) -> Bucket:
        if ref.bucket == self.bucket.name:
            return self.bucket
        return Bucket(self.bucket.endpoint, ref.bucket)
