"""Which keys a list's local has at its end, as far as the text tells: must-have and may-have, over all paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Keys:
    """`must` are there on every path, `may` on some; `may` None: any."""

    must: frozenset[str] = frozenset()
    may: frozenset[str] | None = frozenset()

    @property
    def exact(self) -> frozenset[str] | None:
        """The keys when they are the same on every path, else None."""
        return self.must if self.must == self.may else None

    def then(self, other: Keys) -> Keys:
        """Return the keys after outputs are merged in."""
        may = None if self.may is None or other.may is None else self.may | other.may
        return Keys(self.must | other.must, may)

    def or_else(self, other: Keys) -> Keys:
        """Return the keys when either path was taken."""
        may = None if self.may is None or other.may is None else self.may | other.may
        return Keys(self.must & other.must, may)


ANY = Keys(may=None)
NONE = Keys()
Step = Mapping[str, Any]


def keys_of(steps: Sequence[Step]) -> Keys:
    """Return the keys of a list's local where the list ends."""
    before: dict[str, Keys] = {str(steps[0]["name"]): NONE}
    end: Keys | None = None
    waiting = [0]
    place = {step["name"]: index for index, step in enumerate(steps)}
    while waiting:
        index = waiting.pop()
        step = steps[index]
        follower = str(steps[index + 1]["name"]) if index + 1 < len(steps) and not _ends(step) else None
        for target, output in _ways(step, follower):
            after = before[step["name"]].then(output)
            if target is None:
                end = after if end is None else end.or_else(after)
                continue
            known = before.get(target)
            joined = after if known is None else known.or_else(after)
            if joined != known:
                before[target] = joined
                waiting.append(place[target])
    return end or NONE


def _ends(step: Step) -> bool:
    return step.get("end") is True or step["type"] in ("succeed", "fail")


def _ways(step: Step, follower: str | None) -> list[tuple[str | None, Keys]]:
    """Return where a step can lead, with the keys it puts out on that way."""
    kind = step["type"]
    if kind == "fail":
        return []
    if kind == "choice":
        return _choice_ways(step, follower)
    caught = _targets(step.get("errorMappings"))
    return [(follower, _output(step)), *((rule["goto"], caught) for rule in step.get("catch") or ())]


def _choice_ways(step: Step, follower: str | None) -> list[tuple[str | None, Keys]]:
    options = [*step["choices"], *([step["default"]] if step.get("default") is not None else [])]
    ways = []
    for option in options:
        made = keys_of(option["steps"]) if option.get("steps") else NONE
        ways.append((option.get("goto") or follower, _mapped(step) or made))
    return ways if step.get("default") is not None else [*ways, (follower, _mapped(step) or NONE)]


def _output(step: Step) -> Keys:
    mapped = _mapped(step)
    if mapped is not None:
        return mapped
    if step["type"] == "task":
        return ANY
    if step["type"] == "pass":
        return _targets(step["inputMappings"]) if step.get("inputMappings") is not None else ANY
    return NONE


def _mapped(step: Step) -> Keys | None:
    return None if step.get("outputMappings") is None else _targets(step["outputMappings"])


def _targets(mappings: Sequence[Mapping[str, Any]] | None) -> Keys:
    targets = frozenset(mapping["target"] for mapping in mappings or ())
    return Keys(targets, targets)
