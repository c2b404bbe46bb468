"""The actions on async tasks (function-compute page, section 9)."""

from __future__ import annotations

from local_sim.services.timestamps import format_ms, parse_ms

from .async_queue import AsyncQueue
from .calls import Answer, Call, make_token, read_token
from .catalog import Catalog
from .errors import InvalidArgument, NotFound
from .records import Document, TaskRecord
from .task_store import TaskQuery, TaskStore


class TaskActions:
    """Answers the actions on async tasks."""

    def __init__(self, catalog: Catalog, store: TaskStore, queue: AsyncQueue) -> None:
        self._catalog = catalog
        self._store = store
        self._queue = queue

    def list_tasks(self, call: Call) -> Answer:
        """List a function's tasks by their time of arrival, newest first unless asked otherwise."""
        name = self._catalog.find(call.function).name
        limit = call.limit()
        found = self._store.page(
            TaskQuery(
                function=name,
                limit=limit + 1,
                after=_after(call),
                ascending=(call.text("sortOrderByTime") or "").lower().startswith("asc"),
                status=call.text("status"),
                prefix=call.text("prefix") or "",
                qualifier=call.text("qualifier"),
                started_begin_ms=_time(call, "startedTimeBegin"),
                started_end_ms=_time(call, "startedTimeEnd"),
            )
        )
        with_payload = (call.text("includePayload") or "").lower() == "true"
        document: Document = {"tasks": [self._show(task, with_payload) for task in found[:limit]]}
        if len(found) > limit:
            last = found[limit - 1]
            document["nextToken"] = make_token(last.created_ms, last.task_id)
        return Answer(document=document)

    def get_task(self, call: Call) -> Answer:
        """Show a task with its payloads."""
        name = self._catalog.find(call.function).name
        task = self._store.get(name, call.item)
        if task is None or not task.is_task:
            raise NotFound("AsyncTaskNotFound", f"async task '{call.item}' of function '{name}' does not exist")
        return Answer(document=self._show(task, with_payload=True))

    def stop_task(self, call: Call) -> Answer:
        """End a task; answered with 202."""
        self._queue.stop(self._catalog.find(call.function).name, call.item)
        return Answer(202)

    def _show(self, task: TaskRecord, with_payload: bool) -> Document:
        shown: Document = {
            "taskId": task.task_id,
            "requestId": task.request_id,
            "status": task.status,
            "functionArn": self._catalog.arn(task.function, task.qualifier),
            "qualifier": task.qualifier,
            "alreadyRetriedTimes": max(task.attempts - 1, 0),
            "taskErrorMessage": task.error,
            "destinationStatus": task.destination_status,
            "startedTime": task.started_ms if task.started_ms is not None else task.created_ms,
            "events": [
                {"eventId": number, "status": status, "timestamp": at, "eventDetail": detail}
                for number, (at, status, detail) in enumerate(task.events, 1)
            ],
        }
        if task.ended_ms is not None:
            shown["endTime"] = task.ended_ms
            shown["durationMs"] = task.ended_ms - (task.started_ms or task.ended_ms)
        if with_payload:
            shown["taskPayload"] = task.payload.decode("utf-8", "replace")
            shown["returnPayload"] = task.result.decode("utf-8", "replace")
        return shown


def _after(call: Call) -> tuple[int, str] | None:
    key = read_token(call.text("nextToken"), int, str)
    return None if key is None else (int(key[0]), str(key[1]))


def _time(call: Call, name: str) -> int | None:
    text = call.text(name)
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    try:
        return parse_ms(text)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name}: not a time such as {format_ms(0)}, nor milliseconds", name) from error
