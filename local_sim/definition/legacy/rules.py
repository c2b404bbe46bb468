"""retry, catch and errorMappings of a task (legacy page, section 7)."""

from __future__ import annotations

from local_sim.definition.model import CatchRule, RetryRule
from local_sim.definition.nodes import MapNode
from local_sim.definition.readers import Reader
from local_sim.definition.scopes import Move

from .mappings import read_error_mappings

MAX_SECONDS = 86_400
DEFAULT_INTERVAL, DEFAULT_ATTEMPTS, DEFAULT_MULTIPLIER = 1, 3, 2.0
"""Seconds, retries, factor (STATED)."""
_RETRY = ("errors", "description", "intervalSeconds", "maxIntervalSeconds", "maxAttempts", "multiplier")


def read_retry(step: Reader) -> tuple[RetryRule, ...]:
    """Return the retry rules, with the documented defaults: 1 s, 3 retries, factor 2, at most 86400 s."""
    rules = [_retry(node, step) for node in step.maps("retry", filled=False)]
    return tuple(rule for rule in rules if rule is not None)


def _retry(node: MapNode, step: Reader) -> RetryRule | None:
    rule = Reader(node, f"a retry rule of {step.what}", step.collector)
    rule.check_fields(_RETRY)
    errors = _errors(rule)
    interval = rule.number("intervalSeconds", 0, MAX_SECONDS)
    longest = rule.number("maxIntervalSeconds", 0, MAX_SECONDS)
    attempts = rule.integer("maxAttempts", 0, 2**31 - 1)
    multiplier = rule.number("multiplier", 0.001, 1_000_000)
    if errors is None:
        return None
    return RetryRule(
        errors,
        DEFAULT_ATTEMPTS if attempts is None else attempts,
        DEFAULT_INTERVAL if interval is None else interval,
        DEFAULT_MULTIPLIER if multiplier is None else multiplier,
        MAX_SECONDS if longest is None else longest,
        node.position,
    )


def read_catch(step: Reader, moves: list[Move]) -> tuple[CatchRule, ...]:
    """Return the catch rules; all hand on what errorMappings makes of the error. Records their targets in `moves`."""
    handed_on = read_error_mappings(step)
    found: list[CatchRule] = []
    for node in step.maps("catch", filled=False):
        rule = Reader(node, f"a catch rule of {step.what}", step.collector)
        rule.check_fields(("errors", "description", "goto"))
        errors, target = _errors(rule), rule.text("goto", required=True, fix="add 'goto:' with a step of this list")
        if target is not None:
            moves.append(Move(target, node.entries["goto"][1].position, "goto"))
        if errors is not None and target is not None:
            found.append(CatchRule(errors, target, handed_on, node.position))
    return tuple(found)


def _errors(rule: Reader) -> tuple[str, ...] | None:
    found = rule.sequence("errors", required=True)
    if found is None:
        return None
    names = [rule.text_of("an entry of errors", item) for item in found.items]
    return tuple(name for name in names if name)
