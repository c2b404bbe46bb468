"""The rules that delete objects by age: kept and shown. Nothing is deleted by them here (assumption D01)."""

from __future__ import annotations

import uuid

from local_sim.services.oss.context import Context, in_thread
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.markup import Element, Node, document, parse
from local_sim.services.oss.response import Response, xml

_ROOT = "LifecycleConfiguration"
_MOST_RULES = 1000
_ACTIONS = ("Expiration", "Transition", "AbortMultipartUpload", "NoncurrentVersionExpiration")


async def get_lifecycle(context: Context) -> Response:
    """Answer with the rules of a bucket; `NoSuchLifecycle` when there are none."""
    name = context.request.bucket_name()
    kept = context.store.lifecycle(name)
    if not kept:
        raise ApiError("NoSuchLifecycle", BucketName=name)
    return xml(_element(parse(kept, _ROOT)))


async def put_lifecycle(context: Context) -> Response:
    """Set the rules of a bucket in place of those it has."""
    root = parse(await context.read_xml(), _ROOT)
    rules = root.all("Rule")
    if not rules or len(rules) > _MOST_RULES:
        raise ApiError("MalformedXML", f"<{_ROOT}> must have 1 to {_MOST_RULES} rules.")
    for rule in rules:
        _check(rule)
    await in_thread(context.store.set_lifecycle, context.request.bucket_name(), document(_element(root)))
    return Response()


async def delete_lifecycle(context: Context) -> Response:
    """Forget the rules of a bucket."""
    await in_thread(context.store.set_lifecycle, context.request.bucket_name(), b"")
    return Response(204)


def _check(rule: Node) -> None:
    if rule.value("Status") not in ("Enabled", "Disabled"):
        raise ApiError("MalformedXML", "<Status> of a rule is Enabled or Disabled.")
    actions = [child for child in rule.children if child.tag in _ACTIONS]
    if not actions:
        raise ApiError("MalformedXML", f"A rule must have one of {', '.join(_ACTIONS)}.")
    for action in actions:
        days = action.get("Days") or action.get("NoncurrentDays")
        if days is not None and not (days.text.isascii() and days.text.isdigit() and int(days.text) > 0):
            raise ApiError("InvalidArgument", "Days must be a positive whole number.", ArgumentName="Days")
    named = rule.get("ID")
    if named is None or not named.text:
        rule.children = [child for child in rule.children if child.tag != "ID"]
        rule.children.insert(0, Node("ID", str(uuid.uuid4())))


def _element(node: Node) -> Element:
    return Element(node.tag, [_element(child) for child in node.children] if node.children else node.text)
