"""What an effect, a probe and a compensation are handed."""

from __future__ import annotations

from ledger.canonical_json import JsonValue
from ledger.lease import HeldClaim
from ledger.model import Compensation
from ledger.records import StepRecord
from ledger.results import Results


class StepContext:
    """The claim a running effect or probe works under."""

    def __init__(self, claim: HeldClaim) -> None:
        self._claim = claim
        grant = claim.grant
        self.task_id = grant.key.task_id
        self.workflow_version = grant.key.workflow_version
        self.step = grant.key.step
        self.attempt = grant.attempt
        self.epoch = grant.epoch
        self.idempotency_key = grant.side_effect_id

    @property
    def remaining_seconds(self) -> float:
        """Seconds left of the lease: the longest an outside call may last that must not outlive the claim."""
        return self._claim.remaining_seconds

    def check(self) -> None:
        """Raise `ClaimLost` when the claim is lost or its lease has run out. Call it right before an outside call."""
        self._claim.check()

    def compensation(self, compensation: Compensation) -> None:
        """Replace or complete the recorded compensation, before the outside call: one conditional write.

        Raises `ClaimLost`, `LedgerUnavailable`, `NotJson`.
        """
        self._claim.recompensate(compensation)


class CompensationContext(StepContext):
    """The claim a running compensation works under.

    `name` and `arguments` are the recorded ones, `forward_key` the idempotency key the step used. `outcome` is "done",
    or "unknown" when the step ended without a result but may have taken effect: the action must then cope with there
    being nothing to undo.
    """

    def __init__(self, claim: HeldClaim, record: StepRecord, compensation: Compensation, results: Results) -> None:
        super().__init__(claim)
        self.name = compensation.name
        self.arguments = compensation.arguments
        self.outcome = "done" if record.forward.completed else "unknown"
        self.forward_key = record.key.side_effect_id()
        self._forward, self._results = record.forward, results

    @property
    def result(self) -> JsonValue:
        """The step's own result; None when it left none. Raises `BlobError` when it lies in an object out of reach."""
        return self._results.decode(self._forward)
