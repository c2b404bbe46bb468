"""What an exploration found: the runs, the matrix of states and faults, coverage, and what is broken."""

from __future__ import annotations

import json
import shlex
import signal
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .model import Plan, Verdict

_ORDER = (Verdict.BROKEN, Verdict.TO_A_PERSON, Verdict.COMPENSATED, Verdict.RECOVERED)
_FORMAT = 1


@dataclass(frozen=True)
class Coverage:
    """How many of the boundaries x faults that were met were tried. Pairs are counted where their first fault ran."""

    tried: int
    known: int

    @property
    def whole(self) -> bool:
        """True when every one that exists was tried."""
        return self.tried == self.known

    @property
    def text(self) -> str:
        """Coverage in a few words."""
        share = 100 if self.whole else min(99, self.tried * 100 // max(self.known, 1))
        return f"{self.tried} of {self.known} ({share} %)"


@dataclass(frozen=True)
class Report:
    """One exploration. `base` is the run without faults, `runs` all others in order of their boundaries."""

    plan: Plan
    base: Mapping[str, Any]
    runs: tuple[Mapping[str, Any], ...]
    coverage: Coverage
    input_given: str = ""

    @property
    def broken(self) -> list[Mapping[str, Any]]:
        """The runs that broke a rule, the shortest schedule first; the run without faults counts."""
        found = [run for run in (self.base, *self.runs) if run["verdict"] == Verdict.BROKEN.value]
        return sorted(found, key=lambda run: len(run["schedule"]))

    @property
    def causes(self) -> list[tuple[Mapping[str, Any], int]]:
        """One run for each way of being broken (the same rules at the same line), with how many runs share it."""
        first: dict[str, Mapping[str, Any]] = {}
        count: Counter[str] = Counter()
        for run in self.broken:
            mark = json.dumps(sorted({(one["rule"], one["line"]) for one in run["violations"]}))
            first.setdefault(mark, run)
            count[mark] += 1
        return [(run, count[mark]) for mark, run in first.items()]

    @property
    def verdicts(self) -> Counter[str]:
        """How many runs ended how."""
        return Counter(run["verdict"] for run in self.runs)

    @property
    def irreversible(self) -> Counter[str]:
        """The effects that nothing takes back, with the number of runs that had them."""
        return Counter(text for run in self.runs for text in run["irreversible"])

    def matrix(self) -> dict[str, dict[str, Counter[str]]]:
        """Return state -> fault -> verdict -> runs, for each run's last fault; states in the order they are met."""
        cells: dict[str, dict[str, Counter[str]]] = {}
        for run in self.runs:
            state, fault = run["states"][-1], run["schedule"][-1]["fault"]
            cells.setdefault(state, {}).setdefault(fault, Counter())[run["verdict"]] += 1
        return cells

    def command(self, run_id: str = "") -> str:
        """Return the command that explores again, or replays one run."""
        plan = self.plan
        words = ["local-sim", "explore", plan.flow, "--input", self.input_given or json.dumps(plan.input)]
        words += ["--seed", plan.seed] if plan.seed != "0" else []
        for answer in plan.answers:
            value = answer.value if isinstance(answer.value, str) else json.dumps(answer.value, ensure_ascii=False)
            words += ["--decide", f"{answer.state}={value}"]
        if run_id:
            words += ["--replay", run_id]
        return shlex.join(words)

    def as_json(self) -> str:
        """Return everything as JSON. The same plan and seed give the same text, whatever the machine was doing."""
        plan = self.plan
        document = {
            "format": _FORMAT,
            "flow": plan.flow,
            "seed": plan.seed,
            "depth": plan.depth,
            "faults": list(plan.faults),
            "input": plan.input,
            "coverage": {"tried": self.coverage.tried, "known": self.coverage.known},
            "verdicts": {verdict.value: self.verdicts[verdict.value] for verdict in Verdict},
            "matrix": {
                state: {fault: dict(sorted(cell.items())) for fault, cell in row.items()}
                for state, row in self.matrix().items()
            },
            "base": self.base,
            "broken": [{**run, "replay": self.command(run["id"])} for run in self.broken],
            "runs": [{key: run[key] for key in _SHORT if key in run} for run in self.runs],
        }
        return json.dumps(document, ensure_ascii=False, indent=1)


_SHORT = ("id", "verdict", "end", "error", "asked", "at", "schedule", "irreversible", "violations")


def worst(cell: Mapping[str, int]) -> Verdict:
    """Return the worst verdict of a cell of the matrix."""
    return next(verdict for verdict in _ORDER if cell.get(verdict.value))


def gather(plan: Plan, told: Iterable[Mapping[str, Any]], input_given: str = "") -> Report:
    """Put together what the processes told: each tells its own share of the runs, and the run without faults."""
    bases: list[Mapping[str, Any]] = []
    runs: list[Mapping[str, Any]] = []
    for item in told:
        run = _died(item) if "died" in item else item
        (runs if run["schedule"] else bases).append(run)
    tried = sum(base["tried"] for base in bases) + sum(run["tried"] for run in runs)
    known = max((base["known"] for base in bases), default=0) + sum(run["known"] for run in runs)
    ordered = sorted(runs, key=lambda run: [(one["boundary"], one["fault"]) for one in run["schedule"]])
    return Report(
        plan,
        _silent(bases[0]) if bases else _silent(runs[0]),
        tuple(_silent(run) for run in ordered),
        Coverage(tried, known),
        input_given,
    )


def _silent(run: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in run.items() if key not in ("known", "tried")}


def _died(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run whose process ended without a word: it hung until it was ended, or took the interpreter with it."""
    schedule = item["schedule"]
    hung = item["died"] in (-signal.SIGALRM, -signal.SIGPROF)
    text = "the run was ended because it hung" if hung else f"its process ended ({item['died']})"
    return {
        "id": "+".join(f"{one['boundary']}.{one['fault']}" for one in schedule),
        "verdict": Verdict.BROKEN.value,
        "status": "Running",
        "end": "",
        "error": "",
        "asked": [],
        "path": [],
        "schedule": [{"boundary": one["boundary"], "fault": one["fault"]} for one in schedule],
        "states": [one["state"] for one in schedule],
        "at": [one["text"] for one in schedule],
        "irreversible": [],
        "violations": [{"rule": "comes to an end", "text": text, "line": schedule[-1]["line"], "stack": []}],
        "known": 0,
        "tried": 0,
    }
