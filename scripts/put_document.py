"""Uploads a document with the kit's own payload code and prints the input that starts a flow on it.

    python -m scripts.put_document contract.pdf --task t-1

Works on whatever the endpoints of docs/architecture.md name.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mimetypes
import sys
from pathlib import Path

from functions.errors import InvalidInput, StepkeeperError
from functions.payloads import Payloads, object_key
from functions.settings import current

__all__ = ["put_document"]


def put_document(file: Path, task_id: str) -> dict[str, object]:
    """Upload a file and return the flow's input: the task id and a reference to the document.

    Raises `InvalidInput` for a file that is missing, unreadable, empty or larger than a document may be, and what the
    payload store raises.
    """
    data = read_document(file, current().document_bytes)
    sha256 = hashlib.sha256(data).hexdigest()
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    key = object_key("uploads", task_id, f"{sha256}{file.suffix.lower()}")
    ref = Payloads.open().put(key, data, kind)
    document = {"uri": ref.uri, "size": ref.size, "sha256": ref.sha256, "name": file.name}
    return {"task_id": task_id, "document": document}


def read_document(file: Path, limit: int) -> bytes:
    """Return the bytes of a document of at most `limit` bytes. Raises `InvalidInput` saying what is wrong with it."""
    try:
        with file.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise InvalidInput(f"{file}: {error.strerror or error}", reason="unreadable") from error
    if not data:
        raise InvalidInput(f"{file}: the file is empty", reason="empty")
    if len(data) > limit:
        raise InvalidInput(f"{file}: larger than {limit} bytes", reason="too large")
    return data


def main() -> int:
    """Print the input as JSON; 2 and one line on standard error when the document cannot be used."""
    parser = argparse.ArgumentParser(prog="put_document", description=put_document.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--task", required=True, help="the task's id")
    options = parser.parse_args()
    try:
        answer = put_document(options.file, options.task)
    except StepkeeperError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
