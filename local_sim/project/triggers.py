"""The triggers of a function in s.yaml (serverless-devs reference, section 8)."""

from __future__ import annotations

from .errors import TemplateError
from .model import Trigger
from .nodes import Node
from .variables import Renderer

TRIGGER_TYPES = ("timer", "http", "oss", "log", "eventbridge", "mns_topic", "cdn_events", "tablestore")


def read_triggers(resource: str, node: Node | None, renderer: Renderer) -> tuple[Trigger, ...]:
    """Return the triggers listed under `triggers`. Raises TemplateError, also for a name given twice."""
    if node is None:
        return ()
    found: dict[str, Trigger] = {}
    given = renderer.render(node, resource).value
    for value in given if isinstance(given, list) else []:
        trigger = _trigger(resource, value, node)
        if trigger.name in found:
            raise TemplateError(f"resource {resource!r} gives trigger {trigger.name!r} twice", node.place)
        found[trigger.name] = trigger
    return tuple(found.values())


def _trigger(resource: str, value: object, node: Node) -> Trigger:
    fields = value if isinstance(value, dict) else {}
    name, kind, config = fields.get("triggerName"), fields.get("triggerType"), fields.get("triggerConfig", {})
    if not isinstance(name, str) or not name:
        raise TemplateError(f"a trigger of resource {resource!r} lacks its triggerName", node.place)
    if kind not in TRIGGER_TYPES:
        known = ", ".join(TRIGGER_TYPES)
        raise TemplateError(f"triggerType of {name!r} in resource {resource!r} must be one of {known}", node.place)
    if not isinstance(config, dict):
        raise TemplateError(f"triggerConfig of {name!r} in resource {resource!r} must be a map", node.place)
    qualifier = fields.get("qualifier", "LATEST")
    return Trigger(name=name, type=str(kind), config=config, qualifier=str(qualifier))
