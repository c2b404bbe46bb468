"""Lists the expressions of a state with where each stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from local_sim.expression import Expression, Template

from .model import ChoiceState, DistributedConfig, FailState, MapState, ParallelState, State, TaskState, WaitState
from .scopes import StateInfo


@dataclass(frozen=True, slots=True)
class Use:
    """One expression: the `field` it belongs to, the constructor's `key` (empty outside constructors)."""

    expression: Expression
    field: str
    key: str = ""

    @property
    def where(self) -> str:
        """Field and key, for a message."""
        return f"{self.field}, key {self.key}" if self.key else self.field


def expressions_of(info: StateInfo) -> Iterator[Use]:
    """Yield every expression of a state, Conditions and Catch rules included; nothing for a state with errors."""
    state = info.state
    if state is None:
        return
    for field, template in _templates(state):
        if template is not None:
            for path, expression in template.expressions:
                yield Use(expression, field, ".".join(map(str, path)))
    for field, value in _scalars(state):
        if isinstance(value, Expression):
            yield Use(value, field)
    if isinstance(state, ChoiceState):
        for branch in state.branches:
            yield Use(branch.condition, "Condition")


def _templates(state: State) -> Iterator[tuple[str, Template | None]]:
    yield "InputConstructor", state.input_constructor
    yield "OutputConstructor", state.output_constructor
    yield "GlobalConstructor", state.global_constructor
    if isinstance(state, TaskState):
        yield "Parameters", state.parameters
    if isinstance(state, TaskState | ParallelState | MapState):
        for rule in state.catch:
            yield "Catch", rule.output_constructor
    if isinstance(state, MapState):
        yield "ItemConstructor", state.item_constructor
        yield from _distributed_templates(state.distributed)


def _distributed_templates(config: DistributedConfig | None) -> Iterator[tuple[str, Template | None]]:
    if config is not None:
        yield "ItemReader", config.item_reader
        yield "ItemBatcher", config.item_batcher
        yield "ResultWriter", config.result_writer


def _scalars(state: State) -> Iterator[tuple[str, object]]:
    if isinstance(state, TaskState):
        yield "Timeout.$", state.timeout
    elif isinstance(state, WaitState):
        yield "Seconds.$", state.seconds
    elif isinstance(state, FailState):
        yield "Code.$", state.code
        yield "Detail.$", state.detail
    elif isinstance(state, MapState):
        yield "ItemsPath", state.items_path
        yield "MaxConcuccency.$", state.max_concurrency
        if state.distributed is not None:
            yield "MaxItems.$", state.distributed.max_items
            yield "ToleratedFailurePercentage.$", state.distributed.tolerated_failed_percentage
            yield "ToleratedFailureCount.$", state.distributed.tolerated_failed_count
