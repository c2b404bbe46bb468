"""Reads Retry and Catch (language page 7)."""

from __future__ import annotations

from local_sim.expression import PLAIN_ROOTS

from .constructors import read_template
from .fields import CATCH_FIELDS, RETRY_FIELDS
from .model import CatchRule, RetryRule
from .nodes import MapNode
from .readers import Reader

MAX_SECONDS = 86_400
_MAX_ATTEMPTS = 2**31 - 1


def read_retry(state: Reader) -> tuple[RetryRule, ...]:
    """Return the rules of Retry that can be read."""
    rules = [_retry_rule(_reader(node, "Retry", state), node) for node in state.maps("Retry", filled=False)]
    return tuple(rule for rule in rules if rule)


def read_catch(state: Reader) -> tuple[CatchRule, ...]:
    """Return the rules of Catch that can be read."""
    rules = [_catch_rule(_reader(node, "Catch", state), node) for node in state.maps("Catch", filled=False)]
    return tuple(rule for rule in rules if rule)


def _reader(node: MapNode, field: str, state: Reader) -> Reader:
    return Reader(node, f"a {field} rule of {state.what}", state.collector)


def read_errors(rule: Reader) -> tuple[str, ...] | None:
    """Return the error names a rule lists."""
    found = rule.sequence("Errors", required=True)
    if found is None:
        return None
    names = [rule.text_of("an entry of Errors", item) for item in found.items]
    for name, item in zip(names, found.items, strict=True):
        if name is not None and not name.strip():
            rule.collector.add(
                "SK105", item, f"an empty error name in {rule.what}", fix="name the error, or remove the entry"
            )
    return tuple(name for name in names if name)


def _retry_rule(rule: Reader, node: MapNode) -> RetryRule | None:
    rule.check_fields(RETRY_FIELDS)
    rule.text("Description")
    errors = read_errors(rule)
    attempts = rule.integer("MaxAttempts", 0, _MAX_ATTEMPTS, required=True)
    interval = rule.integer("IntervalSeconds", 0, MAX_SECONDS, required=True)
    rate = rule.number("BackoffRate", 0.001, 1_000_000)
    longest = rule.integer("MaxBackoffSeconds", 0, MAX_SECONDS)
    if errors is None or attempts is None or interval is None:
        return None
    return RetryRule(errors, attempts, interval, 1.0 if rate is None else rate, longest, node.position)


def _catch_rule(rule: Reader, node: MapNode) -> CatchRule | None:
    rule.check_fields(CATCH_FIELDS)
    rule.text("Description")
    errors = read_errors(rule)
    target = rule.text("Next", required=True, fix="name the state that goes on; Next may not be left out")
    # No result exists when an error is handled, so $Output is not among the roots (A56).
    output = read_template(rule, "OutputConstructor", PLAIN_ROOTS)
    if errors is None or target is None:
        return None
    return CatchRule(errors, target, output, node.position)
