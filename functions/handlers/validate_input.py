"""ValidateInput: checks the document, and pins the versions of the task."""

from __future__ import annotations

import hashlib
from typing import Any

from functions.compensations import remove_objects
from functions.errors import InvalidInput, at_path
from functions.material import kind_of
from functions.models import DocumentInput, PayloadRef, Task, ValidateEvent
from functions.payloads import Payloads, object_key
from functions.pinning import pin
from functions.step import Call, step
from ledger import Compensation

__all__ = ["handler"]

PATH = "task.document"


def _inline_key(task_id: str, data: bytes) -> str:
    return object_key("documents", task_id, f"{hashlib.sha256(data).hexdigest()}.txt")


def _compensation(call: Call[ValidateEvent]) -> Compensation | None:
    """A document that came inline was stored by this step; one that came by reference is the caller's own."""
    given = call.event.task
    inline = given.document.inline
    return None if inline is None else remove_objects(_inline_key(given.task_id, inline.encode()))


@step(
    ValidateEvent,
    compensation=_compensation,
    task_of=lambda call: (call.event.task.task_id, call.event.workflow),
    compared=lambda call: call.event.task.model_dump(),
)
def handler(call: Call[ValidateEvent]) -> dict[str, Any]:
    """Answers `{"task": Task}`. Raises `InvalidInput` for a document that is missing, too large or of no known kind,
    and `VersionMismatch` for a task that was begun with other versions."""
    given = call.event.task
    payloads = Payloads.open(call.settings)
    document, data = _document(payloads, given.task_id, given.document)
    name = given.document.name or document.key.rsplit("/", 1)[-1]
    with at_path(PATH):
        kind_of(name, data)
    pins = pin(call.settings, given.task_id, call.event.workflow, document.sha256, call.event.attempt)
    task = Task(task_id=given.task_id, name=name, title=given.title, versions=pins, document=document)
    return {"task": task.model_dump()}


def _document(payloads: Payloads, task_id: str, given: DocumentInput) -> tuple[PayloadRef, bytes]:
    if (given.uri is None) == (given.inline is None):
        raise InvalidInput(f"{PATH}: give either uri or inline", path=PATH, reason="one of uri and inline")
    if given.inline is not None:
        data = given.inline.encode()
        _within_limit("the inline document", data, payloads)
        return payloads.put(_inline_key(task_id, data), data), data
    return _stored(payloads, given)


def _stored(payloads: Payloads, given: DocumentInput) -> tuple[PayloadRef, bytes]:
    """The document behind a URI. Size and sum that the caller gave are checked, the others are taken from the
    object.
    """
    place = {"uri": given.uri, "size": given.size or 0, "sha256": given.sha256 or "0" * 64}
    try:
        wanted = PayloadRef.model_validate(place)
    except ValueError as error:
        raise InvalidInput(
            f"{PATH}.uri is not oss://bucket/key", path=f"{PATH}.uri", reason="not a reference"
        ) from error
    if wanted.bucket != payloads.bucket.name:
        raise InvalidInput(
            f"{PATH}.uri is in bucket {wanted.bucket}, this deployment reads {payloads.bucket.name}",
            path=f"{PATH}.uri",
            reason="another bucket",
        )
    data = payloads.bucket.get(wanted.key, payloads.settings.document_bytes)
    if data is None:
        raise InvalidInput(f"{wanted.uri} does not exist", path=f"{PATH}.uri", reason="missing")
    _within_limit(wanted.uri, data, payloads)
    found = PayloadRef(uri=wanted.uri, size=len(data), sha256=hashlib.sha256(data).hexdigest())
    if given.size not in (None, found.size):
        raise InvalidInput(f"{PATH}.size: the object has {found.size}", path=f"{PATH}.size", reason="size differs")
    if given.sha256 not in (None, found.sha256):
        raise InvalidInput(f"{PATH}.sha256: not the object's", path=f"{PATH}.sha256", reason="content differs")
    return found, data


def _within_limit(what: str, data: bytes, payloads: Payloads) -> None:
    most = payloads.settings.document_bytes
    if len(data) > most:
        raise InvalidInput(f"{what} is larger than {most} bytes", path=PATH, reason="too large")
