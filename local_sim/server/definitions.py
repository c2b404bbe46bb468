"""Definitions as the server needs them: checked when a flow is made, loaded once for all its executions."""

from __future__ import annotations

from collections import OrderedDict

from local_sim.definition import DefinitionError, Flow, load_flow
from local_sim.definition.model import MapState, ParallelState
from local_sim.services.cloudflow.errors import InvalidArgument
from local_sim.services.cloudflow.records import EXPRESS

_KEPT = 256
_SHOWN = 5


class Definitions:
    """Loads definitions and keeps the latest ones; executions of the same text share one `Flow`."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bool], Flow] = OrderedDict()

    def load(self, text: str, *, express: bool) -> Flow:
        """Return the flow in a text. Raises DefinitionError."""
        key = (text, express)
        flow = self._kept.pop(key, None) or load_flow(text, express=express)
        self._kept[key] = flow
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return flow

    def check(self, text: str, name: str, mode: str) -> None:
        """Raise InvalidArgument when a text is no definition, or one of another flow than `name`.

        The definition's own name has to be the flow's (cloudflow-api page, section 5.1).
        """
        try:
            flow = self.load(text, express=mode == EXPRESS)
        except DefinitionError as error:
            findings = "; ".join(str(finding) for finding in error.findings[:_SHOWN])
            raise InvalidArgument(f"Parameter 'Definition' is no valid definition: {findings}", "Definition") from error
        if flow.name and flow.name != name:
            text = f"Parameter 'Definition' names the flow '{flow.name}', the request '{name}'."
            raise InvalidArgument(text, "Definition")


def distributed_map(flow: Flow, path: tuple[str, ...]) -> MapState:
    """Return the distributed Map at `path`. Raises KeyError when there is none."""
    scope, state = flow.root, None
    steps = iter(path)
    for name in steps:
        state = scope.states[name]
        if isinstance(state, MapState):
            scope = state.processor
            if state.distributed is None:
                next(steps, None)  # Iteration3: every iteration has the same states
        elif isinstance(state, ParallelState):
            scope = state.branches[int(next(steps).removeprefix("Branch"))]
    if not isinstance(state, MapState) or state.distributed is None:
        raise KeyError("/".join(path))
    return state


def processor_at(flow: Flow, path: tuple[str, ...]) -> Flow:
    """Return the flow that children of the distributed Map at `path` run. Raises KeyError for another path."""
    return Flow(name=flow.name, root=distributed_map(flow, path).processor, source=flow.source)
