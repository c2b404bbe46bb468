"""What really happened outside: told by the service itself where it can tell, else read off the requests it answered.

A service of the project's own may give its app a method `effects()` that returns what happened, oldest first:
`Effect`s, or mappings of their fields. Without one the recorder takes every changing request (POST, PUT, PATCH, DELETE)
that was answered with 2xx for an effect. Two requests with the same idempotency key and the same answer are one; so are
repeats of a PUT or DELETE. The rules of `[tool.local-sim.explore.effects]` give requests names and say what undoes
what.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from .model import Effect, EffectRule
from .world import Answered, World

_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEYS = ("idempotency-key", "x-idempotency-key", "idempotency-token")


def effects_of(world: World, rules: Mapping[str, Mapping[str, EffectRule]]) -> tuple[Effect, ...]:
    """Return all effects at the outside services, service by service, oldest first."""
    found: list[Effect] = []
    for name, app in world.outside.items():
        answered = [one for one in world.answered if one.service == name]
        told = app.effects()
        if told is None:
            found += _recorded(answered, rules.get(name, {}))
        else:
            found += [_with_line(told_effect(one), place, answered) for place, one in enumerate(told)]
    return tuple(found)


def told_effect(told: Any) -> Effect:
    """Return an effect as a service tells it."""
    if isinstance(told, Effect):
        return told
    if isinstance(told, Mapping):
        return Effect(**{str(name): value for name, value in told.items()})
    names = ("name", "subject", "undoes", "reversible")
    return Effect(**{name: getattr(told, name) for name in names if hasattr(told, name)})


def _with_line(effect: Effect, place: int, answered: list[Answered]) -> Effect:
    """Add the line whose request made it: the first after which the service told of so many."""
    one = next((one for one in answered if one.told > place), None)
    return effect if one is None else replace(effect, line=one.line, stack=one.stack, path=one.path)


def _recorded(answered: list[Answered], rules: Mapping[str, EffectRule]) -> list[Effect]:
    seen: dict[tuple[str, str, str], bytes] = {}
    found: list[Effect] = []
    for one in answered:
        request = one.request
        if request.method not in _CHANGING or not 200 <= one.response.status < 300:
            continue
        rule = _rule(f"{request.method} {request.path}", rules)
        if rule.ignore:
            continue
        effect = Effect(rule.name, _subject(one, rule), rule.undoes, rule.reversible, one.line, one.stack, one.path)
        key = next((request.header(name) for name in _KEYS if request.header(name)), "")
        again = key or rule.repeatable or request.method in ("PUT", "DELETE")
        mark = (effect.name, effect.subject, key)
        if again and mark in seen and (not key or seen[mark] == one.response.body):
            continue
        seen[mark] = one.response.body
        found.append(effect)
    return found


def _rule(place: str, rules: Mapping[str, EffectRule]) -> EffectRule:
    for pattern, rule in rules.items():
        if fnmatchcase(place, pattern):
            return rule if rule.name else EffectRule(place, *_rest(rule))
    return EffectRule(place)


def _rest(rule: EffectRule) -> tuple[Any, ...]:
    return rule.identity, rule.undoes, rule.reversible, rule.repeatable, rule.ignore


def _subject(one: Answered, rule: EffectRule) -> str:
    body = one.request.body
    try:
        value = json.loads(body) if body else None
    except ValueError:
        return hashlib.sha256(body).hexdigest()[:16]
    if rule.identity and isinstance(value, dict):
        return " ".join(str(value.get(name, "")) for name in rule.identity)
    return "" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
