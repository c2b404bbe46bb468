"""GenerateDraft: has the provider write a draft, once."""

from __future__ import annotations

from typing import Any

from functions.compensations import remove_objects
from functions.drafting import DraftRequest, provider
from functions.errors import at_path
from functions.material import Limits, extract
from functions.models import DraftEvent, PayloadRef
from functions.payloads import Payloads
from functions.step import Call, step, step_key
from ledger import EffectKind, Probe

__all__ = ["handler"]

MARKDOWN = "text/markdown; charset=utf-8"


def _stored(call: Call[DraftEvent]) -> Probe:
    """A draft that lies under the step's key was written by an earlier attempt: it is taken, not written again."""
    found = Payloads.open(call.settings).find(step_key("drafts", call.event, ".md"))
    return Probe.not_applied() if found is None else Probe.applied(_result(found))


@step(
    DraftEvent,
    kind=EffectKind.PROBED,
    probe=_stored,
    compensation=lambda call: remove_objects(step_key("drafts", call.event, ".md")),
)
def handler(call: Call[DraftEvent]) -> dict[str, Any]:
    """Answers with `task.draft`. Raises what the provider raises, see `functions.drafting`."""
    event, settings = call.event, call.settings
    payloads = Payloads.open(settings)
    title = event.task.title or event.task.name.rsplit(".", 1)[0]
    note = payloads.read_text(event.task.note) if event.task.note else event.review.note.strip()
    request = DraftRequest(title, _material(call, payloads), note, call.key, settings.draft_chars)
    draft = provider(settings).write(request)
    # Should an overtaken worker finish late, the first draft stays: both workers answer with the same one.
    return _result(payloads.keep(step_key("drafts", event, ".md"), draft.text.encode(), MARKDOWN).ref)


def _material(call: Call[DraftEvent], payloads: Payloads) -> str:
    """The prepared material; a flow without PrepareMaterial has the document read here."""
    task = call.event.task
    if task.material is not None:
        return payloads.read_text(task.material)
    with at_path("task.document"):
        return extract(task.name, payloads.read(task.document), Limits.of(call.settings)).text


def _result(draft: PayloadRef) -> dict[str, Any]:
    return {"task": {"draft": draft.model_dump()}}
