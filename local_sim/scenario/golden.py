"""A history kept as a file: the next run must tell the same story."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

from local_sim.engine import HistoryEvent
from local_sim.masks import mask

_MOST_LINES = 60


def history_lines(history: Sequence[HistoryEvent], execution: str) -> list[str]:
    """Return a history as JSON lines. Times are seconds since the start; tokens, request ids and names are masked."""
    start = history[0].time_ms if history else 0
    lines = []
    for event in history:
        seconds = (event.time_ms - start) / 1000
        record = {"event": event.event_id, "after": event.schedule_event_id, "at": seconds, "type": event.type}
        if event.step_name:
            record["state"] = event.step_name
        if event.detail:
            record["detail"] = dict(event.detail)
        lines.append(mask(json.dumps(record, ensure_ascii=False), execution))
    return lines


def compare_with(file: Path, lines: Sequence[str], *, update: bool) -> str:
    """Return how a history differs from the golden file, empty when it does not. With `update` the file is written."""
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return ""
    if not file.is_file():
        return f"there is no golden history {file}; write it with --update-golden"
    wanted = file.read_text(encoding="utf-8").splitlines()
    if wanted == list(lines):
        return ""
    diff = list(difflib.unified_diff(wanted, list(lines), str(file), "this run", n=1, lineterm=""))
    cut = [f"... {len(diff) - _MOST_LINES} lines more"] if len(diff) > _MOST_LINES else []
    shown = "\n".join([*diff[:_MOST_LINES], *cut])
    return f"the history differs from {file}; accept the new one with --update-golden\n{shown}"
