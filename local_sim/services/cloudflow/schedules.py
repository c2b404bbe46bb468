"""The actions on schedules, and which of them is due next."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from local_sim.services.cron import CronError, next_fire, parse_cron

from . import paging
from . import requests as r
from .errors import Conflict, InvalidArgument, schedule_not_exists
from .flows import FlowActions, Surroundings
from .records import FlowRecord, ScheduleRecord
from .replies import Reply, page_reply, schedule_reply
from .store import FlowStore


class ScheduleActions:
    """Answers the actions on schedules. `on_change` is called after each change, so that the clock can be set anew."""

    def __init__(
        self, store: FlowStore, surroundings: Surroundings, flows: FlowActions, on_change: Callable[[], None]
    ) -> None:
        self._store = store
        self._outside = surroundings
        self._flows = flows
        self._on_change = on_change

    def create_schedule(self, call: r.CreateSchedule) -> Reply:
        """Make a schedule; raises Conflict ScheduleAlreadyExists."""
        flow = self._flows.find(call.flow_name)
        _check(call.cron)
        if self._store.schedule(flow.id, call.schedule_name):
            text = f"Schedule '{call.schedule_name}' in flow '{flow.name}' already exists."
            raise Conflict("ScheduleAlreadyExists", text)
        now = self._outside.now_ms()
        schedule = ScheduleRecord(
            flow_id=flow.id,
            name=call.schedule_name,
            id=self._outside.new_id(),
            cron=call.cron,
            description=call.description or "",
            enable=call.enable,
            payload=call.payload or "",
            created_ms=now,
            modified_ms=now,
            anchor_ms=now,
        )
        self._store.add_schedule(schedule)
        self._on_change()
        return schedule_reply(schedule)

    def describe_schedule(self, call: r.DescribeSchedule) -> Reply:
        """Show a schedule."""
        return schedule_reply(self._find(self._flows.find(call.flow_name), call.schedule_name))

    def update_schedule(self, call: r.UpdateSchedule) -> Reply:
        """Change the given fields of a schedule."""
        before = self._find(self._flows.find(call.flow_name), call.schedule_name)
        if call.cron:
            _check(call.cron)
        now = self._outside.now_ms()
        after = dataclasses.replace(
            before,
            cron=call.cron or before.cron,
            description=before.description if call.description is None else call.description,
            enable=before.enable if call.enable is None else call.enable,
            payload=before.payload if call.payload is None else call.payload,
            modified_ms=now,
        )
        if after.cron != before.cron or (after.enable and not before.enable):
            after = dataclasses.replace(after, anchor_ms=now)
        self._store.put_schedule(after)
        self._on_change()
        return schedule_reply(after)

    def delete_schedule(self, call: r.DeleteSchedule) -> Reply:
        """Remove a schedule."""
        flow = self._flows.find(call.flow_name)
        self._store.delete_schedule(flow.id, self._find(flow, call.schedule_name).name)
        self._on_change()
        return {}

    def list_schedules(self, call: r.ListSchedules) -> Reply:
        """List a flow's schedules by name."""
        flow = self._flows.find(call.flow_name)
        (after,) = paging.read_token(call.next_token, str) or ("",)
        found = self._store.schedules(flow.id, after, call.limit + 1)
        page, token = paging.cut_page(found, call.limit, lambda schedule: (schedule.name,))
        return page_reply("Schedules", [schedule_reply(schedule) for schedule in page], token)

    def due_after(self, after_ms: int) -> list[tuple[int, ScheduleRecord]]:
        """Return each enabled schedule with its first moment after `after_ms`, soonest first.

        A moment that passed while the server was down is not made up for (S06).
        """
        due = [(next_fire(item.cron, after_ms, item.anchor_ms), item) for item in self._store.enabled_schedules()]
        return sorted(due, key=lambda pair: pair[0])

    def _find(self, flow: FlowRecord, name: str) -> ScheduleRecord:
        schedule = self._store.schedule(flow.id, name)
        if schedule is None:
            raise schedule_not_exists(name, flow.name)
        return schedule


def _check(cron: str) -> None:
    try:
        parse_cron(cron)
    except CronError as error:
        raise InvalidArgument(f"Parameter 'CronExpression': {error}.", "CronExpression") from error
