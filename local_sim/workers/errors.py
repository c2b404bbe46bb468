"""What can go wrong before a handler runs. A handler's own failure is never raised: it is an InvokeResult.

WorkerError                 catch it for: a function that cannot be run here
├── HandlerNotLoadable      its module or its function is not there
└── DebuggerMissing         it is to be debugged, and debugpy is not installed
"""

from __future__ import annotations

from local_sim.errors import LocalSimError
from local_sim.project import Function


class WorkerError(LocalSimError):
    """A function cannot be run on this machine. `function` is its name."""

    def __init__(self, function: str, message: str) -> None:
        self.function = function
        super().__init__(message)


class HandlerNotLoadable(WorkerError):
    """A handler cannot be imported. `handler` is its text in s.yaml, `file` where it was looked for, `reason` the
    fault.
    """

    def __init__(self, function: Function, file: str, reason: str) -> None:
        self.handler = function.handler
        self.file = file
        self.reason = reason
        super().__init__(
            function.name,
            f"{function.handler_place}: handler {function.handler!r} of function {function.name!r} cannot be loaded "
            f"from {file}: {reason}",
        )


class DebuggerMissing(WorkerError):
    """A function is to be debugged, and debugpy is not installed."""

    def __init__(self, function: str) -> None:
        super().__init__(
            function, f"function {function!r} cannot be debugged: debugpy is not installed; run `pip install debugpy`"
        )
