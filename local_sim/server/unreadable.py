"""The end of a stored execution whose definition this version can no longer read."""

from __future__ import annotations

import json

from local_sim.engine import HistoryEvent, Status, to_api
from local_sim.journal.served import EndWrite, ServedRecord

ERROR = "FnF.DefinitionUnreadable"


def unreadable_end(served: ServedRecord, at_ms: int, reason: Exception) -> EndWrite:
    """Return the failed end (C05); its history says nothing but why."""
    cause = f"after a restart the stored definition could no longer be read: {reason}"
    detail = {"error": ERROR, "cause": cause}
    history = [
        HistoryEvent(1, 0, "", "ExecutionStarted", served.execution.created_ms, {"input": served.input}),
        HistoryEvent(2, 1, "", "ExecutionFailed", at_ms, detail),
    ]
    text = json.dumps([to_api(event) for event in history], ensure_ascii=False)
    return EndWrite(served.execution.id, Status.FAILED, None, ERROR, cause, at_ms, text)
