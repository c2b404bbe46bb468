"""Reads `[tool.local-sim] invariants` and `[tool.local-sim.explore]` of pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local_sim.project.loader import settings_table

from .errors import BadPlan
from .model import Answer, EffectRule, ExploreSettings

_KEYS = {"answers", "lease", "versions", "effects", "ends", "prepare"}
_RULE_KEYS = {"name", "identity", "undoes", "reversible", "repeatable", "ignore"}
_OWED = ("done", "undone", "open")


def read_explore_settings(root: Path) -> ExploreSettings:
    """Return the settings of the project at `root`; all defaults when there are none. Raises BadPlan, ProjectError."""
    table = settings_table(root) or {}
    invariants = table.get("invariants", [])
    if not isinstance(invariants, list) or not all(isinstance(name, str) for name in invariants):
        raise BadPlan("[tool.local-sim] invariants", "must be a list of module names")
    own = _table(table.get("explore", {}), "explore")
    unknown = sorted(own.keys() - _KEYS)
    if unknown:
        raise BadPlan("[tool.local-sim.explore]", f"has no setting {unknown[0]!r}; it has {', '.join(sorted(_KEYS))}")
    return ExploreSettings(
        invariants=tuple(invariants),
        lease=_lease(own.get("lease", 60)),
        versions=_texts(own.get("versions", {}), "explore.versions"),
        effects={name: _rules(each, name) for name, each in _table(own.get("effects", {}), "explore.effects").items()},
        prepare=_function(own.get("prepare", "")),
        answers={
            flow: _answers(each, flow) for flow, each in _table(own.get("answers", {}), "explore.answers").items()
        },
        ends={flow: _ends(each, flow) for flow, each in _table(own.get("ends", {}), "explore.ends").items()},
    )


def _table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadPlan(f"[tool.local-sim.{name}]", "must be a table")
    return value


def _texts(value: Any, name: str) -> Mapping[str, str]:
    table = _table(value, name)
    for key, text in table.items():
        if not isinstance(text, str):
            raise BadPlan(f"[tool.local-sim.{name}] {key}", f"must be text, not {text!r}")
    return table


def _lease(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise BadPlan("[tool.local-sim.explore] lease", f"must be seconds above 0, not {value!r}")
    return float(value)


def _ends(value: Any, flow: str) -> Mapping[str, str]:
    ends = _texts(value, f"explore.ends.{flow}")
    for state, owed in ends.items():
        if owed not in _OWED:
            raise BadPlan(f"[tool.local-sim.explore.ends.{flow}] {state}", f"must be one of {', '.join(_OWED)}")
    return ends


def _function(value: Any) -> str:
    if not isinstance(value, str) or (value and not all(value.partition(":"))):
        raise BadPlan("[tool.local-sim.explore] prepare", f"must be written module:function, not {value!r}")
    return value


def _answers(value: Any, flow: str) -> tuple[Answer, ...]:
    answers: list[Answer] = []
    for state, given in _table(value, f"explore.answers.{flow}").items():
        if not isinstance(given, list) or not given:
            raise BadPlan(f"[tool.local-sim.explore.answers.{flow}] {state}", "must be a list of answers")
        answers += [Answer(state, one) for one in given]
    return tuple(answers)


def _rules(value: Any, service: str) -> Mapping[str, EffectRule]:
    name = f"explore.effects.{service}"
    return {
        str(place): _rule(given, f"[tool.local-sim.{name}] {place!r}") for place, given in _table(value, name).items()
    }


def _rule(given: Any, where: str) -> EffectRule:
    if isinstance(given, str):
        return EffectRule(given)
    if not isinstance(given, dict) or not given.keys() <= _RULE_KEYS:
        raise BadPlan(where, f"must be a name, or a table of {', '.join(sorted(_RULE_KEYS))}")
    name, identity, undoes = given.get("name", ""), given.get("identity", []), given.get("undoes", "")
    if not isinstance(name, str) or not isinstance(undoes, str) or not _is_texts(identity):
        raise BadPlan(where, "name and undoes must be texts, identity a list of texts")
    switches = {key: given[key] for key in ("reversible", "repeatable", "ignore") if key in given}
    if not all(isinstance(switch, bool) for switch in switches.values()):
        raise BadPlan(where, "reversible, repeatable and ignore must be true or false")
    return EffectRule(name, tuple(identity), undoes, **switches)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
