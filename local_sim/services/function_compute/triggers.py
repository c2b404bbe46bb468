"""The actions on triggers, and when timer triggers fire."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from local_sim.project import TRIGGER_TYPES
from local_sim.services.cron import CronError, next_fire, parse_cron

from .calls import Answer, Call, Outside, iso, page
from .catalog import Catalog
from .errors import Conflict, InvalidArgument, trigger_not_found
from .inputs import CreateTrigger, HttpConfig, TimerConfig, TriggerFields, check, read_body
from .records import LATEST, Document, TriggerRecord
from .routes import HTTP_PREFIX

TIMER = "timer"
HTTP = "http"
# Only timer and http do something here; the others are kept and shown (S12).


class TriggerActions:
    """Answers the actions on triggers. `on_change` is called after each, so that timers are set anew."""

    def __init__(self, catalog: Catalog, outside: Outside, on_change: Callable[[], None]) -> None:
        self._catalog = catalog
        self._store = catalog.store
        self._outside = outside
        self._on_change = on_change

    def create(self, call: Call) -> Answer:
        """Make a trigger; raises Conflict TriggerAlreadyExists."""
        fields = read_body(CreateTrigger, call.body)
        name = self._catalog.find(call.function).name
        if self._store.trigger(name, fields.triggerName):
            raise Conflict("TriggerAlreadyExists", f"trigger '{fields.triggerName}' of '{name}' already exists")
        if fields.triggerType not in TRIGGER_TYPES:
            raise InvalidArgument(f"triggerType: must be one of {', '.join(TRIGGER_TYPES)}", "triggerType")
        now = self._outside.now_ms()
        trigger = TriggerRecord(
            function=name,
            name=fields.triggerName,
            id=self._outside.new_id(),
            type=fields.triggerType,
            config=_config_text(fields.triggerConfig),
            qualifier=fields.qualifier or LATEST,
            description=fields.description or "",
            invocation_role=fields.invocationRole or "",
            source_arn=str((fields.model_extra or {}).get("sourceArn") or ""),
            created_ms=now,
            modified_ms=now,
        )
        return self._put(trigger, call)

    def get(self, call: Call) -> Answer:
        """Show a trigger."""
        return Answer(document=self._show(self._find(call), call))

    def update(self, call: Call) -> Answer:
        """Change the given fields of a trigger."""
        fields = read_body(TriggerFields, call.body)
        trigger = self._find(call)
        changed = dataclasses.replace(
            trigger,
            config=trigger.config if fields.triggerConfig is None else _config_text(fields.triggerConfig),
            qualifier=fields.qualifier or trigger.qualifier,
            description=trigger.description if fields.description is None else fields.description,
            invocation_role=fields.invocationRole or trigger.invocation_role,
            modified_ms=self._outside.now_ms(),
        )
        return self._put(changed, call)

    def delete(self, call: Call) -> Answer:
        """Remove a trigger."""
        trigger = self._find(call)
        self._store.delete_trigger(trigger.function, trigger.name)
        self._on_change()
        return Answer(204)

    def list_triggers(self, call: Call) -> Answer:
        """List the triggers by name."""
        found = self._store.triggers(self._catalog.find(call.function).name)
        found = [trigger for trigger in found if trigger.name.startswith(call.text("prefix") or "")]
        return page(call, "triggers", found, lambda trigger: trigger.name, lambda trigger: self._show(trigger, call))

    def due_after(self, after_ms: int) -> list[tuple[int, TriggerRecord]]:
        """Return each enabled timer trigger with its first moment after `after_ms`, soonest first (S06)."""
        due = []
        for trigger in self._store.triggers(kind=TIMER):
            config = timer_config(trigger)
            if config.enable:
                due.append((next_fire(config.cronExpression, after_ms, trigger.modified_ms), trigger))
        return sorted(due, key=lambda pair: pair[0])

    def _find(self, call: Call) -> TriggerRecord:
        trigger = self._store.trigger(self._catalog.find(call.function).name, call.item)
        if trigger is None:
            raise trigger_not_found(call.function, call.item)
        return trigger

    def _put(self, trigger: TriggerRecord, call: Call) -> Answer:
        self._catalog.resolve(trigger.function, trigger.qualifier)
        if trigger.type == TIMER:
            timer_config(trigger)
        elif trigger.type == HTTP:
            http_config(trigger)
        self._store.put_trigger(trigger)
        self._on_change()
        return Answer(document=self._show(trigger, call))

    def _show(self, trigger: TriggerRecord, call: Call) -> Document:
        shown: Document = {
            "triggerName": trigger.name,
            "triggerId": trigger.id,
            "triggerType": trigger.type,
            "triggerConfig": trigger.config,
            "qualifier": trigger.qualifier,
            "description": trigger.description,
            "invocationRole": trigger.invocation_role,
            "sourceArn": trigger.source_arn,
            "targetArn": self._catalog.arn(trigger.function),
            "status": "Active",
            "createdTime": iso(trigger.created_ms),
            "lastModifiedTime": iso(trigger.modified_ms),
        }
        if trigger.type == HTTP:
            url = f"http://{call.host}{HTTP_PREFIX}{trigger.function}/{trigger.name}/"
            shown["httpTrigger"] = {"urlInternet": url, "urlIntranet": url}
        return shown


def timer_config(trigger: TriggerRecord) -> TimerConfig:
    """Return a timer's settings. Raises InvalidArgument, also for an expression that is none."""
    config = check(TimerConfig, _config(trigger), "triggerConfig")
    try:
        parse_cron(config.cronExpression)
    except CronError as error:
        raise InvalidArgument(f"triggerConfig.cronExpression: {error}", "triggerConfig.cronExpression") from error
    return config


def http_config(trigger: TriggerRecord) -> HttpConfig:
    """Return an HTTP trigger's settings. Raises InvalidArgument."""
    return check(HttpConfig, _config(trigger), "triggerConfig")


def timer_event(trigger: TriggerRecord, at_ms: int) -> bytes:
    """Return the event of a timer trigger that fires."""
    payload = timer_config(trigger).payload
    event = {"triggerTime": iso(at_ms), "triggerName": trigger.name, "payload": payload}
    return json.dumps(event, ensure_ascii=False).encode()


def _config(trigger: TriggerRecord) -> Any:
    try:
        return json.loads(trigger.config or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"triggerConfig: not JSON: {error}", "triggerConfig") from error


def _config_text(given: str | dict[str, Any] | None) -> str:
    return given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
