"""`@step`: a plain function becomes an FC handler whose effect happens exactly once.

The path of one step (docs/architecture.md): parse the event, check the pinned versions, claim the step in the ledger,
run the body with the step's idempotency key, store the result with the completion, answer with text. What goes wrong
becomes a typed error, whose class name the flow's Retry and Catch match.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from functions import log
from functions.errors import InvalidInput, SystemFault
from functions.events import answer_text, parse_event
from functions.faults import typed
from functions.models import Event, PinnedEvent, SimpleEvent, TaskEvent
from functions.payloads import object_key
from functions.settings import Settings, current
from ledger import Compensation, EffectKind, Ledger, Probe, StepContext, StepRequest, StepResult, Versions

__all__ = ["Call", "Handler", "lap", "reading", "required", "step", "step_key"]

E = TypeVar("E", bound=Event)
V = TypeVar("V")
Handler = Callable[[object, object], str]
Result = dict[str, Any]


@dataclass(frozen=True)
class Call(Generic[E]):
    """What a body is given: the checked event, the settings, and the ledger's view of this step.

    `context` has the idempotency key (the same for every attempt of the step); it is None in a `reading` handler.
    """

    event: E
    settings: Settings
    context: StepContext | None = None

    @property
    def key(self) -> str:
        """The step's idempotency key. Raises `SystemFault` in a handler that only reads."""
        if self.context is None:
            raise SystemFault("a handler that only reads has no idempotency key")
        return self.context.idempotency_key

    def complete(self, compensation: Compensation) -> None:
        """Complete the recorded compensation with what the effect returned: one more conditional write.

        Raises `SystemFault` in a handler that only reads, and what `StepContext.compensation` raises.
        """
        if self.context is None:
            raise SystemFault("a handler that only reads has no compensation")
        self.context.compensation(compensation)


Body = Callable[[Call[E]], Result]


def lap(name: str, attempt: int) -> str:
    """The ledger's name of a step: `GenerateDraft`, and `GenerateDraft@2` on the second lap."""
    return name if attempt == 1 else f"{name}@{attempt}"


def step(
    model: type[E],
    *,
    kind: EffectKind | Callable[[Settings], EffectKind] = EffectKind.LOCAL,
    compensation: Callable[[Call[E]], Compensation | None] | None = None,
    probe: Callable[[Call[E]], Probe] | None = None,
    before: Callable[[Call[E]], None] | None = None,
    task_of: Callable[[Call[E]], tuple[str, str]] | None = None,
    compared: Callable[[Call[E]], Any] | None = None,
) -> Callable[[Body[E]], Handler]:
    """Make a handler of a body that takes a `Call` and returns a dict.

    `kind` says how the effect is made exactly-once, `compensation` what undoes it, `probe` asks the other side
    whether it took place. `before` runs at every call, replays too, and has to be repeatable. `task_of` and
    `compared` give the (task id, workflow version) and the fingerprinted input of events that are neither a
    `PinnedEvent` nor a `SimpleEvent`.

    The body's `task` entry holds the fields of the task it changed; the answer has the whole task.
    """

    def decorate(body: Body[E]) -> Handler:
        @functools.wraps(body)
        def handler(event: object, context: object) -> str:
            with _Typed():
                call = Call(parse_event(event, model), current())
                if before is not None:
                    before(call)
                request = _request(call, kind, compensation, task_of, compared)
                result = _run(call, request, body, probe)
                return answer_text(_answer(call.event, result), call.settings)

        return handler

    return decorate


def reading(model: type[E]) -> Callable[[Body[E]], Handler]:
    """Make a handler of a body that changes nothing or whose changes are ledger steps of their own.

    It is not recorded: asking again looks again.
    """

    def decorate(body: Body[E]) -> Handler:
        @functools.wraps(body)
        def handler(event: object, context: object) -> str:
            with _Typed():
                call = Call(parse_event(event, model), current())
                return answer_text(_answer(call.event, body(call)), call.settings)

        return handler

    return decorate


class _Typed:
    """Turns whatever leaves the block into a typed error, with the cause chained."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            named = typed(error)
            if named is not error:
                raise named from error


def _request(
    call: Call[E],
    kind: EffectKind | Callable[[Settings], EffectKind],
    compensation: Callable[[Call[E]], Compensation | None] | None,
    task_of: Callable[[Call[E]], tuple[str, str]] | None,
    compared: Callable[[Call[E]], Any] | None,
) -> StepRequest:
    event = call.event
    task_id, workflow = task_of(call) if task_of else _identity(event)
    return StepRequest(
        task_id=task_id,
        workflow_version=workflow,
        step=lap(event.step, event.attempt),
        input=compared(call) if compared else _compared(event),
        kind=kind if isinstance(kind, EffectKind) else kind(call.settings),
        compensation=compensation(call) if compensation else None,
        versions=_versions(event, call.settings),
    )


def _compared(event: Event) -> Any:
    return event.compared() if isinstance(event, PinnedEvent | SimpleEvent) else None


def _identity(event: Event) -> tuple[str, str]:
    if isinstance(event, SimpleEvent):
        return event.task_id, event.workflow
    if not isinstance(event, PinnedEvent):
        raise SystemFault(f"{type(event).__name__} does not say which task it belongs to")
    return event.task.task_id, event.task.versions.workflow


def _versions(event: Event, settings: Settings) -> Versions | None:
    """The versions at hand: the flow's own and the input's travel in the task, the others are this deployment's."""
    if not isinstance(event, PinnedEvent):
        return None
    pins = event.task.versions
    return Versions(pins.workflow, settings.function_version, settings.prompt_version, pins.input)


def _run(call: Call[E], request: StepRequest, body: Body[E], probe: Callable[[Call[E]], Probe] | None) -> Result:
    attempts: list[StepContext] = []

    def with_context(context: StepContext) -> Call[E]:
        return Call(call.event, call.settings, context)

    def effect(context: StepContext) -> Any:
        attempts.append(context)
        _log(request, context, "failed" if context.attempt > 1 else "", "claimed")
        with _Typed():  # inside too, so that what the ledger records is redacted
            return body(with_context(context))

    def ask(context: StepContext) -> Probe:
        return probe(with_context(context)) if probe else Probe.cannot_tell("no probe")

    try:
        result = Ledger.open().run(request, effect, probe=ask if probe else None)
    except Exception as error:
        if attempts:
            name = type(typed(error)).__name__
            _log(request, attempts[-1], "claimed", "uncertain" if name == "UncertainOutcome" else "failed", name)
        raise
    if not result.replayed and attempts:
        _log(request, attempts[-1], "claimed", "done")
    return _stored(result)


def _stored(result: StepResult) -> Result:
    if not isinstance(result.value, dict):
        raise SystemFault(f"the ledger holds {type(result.value).__name__} as a result, an object is wanted")
    return dict(result.value)


def _answer(event: Event, result: Result) -> Result:
    if not isinstance(event, PinnedEvent):
        return result
    changed = {**event.task.model_dump(), **result.get("task", {})}
    try:
        whole = type(event.task).model_validate(changed)
    except ValueError as error:
        raise SystemFault(f"the step's result does not fit the task: {error}") from error
    return {**result, "task": whole.model_dump(mode="json")}


def _log(request: StepRequest, context: StepContext, before: str, after: str, error_type: str = "") -> None:
    log.write(
        log.Change(
            request.task_id,
            request.workflow_version,
            request.step,
            before,
            after,
            context.attempt,
            error_type,
            context.idempotency_key,
        )
    )


def step_key(kind: str, event: TaskEvent, suffix: str) -> str:
    """The key of an object that belongs to one step and lap alone, known before the step runs."""
    return object_key(
        kind, event.task.task_id, f"{event.task.versions.workflow}/{lap(event.step, event.attempt)}{suffix}"
    )


def required(value: V | None, path: str) -> V:
    """`value`, or `InvalidInput` saying that the flow did not hand over `path`."""
    if value is None:
        raise InvalidInput(f"{path} is missing: an earlier state should have made it", path=path, reason="missing")
    return value
