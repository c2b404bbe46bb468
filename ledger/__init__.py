"""The exactly-once record of steps and compensations, kept in Tablestore.

`Ledger.open()` gives a ledger, `Ledger.run(StepRequest(...), effect)` runs a step exactly once, `Ledger.saga(...)`
unwinds. docs/ledger.md has the protocol. Names are loaded when first used, the Tablestore SDK when a store is opened.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.blobs import BlobInfo, BlobStore, OssBlobs
    from ledger.canonical_json import JsonValue, canonical, fingerprint
    from ledger.carrying import CarryPlan
    from ledger.clock import Clock, RealClock
    from ledger.context import CompensationContext, StepContext
    from ledger.core import Ledger
    from ledger.entries import Entries, Entry, Mark
    from ledger.errors import (
        BlobDamaged,
        BlobError,
        BlobUnavailable,
        CarryRefused,
        ClaimLost,
        CompensationFailed,
        FingerprintDiffers,
        InvalidArgument,
        InvalidKey,
        LedgerError,
        LedgerMisconfigured,
        LedgerRetryable,
        LedgerUnavailable,
        NoPermission,
        NotJson,
        NotUncertain,
        OutcomeUncertain,
        ProbeMissing,
        SagaError,
        StepBusy,
        StepClosed,
        StepConflict,
        StoreRefused,
        TableMissing,
        TooLarge,
        UnknownCompensation,
        UnknownSavepoint,
        VersionsDiffer,
        WrongSchemaVersion,
    )
    from ledger.figures import DEFAULT_LIMITS, Figures, StuckStep, TaskHistory, figures_of
    from ledger.model import (
        Compensation,
        Direction,
        EffectKind,
        Probe,
        ProbeVerdict,
        State,
        StepRequest,
        StepResult,
        StepRow,
        Transition,
        Versions,
    )
    from ledger.protocol import UndoStatus
    from ledger.records import BlobRef
    from ledger.saga import Saga, SagaReport, UndoneStep
    from ledger.settings import Credentials, CredentialsSource, LedgerSettings, environment_credentials
    from ledger.tables import SCHEMA_VERSION, provision
    from ledger.tasks import Migration, TaskEntry, TaskRecord

_HOMES = {
    "blobs": ("BlobInfo", "BlobStore", "OssBlobs"),
    "canonical_json": ("JsonValue", "canonical", "fingerprint"),
    "carrying": ("CarryPlan",),
    "clock": ("Clock", "RealClock"),
    "context": ("CompensationContext", "StepContext"),
    "core": ("Ledger",),
    "entries": ("Entries", "Entry", "Mark"),
    "errors": (
        "BlobDamaged",
        "BlobError",
        "BlobUnavailable",
        "CarryRefused",
        "ClaimLost",
        "CompensationFailed",
        "FingerprintDiffers",
        "InvalidArgument",
        "InvalidKey",
        "LedgerError",
        "LedgerMisconfigured",
        "LedgerRetryable",
        "LedgerUnavailable",
        "NoPermission",
        "NotJson",
        "NotUncertain",
        "OutcomeUncertain",
        "ProbeMissing",
        "SagaError",
        "StepBusy",
        "StepClosed",
        "StepConflict",
        "StoreRefused",
        "TableMissing",
        "TooLarge",
        "UnknownCompensation",
        "UnknownSavepoint",
        "VersionsDiffer",
        "WrongSchemaVersion",
    ),
    "figures": ("DEFAULT_LIMITS", "Figures", "StuckStep", "TaskHistory", "figures_of"),
    "model": (
        "Compensation",
        "Direction",
        "EffectKind",
        "Probe",
        "ProbeVerdict",
        "State",
        "StepRequest",
        "StepResult",
        "StepRow",
        "Transition",
        "Versions",
    ),
    "protocol": ("UndoStatus",),
    "tables": ("SCHEMA_VERSION", "provision"),
    "records": ("BlobRef",),
    "saga": ("Saga", "SagaReport", "UndoneStep"),
    "settings": ("Credentials", "CredentialsSource", "LedgerSettings", "environment_credentials"),
    "tasks": ("Migration", "TaskEntry", "TaskRecord"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ledger' has no attribute {name!r}")
    value = getattr(import_module(f"ledger.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


__all__ = [  # noqa: RUF022 (plain order, so that a test can check it)
    "BlobDamaged",
    "BlobError",
    "BlobInfo",
    "BlobRef",
    "BlobStore",
    "BlobUnavailable",
    "CarryPlan",
    "CarryRefused",
    "ClaimLost",
    "Clock",
    "Compensation",
    "CompensationContext",
    "CompensationFailed",
    "Credentials",
    "CredentialsSource",
    "DEFAULT_LIMITS",
    "Direction",
    "EffectKind",
    "Entries",
    "Entry",
    "Figures",
    "FingerprintDiffers",
    "InvalidArgument",
    "InvalidKey",
    "JsonValue",
    "Ledger",
    "LedgerError",
    "LedgerMisconfigured",
    "LedgerRetryable",
    "LedgerSettings",
    "LedgerUnavailable",
    "Mark",
    "Migration",
    "NoPermission",
    "NotJson",
    "NotUncertain",
    "OssBlobs",
    "OutcomeUncertain",
    "Probe",
    "ProbeMissing",
    "ProbeVerdict",
    "RealClock",
    "SCHEMA_VERSION",
    "Saga",
    "SagaError",
    "SagaReport",
    "State",
    "StepBusy",
    "StepClosed",
    "StepConflict",
    "StepContext",
    "StepRequest",
    "StepResult",
    "StepRow",
    "StoreRefused",
    "StuckStep",
    "TableMissing",
    "TaskEntry",
    "TaskHistory",
    "TaskRecord",
    "TooLarge",
    "Transition",
    "UndoStatus",
    "UndoneStep",
    "UnknownCompensation",
    "UnknownSavepoint",
    "Versions",
    "VersionsDiffer",
    "WrongSchemaVersion",
    "canonical",
    "environment_credentials",
    "figures_of",
    "fingerprint",
    "provision",
]
