"""What a run can be asked that makes no sense. A failing flow is never raised: it is a RunResult.

RunError                    catch it for: a run that cannot begin or go on
├── FlowNotFound            no file and no flow of that name
├── BadInput                the execution's input is no JSON object
└── BadDecision             a decision that no callback of the flow takes
"""

from __future__ import annotations

from local_sim.errors import LocalSimError


class RunError(LocalSimError):
    """A run cannot begin or go on."""


class FlowNotFound(RunError):
    """`flow` is neither a file nor the name of a flow in `folder`."""

    def __init__(self, flow: str, folder: str, known: tuple[str, ...] = ()) -> None:
        self.flow = flow
        self.folder = folder
        self.known = known
        listed = f"; flows there: {', '.join(known)}" if known else ""
        super().__init__(f"there is no flow {flow!r}: neither a file nor a flow in {folder}{listed}")


class BadInput(RunError):
    """The execution's input cannot be used; `reason` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the input {reason}")


class BadDecision(RunError):
    """A decision fits no callback; `value` is what was given, `expected` what the flow asks for."""

    def __init__(self, value: object, expected: str) -> None:
        self.value = value
        self.expected = expected
        super().__init__(f"decision {value!r} fits no callback of this flow: {expected}")
