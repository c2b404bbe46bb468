"""What travels through a flow: the control data of a task and the event of every handler.

Control data only: ids, references, versions, laps. Documents, texts and drafts stay in OSS (docs/architecture.md).
Every event has `step` (the state's name: one ledger row per step and lap) and `attempt` (the lap, from 1). Unknown
fields are refused, so that a typo in a flow is `InvalidInput` with the field's path and never a silent default.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

__all__ = [
    "Answer",
    "CheckEvent",
    "CompensateEvent",
    "CorrectionEvent",
    "DecisionEvent",
    "DocumentInput",
    "DraftEvent",
    "ErrorContext",
    "Event",
    "HandOverEvent",
    "Inline",
    "LooseEvent",
    "MaterialEvent",
    "NotifyEvent",
    "Payload",
    "PayloadRef",
    "PinnedEvent",
    "PinnedTask",
    "Pins",
    "Review",
    "ReviewEvent",
    "SaveEvent",
    "SimpleEvent",
    "Task",
    "TaskEvent",
    "TaskId",
    "TaskInput",
    "ValidateEvent",
    "Version",
]

MAX_ID_BYTES = 128
"""UTF-8 bytes of a task id: percent-encoded it still fits three times into an OSS key of 1023 bytes."""


def _usable_id(value: str) -> str:
    if len(value.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
        raise ValueError(f"longer than {MAX_ID_BYTES} bytes of UTF-8")
    if value != value.strip() or not value.isprintable():
        raise ValueError("blanks around it or characters that do not print")
    return value


TaskId = Annotated[str, StringConstraints(min_length=1), AfterValidator(_usable_id)]
Version = Annotated[str, StringConstraints(min_length=1, max_length=128)]
StepName = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^@/#\s][^@/#]*$")]
Lap = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Token = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
ReviewerName = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Model(BaseModel):
    """Base of all models: immutable, nothing unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PayloadRef(_Model):
    """Where a payload lies: `oss://bucket/key`, its size in bytes and its SHA-256. Checked whenever it is read."""

    uri: Annotated[str, StringConstraints(pattern=r"^oss://[a-z0-9][a-z0-9-]{1,61}[a-z0-9]/.+$", max_length=1100)]
    size: Annotated[int, Field(ge=0, strict=True)]
    sha256: Sha256

    @property
    def bucket(self) -> str:
        """Name of the bucket."""
        return self.uri[len("oss://") :].split("/", 1)[0]

    @property
    def key(self) -> str:
        """Key of the object, exactly as it was put: no quoting, no normalising (case C57)."""
        return self.uri[len("oss://") :].split("/", 1)[1]


class Inline(_Model):
    """A small text that travels in the event itself."""

    inline: str


Payload = PayloadRef | Inline
"""A text: small ones inline, the others by reference."""


class DocumentInput(_Model):
    """The document as the caller gives it: a reference (size and sum may be left out, they are looked up) or text."""

    uri: str | None = None
    size: Annotated[int, Field(ge=0, strict=True)] | None = None
    sha256: Sha256 | None = None
    inline: str | None = None
    name: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = None


class TaskInput(_Model):
    """What a flow is started with, and what a person sends as a corrected input."""

    task_id: TaskId
    document: DocumentInput
    title: Annotated[str, StringConstraints(max_length=200)] | None = None


class Pins(_Model):
    """The versions a task was started with; every later step compares them with its own."""

    workflow: Version
    function: Version
    prompt: Version
    input: Version


class PinnedTask(_Model):
    """What every flow's control data has: the task's id and its pinned versions."""

    task_id: TaskId
    versions: Pins


class Task(PinnedTask):
    """The control data that goes from state to state. Later steps fill in the references they made."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    title: Annotated[str, StringConstraints(max_length=200)] | None = None
    document: PayloadRef
    material: PayloadRef | None = None
    note: Payload | None = None
    draft: PayloadRef | None = None
    result: PayloadRef | None = None


class Review(_Model):
    """A reviewer's answer: the Output of the callback. All fields optional, so that `{}` means "not reviewed yet"."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    decision: str = ""
    note: Annotated[str, StringConstraints(max_length=20_000)] = ""
    by: Annotated[str, StringConstraints(max_length=200)] = ""


class ErrorContext(_Model):
    """What a Catch hands on: `$Context.Current.Error.Code` and `.Detail`."""

    code: str
    detail: str | dict[str, Any] | None = None


class Event(_Model):
    """What every handler's event has."""

    step: StepName
    attempt: Lap = 1


class ValidateEvent(Event):
    """Event of `validate_input`. `task` is whatever the caller sent: checked by the handler, so that paths start
    there.
    """

    workflow: Version
    task: TaskInput


class PinnedEvent(Event):
    """Event of a handler that works under a task's pins. `task` is the flow's own kind of control data."""

    task: PinnedTask

    def compared(self) -> Any:
        """What the ledger fingerprints: the business fields, never laps, times or tokens (cases C31, C32)."""
        return self.model_dump(mode="json", exclude={"step", "attempt", "task"})


class SimpleEvent(Event):
    """Base of the events of one's own flow: a task's id, the workflow's version, and whatever a subclass adds.

    Nothing has to be pinned first. All added fields are business fields: the same step with other values is
    `ResultConflict`.
    """

    task_id: TaskId
    workflow: Version

    def compared(self) -> Any:
        """What the ledger fingerprints: every field that the subclass added."""
        return self.model_dump(mode="json", exclude={"step", "attempt", "task_id", "workflow"})


class TaskEvent(PinnedEvent):
    """Event of every handler of a document flow after the first."""

    task: Task


class MaterialEvent(TaskEvent):
    """Event of `prepare_material`. `review` carries the reviewer's note on a second lap."""

    review: Review = Review()

    def compared(self) -> Any:
        """The document and the note."""
        return {"document": self.task.document.sha256, "note": self.review.note}


class DraftEvent(TaskEvent):
    """Event of `generate_draft`. A flow without PrepareMaterial hands the reviewer's note over in `review`."""

    review: Review = Review()

    def compared(self) -> Any:
        """What the draft is made of: material or document, note and title."""
        source = self.task.material or self.task.document
        note = self.task.note.model_dump() if self.task.note else self.review.note
        return {"source": source.sha256, "note": note, "title": self.task.title}


class ReviewEvent(TaskEvent):
    """Event of `request_review`; `token` is the callback token of this visit of the state.

    `flow` and `execution` name the run that waits, so that it can be asked what became of a report. `approvals` is how
    many different reviewers have to approve; `reviewers` are their names, when the flow knows them; `expires_in` is the
    state's own Timeout in seconds.
    """

    token: Token
    flow: Annotated[str, StringConstraints(max_length=128)] = ""
    execution: Annotated[str, StringConstraints(max_length=256)] = ""
    approvals: Annotated[int, Field(ge=1, le=9, strict=True)] = 1
    reviewers: Annotated[list[ReviewerName], Field(max_length=9)] = []
    expires_in: Annotated[int, Field(ge=60, le=31_536_000, strict=True)] = 604_800

    def compared(self) -> Any:
        """The draft that is to be reviewed."""
        return {"draft": self.task.draft.sha256 if self.task.draft else None}


class SaveEvent(TaskEvent):
    """Event of `save_result`."""

    review: Review

    def compared(self) -> Any:
        """The draft and the decision on it."""
        return {"draft": self.task.draft.sha256 if self.task.draft else None, "decision": self.review.decision}


class CheckEvent(TaskEvent):
    """Event of `check_existing_result`."""


class NotifyEvent(TaskEvent):
    """Event of `notify`."""

    def compared(self) -> Any:
        """The result that is announced."""
        return {"result": self.task.result.sha256 if self.task.result else None}


class LooseEvent(Event):
    """Event of the states that also have to work on an input that could not be read: `task` may be anything.

    `execution` names the flow's run; it stands in when the input has no usable task id.
    """

    workflow: Version
    execution: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    task: Any

    @property
    def task_id(self) -> str:
        """The task's id, or one made of the execution's name."""
        given = self.task.get("task_id") if isinstance(self.task, dict) else None
        try:
            return TypeAdapter(TaskId).validate_python(given, strict=True)
        except ValidationError:
            return f"execution {self.execution}"[:MAX_ID_BYTES]


class CompensateEvent(LooseEvent):
    """Event of `compensate`. `outcome` says why, in the flow's own word; it is handed back for a Choice."""

    outcome: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,64}$")]


class CorrectionEvent(LooseEvent):
    """Event of `request_correction`."""

    error: ErrorContext
    token: Token


class HandOverEvent(CorrectionEvent):
    """Event of `hand_over`. `failed_step` is the state that gave up, `failed_attempt` its lap."""

    failed_step: StepName
    failed_attempt: Lap


class Answer(_Model):
    """A person's answer to a hand-over: the Output of the callback.

    `applied` says whether the effect of an uncertain step happened; `result` is what that step would have returned;
    `accept_versions` pins the task to the versions deployed now.
    """

    decision: Literal["retry", "compensate", "abandon"]
    applied: bool | None = None
    result: dict[str, Any] | None = None
    accept_versions: bool = False
    by: Annotated[str, StringConstraints(max_length=200)] = ""
    reason: Annotated[str, StringConstraints(max_length=2000)] = ""


class DecisionEvent(LooseEvent):
    """Event of `record_decision`."""

    failed_step: StepName
    failed_attempt: Lap
    answer: Answer
