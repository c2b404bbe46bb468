"""The judgement of a finished run, by what happened outside and not by what the flow says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from local_sim.definition.model import CatchRule, FailState, Flow, MapState, ParallelState, SucceedState
from local_sim.definition.walk import states_of
from local_sim.engine.faults import ALL

from .model import Effect, Run, Verdict, Violation

DONE, UNDONE, OPEN = "done", "undone", "open"


@dataclass(frozen=True)
class Baseline:
    """What the run without faults came to; every other run is measured against it."""

    end: str
    standing: Mapping[tuple[str, str], int]
    overwrites: Mapping[str, int]
    visits: Mapping[str, int]

    @classmethod
    def of(cls, run: Run, visits: Mapping[str, int]) -> Baseline:
        """Take the measure of the run without faults."""
        left = Counter(effect_key(effect) for effect in standing(run.effects))
        return cls(run.end, left, Counter(one.key for one in run.overwrites), dict(visits))


def effect_key(effect: Effect) -> tuple[str, str]:
    """Return what makes two effects the same one."""
    return effect.name, effect.subject


def standing(effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects that nothing has undone."""
    left: list[Effect] = []
    for effect in effects:
        if not effect.undoes:
            left.append(effect)
            continue
        undone = next((one for one in reversed(left) if _undoes(effect, one)), None)
        if undone is not None:
            left.remove(undone)
    return left


def _undoes(undo: Effect, effect: Effect) -> bool:
    return undo.undoes == effect.name and undo.subject == effect.subject


def verdict_of(run: Run, baseline: Baseline, violations: Iterable[Violation]) -> Verdict:
    """Return the one word for a run."""
    if any(True for _ in violations):
        return Verdict.BROKEN
    if run.asked:
        return Verdict.TO_A_PERSON
    return Verdict.RECOVERED if run.end == baseline.end else Verdict.COMPENSATED


class Judge:
    """The rules every flow has to keep. `ends` says what an end owes where that cannot be told from the flow."""

    def __init__(self, flow: Flow, ends: Mapping[str, str], file: str) -> None:
        self._ends, self._file = ends, file
        self._types = {path[-1]: state for path, state in states_of(flow)}

    def violations(self, run: Run, baseline: Baseline, hung: str = "") -> Iterator[Violation]:
        """Yield every rule the run broke."""
        if hung:
            yield Violation("comes to an end", hung)
        yield from self._ending(run)
        yield from _at_most_once(run.effects)
        yield from _undone_once(run.effects)
        yield from self._reverse_order(run.effects)
        yield from self._owed(run, baseline)
        yield from _decided_once(run.history)
        yield from _written_once(run, baseline)
        yield from self._taken(run)

    def _ending(self, run: Run) -> Iterator[Violation]:
        if run.status in ("Starting", "Running"):
            yield Violation("comes to an end", f"the execution stands still in {run.end} and nothing will wake it")
        elif run.status == "Failed" and not isinstance(self._types.get(run.end), FailState):
            text = f"no rule took {run.error} in {run.end}: the execution just failed"
            yield Violation("every error is taken", text, self._line(run.end))
        elif run.status not in ("Succeeded", "Failed"):
            yield Violation("ends where the flow says", f"the execution ended as {run.status} in {run.end}")

    def _line(self, state: str) -> str:
        found = self._types.get(state)
        return "" if found is None else f"{self._file}:{found.position.line}"

    def _last_rule(self, run: Run) -> str:
        """Return the line of the rule that took the run's last error, "" when none took any."""
        for event in reversed(run.history):
            if event["type"] == "StepFailed" and "next" in event["detail"]:
                rules = getattr(self._types.get(event["state"]), "catch", ())
                rule = next((rule for rule in rules if _takes(rule, event["detail"].get("error", ""))), None)
                return "" if rule is None else f"{self._file}:{rule.position.line}"
        return ""

    def _taken(self, run: Run) -> Iterator[Violation]:
        """A rule for all errors, placed before the rule that names one, takes it away from that."""
        for event in run.history:
            rules = getattr(self._types.get(event["state"]), "catch", ())
            error = event["detail"].get("error", "")
            if event["type"] != "StepFailed" or "next" not in event["detail"]:
                continue
            first = next((place for place, rule in enumerate(rules) if _takes(rule, error)), len(rules))
            later = [rule for rule in rules[first + 1 :] if error in rule.errors]
            if later and error not in rules[first].errors:
                text = (
                    f"{error} of {event['state']} went to {rules[first].next}, not to {later[0].next}, which names it"
                )
                yield Violation("the rule that names an error takes it", text, f"{self._file}:{later[0].position.line}")

    def _reverse_order(self, effects: tuple[Effect, ...]) -> Iterator[Violation]:
        stack: list[Effect] = []
        for effect in effects:
            if not effect.undoes:
                stack.append(effect)
                continue
            undone = next((one for one in reversed(stack) if _undoes(effect, one)), None)
            if undone is None:
                continue
            after = [one for one in stack[stack.index(undone) + 1 :] if one.reversible and _was_undone(one, effects)]
            later = [one for one in after if not self._at_once(undone, one)]
            if later:
                text = f"{undone.text} was undone before {later[-1].text}, which came after it"
                yield Violation("undone in reverse order", text, effect.line, effect.stack)
            stack.remove(undone)

    def _at_once(self, one: Effect, other: Effect) -> bool:
        """Say whether two effects belong to branches that run side by side: their order means nothing then."""
        common = 0
        for mine, theirs in zip(one.path, other.path, strict=False):
            if mine != theirs:
                break
            common += 1
        around = one.path[:common][-1:] if one.path != other.path else one.path[-2:-1]
        return any(isinstance(self._types.get(name), ParallelState | MapState) for name in around)

    def owed(self, run: Run, baseline: Baseline) -> str:
        """Return what the run's end owes: everything done, everything undone, or nothing that anybody could say."""
        if run.end in self._ends:
            return self._ends[run.end]
        if run.end == baseline.end:
            return DONE
        state = self._types.get(run.end)
        return UNDONE if isinstance(state, SucceedState) else OPEN

    def _owed(self, run: Run, baseline: Baseline) -> Iterator[Violation]:
        owed = self.owed(run, baseline)
        left = standing(run.effects)
        if owed == UNDONE:
            for effect in left:
                if effect.reversible:
                    yield Violation(
                        "nothing is left standing", f"{effect.text} was never undone", effect.line, effect.stack
                    )
        if owed != DONE or run.status != "Succeeded":
            return
        counts = Counter(effect_key(effect) for effect in left)
        for key, wanted in baseline.standing.items():
            if counts[key] < wanted:
                text = f"{' '.join(key).rstrip()} did not happen, and the flow ended well"
                yield Violation("exactly once", text, self._last_rule(run))
        for effect in left:
            if effect_key(effect) not in baseline.standing:
                yield Violation("exactly once", f"{effect.text} happened only here", effect.line, effect.stack)


def _takes(rule: CatchRule, error: str) -> bool:
    return error in rule.errors or ALL in rule.errors


def _written_once(run: Run, baseline: Baseline) -> Iterator[Violation]:
    """An object is not overwritten with other bytes, unless the run without faults does so too."""
    count: Counter[str] = Counter()
    for one in run.overwrites:
        count[one.key] += 1
        if count[one.key] == baseline.overwrites.get(one.key, 0) + 1:
            yield Violation(
                "written once", f"the object {one.key} was overwritten with other bytes", one.line, one.stack
            )


def _at_most_once(effects: tuple[Effect, ...]) -> Iterator[Violation]:
    seen: Counter[tuple[str, str]] = Counter()
    for effect in effects:
        if effect.undoes:
            continue
        seen[effect_key(effect)] += 1
        if seen[effect_key(effect)] == 2:
            yield Violation("at most once", f"{effect.text} happened twice", effect.line, effect.stack)


def _undone_once(effects: tuple[Effect, ...]) -> Iterator[Violation]:
    done: Counter[tuple[str, str]] = Counter()
    for effect in effects:
        if not effect.undoes:
            done[effect_key(effect)] += 1
            continue
        done[effect.undoes, effect.subject] -= 1
        if done[effect.undoes, effect.subject] < 0:
            what = f"{effect.undoes} {effect.subject}".rstrip()
            yield Violation("undone once", f"{effect.text} undid {what} once too often", effect.line, effect.stack)


def _was_undone(effect: Effect, effects: tuple[Effect, ...]) -> bool:
    return any(_undoes(other, effect) for other in effects)


def _decided_once(history: Iterable[Mapping[str, Any]]) -> Iterator[Violation]:
    ends: Counter[int] = Counter()
    for event in history:
        if event["type"] in ("TaskSucceeded", "TaskFailed", "TaskTimedOut"):
            ends[event["schedule"]] += 1
            if ends[event["schedule"]] == 2:
                yield Violation("decided at most once", f"a task of {event['state']} ended twice")
