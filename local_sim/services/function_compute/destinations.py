"""Where results of async invocations go: another function, or a file for the services that local_sim does not play."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from local_sim.project import InvalidArn, parse_function_arn
from local_sim.workers import InvokeResult

from .calls import iso
from .records import TaskRecord


class Destinations:
    """Reads destination ARNs; results for queues, topics and buses are appended to files in `folder` (S12)."""

    def __init__(self, folder: Path, request_id: Callable[[], str]) -> None:
        self._folder = folder
        self.request_id = request_id

    def function_of(self, arn: str) -> tuple[str, str | None] | None:
        """Return name and qualifier of a function's ARN; None for the ARN of something else."""
        if not arn.startswith("acs:fc:"):
            return None
        try:
            parsed = parse_function_arn(arn)
        except InvalidArn:
            return None
        return parsed.name, parsed.qualifier or None

    def keep(self, arn: str, document: Mapping[str, Any]) -> Path:
        """Append a result to the file of its destination, one JSON object a line; returns the file."""
        name = hashlib.sha256(arn.encode()).hexdigest()[:16]
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{name}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"destination": arn, "message": document}, ensure_ascii=False) + "\n")
        return path


def result_document(task: TaskRecord, result: InvokeResult, arn: str) -> dict[str, Any]:
    """Return what a destination gets (function-compute page, section 8)."""
    return {
        "timestamp": task.ended_ms,
        "time": iso(task.ended_ms or 0),
        "requestContext": {
            "requestId": task.request_id,
            "functionArn": arn,
            "condition": result.error_type,
            "approximateInvokeCount": task.attempts,
        },
        "requestPayload": task.payload.decode("utf-8", "replace"),
        "responseContext": {"statusCode": result.status, "functionError": result.error_type},
        "responsePayload": result.body.decode("utf-8", "replace"),
    }
