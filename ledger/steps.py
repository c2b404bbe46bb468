"""Running one step (or one compensation) exactly once: claim, effect, outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ledger import writes
from ledger.canonical_json import JsonValue, fingerprint
from ledger.claims import Claims, Granted
from ledger.context import StepContext
from ledger.errors import ClaimLost, LedgerError, LedgerUnavailable, OutcomeUncertain, ProbeMissing, TooLarge
from ledger.keys import step_key
from ledger.lease import HeldClaim, LeaseKeeper
from ledger.model import EffectKind, Probe, ProbeVerdict, StepRequest, StepResult
from ledger.protocol import Replay
from ledger.records import FORWARD, Cell, encode_compensation
from ledger.results import Results
from ledger.writes import Intent

Context = TypeVar("Context", bound=StepContext)
# A compensation rides in the claim's own row, so it has to stay small (an attribute value holds 2 MiB).
_COMPENSATION_LIMIT_BYTES = 65_536


class StepRunner:
    """Runs effects under claims. `claims`, `results` and `keeper` are its only ways out."""

    def __init__(self, claims: Claims, results: Results, keeper: LeaseKeeper, lease_seconds: float) -> None:
        self._claims, self._results, self._keeper = claims, results, keeper
        self._lease_seconds = lease_seconds

    def run(
        self,
        request: StepRequest,
        effect: Callable[[StepContext], JsonValue],
        probe: Callable[[StepContext], Probe] | None,
    ) -> StepResult:
        """Run a step's effect unless its result is recorded; see `Ledger.run`."""
        intent = self.intent(request, has_probe=probe is not None)
        record = self._claims.read(intent) if request.read_first else None
        acquired = self._claims.acquire(intent, record)
        if isinstance(acquired, Replay):
            half = acquired.record.forward
            return StepResult(self._results.decode(half), True, half.attempt, acquired.record.epoch)
        if not isinstance(acquired, Granted):
            raise LedgerError(f"step {request.step!r} was answered with {acquired!r}")
        return self.execute(acquired, StepContext(acquired.claim), effect, probe)

    def execute(
        self,
        granted: Granted,
        context: Context,
        effect: Callable[[Context], JsonValue],
        probe: Callable[[Context], Probe] | None,
    ) -> StepResult:
        """Probe if need be, run the effect and record its outcome under the claim."""
        claim = granted.claim
        with self._keeper.keeping(claim):
            answered = self._ask(granted, context, probe)
            if answered is not None:
                return answered
            value, columns = self._apply(claim, context, effect)
            claim.finish(lambda moment: writes.complete(claim.grant, columns, moment))
        return StepResult(value, False, claim.grant.attempt, claim.grant.epoch)

    def intent(self, request: StepRequest, *, has_probe: bool) -> Intent:
        """Check a request at the door and turn it into an intent. Raises `InvalidKey`, `NotJson`, `ProbeMissing`."""
        key = step_key(request.task_id, request.workflow_version, request.step)
        if request.kind is EffectKind.PROBED and not has_probe:
            raise ProbeMissing(request.step)
        if request.compensation is not None:
            check_compensation_size(len(encode_compensation(request.compensation).encode()))
        return Intent(
            key=key,
            lane=FORWARD,
            kind=request.kind,
            lease_ms=self.lease_ms(request.lease_seconds),
            fingerprint=fingerprint(request.input, request.ignore, request.json_text),
            compensation=request.compensation,
        )

    def lease_ms(self, seconds: float | None) -> int:
        """Return a lease in ms. Zero is a lease that has run out, never "no lease" (compare with None, not truth)."""
        return int((self._lease_seconds if seconds is None else seconds) * 1000)

    def _apply(
        self, claim: HeldClaim, context: Context, effect: Callable[[Context], JsonValue]
    ) -> tuple[JsonValue, dict[str, Cell]]:
        started = False
        try:
            claim.freshen()
            started = True
            value = effect(context)
            return value, self._results.encode(claim.grant.key.task_id, value)
        except Exception as error:
            self._record_failure(claim, error, started=started)
            raise

    def _ask(self, granted: Granted, context: Context, probe: Callable[[Context], Probe] | None) -> StepResult | None:
        """Settle an earlier attempt by the probe's answer; None when the effect has to run now."""
        claim = granted.claim
        if not granted.probe_first or probe is None:
            return None
        try:
            claim.freshen()
            answer = probe(context)
            columns = self._results.encode(claim.grant.key.task_id, answer.result)
        except Exception as error:
            self._record_failure(claim, error, started=False)
            raise
        if answer.verdict is ProbeVerdict.NOT_APPLIED:
            claim.grant = replace(claim.grant, doubt=False)
            return None
        if answer.verdict is ProbeVerdict.CANNOT_TELL:
            raise self._unknown(claim, answer.reason)
        claim.finish(lambda moment: writes.complete(claim.grant, columns, moment))
        return StepResult(answer.result, True, claim.grant.attempt, claim.grant.epoch)

    def _unknown(self, claim: HeldClaim, reason: str) -> OutcomeUncertain:
        grant = claim.grant
        error = OutcomeUncertain(grant.key.step, grant.side_effect_id, reason)
        claim.finish(lambda moment: writes.give_up(grant, error, moment, to=grant.lane.uncertain, doubt=True))
        return error

    def _record_failure(self, claim: HeldClaim, error: Exception, *, started: bool) -> None:
        """Record what an exception means. Raises `ClaimLost` for a late worker, `OutcomeUncertain` when undeclared."""
        grant = claim.grant
        certain = not started or getattr(error, "effect_applied", None) is False
        to = grant.lane.failed if certain or grant.kind.keyed else grant.lane.uncertain
        doubt = grant.doubt or not certain
        try:
            claim.finish(lambda moment: writes.give_up(grant, error, moment, to=to, doubt=doubt))
        except ClaimLost as lost:
            raise lost from error
        except LedgerUnavailable:
            # The row stays claimed; once the lease is over it counts as an attempt with an unknown outcome.
            pass
        if not certain and grant.kind is EffectKind.UNDECLARED:
            reason = f"the effect raised {type(error).__name__}: {error}"
            raise OutcomeUncertain(grant.key.step, grant.side_effect_id, reason) from error


def check_compensation_size(size: int) -> None:
    """Raise `TooLarge` when a compensation's text has more than 64 KiB."""
    if size > _COMPENSATION_LIMIT_BYTES:
        raise TooLarge("the compensation", size, _COMPENSATION_LIMIT_BYTES)
