"""A step and its undoing told to the end through any number of crashes, and what must then be true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ledger_kit import WV, Crash, Outside, TurnableClock, ledger_over

from ledger import (
    ClaimLost,
    Compensation,
    CompensationContext,
    CompensationFailed,
    Direction,
    EffectKind,
    Ledger,
    LedgerUnavailable,
    OutcomeUncertain,
    Probe,
    StepBusy,
    StepContext,
    StepRequest,
    Versions,
)

PINS = Versions("1", "2", "3", "4")
MOST_TRIES = 60


class Refused(Exception):
    """The other side said no; nothing happened."""

    effect_applied = False


class Broken(Exception):
    """The other side did it, and its answer was lost."""


@dataclass
class Story:
    """One task: begin, one step of `kind`, its compensation of `undo_kind`. `wires` gives each process its wire."""

    task: str
    kind: EffectKind
    undo_kind: EffectKind
    clock: TurnableClock
    wires: Callable[[int], Any]
    skews: Callable[[int], int] = lambda number: 0
    completes_compensation: bool = False
    begins: bool = False
    outside: Outside = field(default_factory=Outside)
    people: int = 0
    processes: int = 0
    last_wire: Any = None
    # For each call of the other side: None, "refuse" (nothing happens) or "break" (it happens, the answer is lost).
    mishaps: Callable[[], str | None] = lambda: None
    unwinding: bool = False

    def tell(self) -> Ledger:
        """Run to the end, each crash followed by a fresh process after the lease; returns the last one's ledger."""
        for number in range(MOST_TRIES):
            ledger = self._process(number)
            try:
                self._once(ledger)
            except Crash:
                self.clock.sleep(3_700)  # past the lease and the greatest skew
            except OutcomeUncertain as error:
                self._person(error, Direction.FORWARD)
            except (Refused, Broken):
                self.clock.sleep(1)
            except CompensationFailed as error:
                if isinstance(error.error, (Refused, Broken)):
                    continue
                if not isinstance(error.error, OutcomeUncertain):
                    raise
                uncertain = error.error
                undoing = uncertain.key == _key(self.task, Direction.COMPENSATE)
                self._person(uncertain, Direction.COMPENSATE if undoing else Direction.FORWARD)
            except (StepBusy, LedgerUnavailable, ClaimLost):
                self.clock.sleep(5)
            else:
                return ledger
        raise AssertionError(f"not done after {MOST_TRIES} processes")

    def check(self, ledger: Ledger) -> None:
        """Each effect took place exactly once, and the record says so."""
        assert self.outside.effects == ["do", "undo"], self.outside.effects
        if EffectKind.UNDECLARED not in (self.kind, self.undo_kind):
            assert self.people == 0
        rows = {row.direction: row for row in ledger.rows(self.task)}
        assert rows[Direction.FORWARD].state == "compensated"
        assert rows[Direction.COMPENSATE].state == "done"
        assert ledger.stored_result(self.task, WV, "A") == {"n": 1}
        changes = [change.to_status for change in ledger.transitions(self.task)]
        assert changes.count("done") == 1
        assert changes.count("compensated") == 1

    def _process(self, number: int) -> Ledger:
        self.processes += 1
        self.last_wire = self.wires(number)
        clock = self.clock.skewed(self.skews(number))
        ledger = ledger_over(self.last_wire, clock, seed=number)
        ledger._checked = True
        return ledger

    def _once(self, ledger: Ledger) -> None:
        if self.begins:
            ledger.begin(self.task, PINS)
        if not self.unwinding:
            request = StepRequest(
                self.task, WV, "A", {"x": 1}, kind=self.kind, compensation=Compensation("undo", 1, kind=self.undo_kind)
            )
            assert ledger.run(request, self._do, probe=self._probe).value == {"n": 1}
        # The flow itself remembers that it is unwinding; it never runs a step again then.
        self.unwinding = True
        saga = ledger.saga(self.task, WV)
        saga.compensate({"undo": self._undo}, probes={"undo": self._probe_undo})

    def _do(self, context: StepContext) -> Any:
        if self.completes_compensation:
            context.compensation(Compensation("undo", 2, kind=self.undo_kind))
        return self._call("do", context.idempotency_key if self.kind.keyed else None, {"n": 1})

    def _undo(self, context: CompensationContext) -> Any:
        assert context.arguments == (2 if self.completes_compensation else 1)
        return self._call("undo", context.idempotency_key if self.undo_kind.keyed else None, "undone")

    def _call(self, name: str, key: str | None, result: Any) -> Any:
        mishap = self.mishaps()
        if mishap == "refuse":
            raise Refused
        answer = self.outside.apply(name, key, result)
        if mishap == "break":
            raise Broken
        return answer

    def _probe(self, context: StepContext) -> Probe:
        return Probe.applied({"n": 1}) if "do" in self.outside.effects else Probe.not_applied()

    def _probe_undo(self, context: CompensationContext) -> Probe:
        return Probe.applied("undone") if "undo" in self.outside.effects else Probe.not_applied()

    def _person(self, error: OutcomeUncertain, direction: Direction) -> None:
        """A person looks at the other side and says what is there."""
        self.people += 1
        name, result = ("do", {"n": 1}) if direction is Direction.FORWARD else ("undo", "undone")
        ledger = ledger_over(self.wires(-1), self.clock, seed=99)
        applied = name in self.outside.effects
        ledger.resolve(
            self.task, WV, "A", applied=applied, result=result, by="li", reason="looked", direction=direction
        )


def _key(task: str, direction: Direction) -> str:
    from ledger.keys import step_key

    return step_key(task, WV, "A").side_effect_id(direction)
