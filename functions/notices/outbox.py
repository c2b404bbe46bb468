"""Notices as files in a folder: the default offline, and the way to test a flow without a chat robot."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from functions.errors import SystemFault
from functions.notices.base import Notice, Receipt
from ledger import EffectKind

__all__ = ["Outbox"]


class Outbox:
    """One file a notice, named after its idempotency key and made exclusively: sending twice leaves one file."""

    name = "outbox"
    kind = EffectKind.IDEMPOTENT

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def send(self, notice: Notice) -> Receipt:
        """Write the file, whole or not at all. Raises `SystemFault` when the folder cannot be written."""
        path = self.folder / f"{notice.kind}-{hashlib.sha256(notice.key.encode()).hexdigest()[:24]}.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_new(path, json.dumps(notice.as_json(), ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise SystemFault(f"the outbox {self.folder} cannot be written: {error}", effect_applied=False) from error
        return Receipt(self.name, path.name)


def _write_new(path: Path, text: str) -> None:
    """Make `path` with `text`, durable before it is visible; quiet when it is there already."""
    handle, temporary = tempfile.mkstemp(prefix=".sending-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
