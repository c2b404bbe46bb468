"""One JSON line per change of a step, on standard output, where FC collects it.

The nine fields are those of a transition record (design.md, ledger rules): task_id, workflow_version, step_name,
from_status, to_status, attempt, error_type, side_effect_id, timestamp (ms).
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass

from functions.clock import now_ms

__all__ = ["Change", "write"]


@dataclass(frozen=True)
class Change:
    """What changed. `from_status` and `to_status` are states of the ledger, `error_type` is "" without an error."""

    task_id: str
    workflow_version: str
    step_name: str
    from_status: str
    to_status: str
    attempt: int
    error_type: str = ""
    side_effect_id: str = ""


def write(change: Change) -> None:
    """Write the line. One write call, so that lines of several threads stay whole."""
    sys.stdout.write(json.dumps({**asdict(change), "timestamp": now_ms()}, ensure_ascii=True) + "\n")
    sys.stdout.flush()
