"""What a worker is and what an invocation gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from local_sim.project import Function


@dataclass(frozen=True, slots=True)
class InvokeResult:
    """One answer of Function Compute.

    A function that failed still has `status` 200; `error_type` (the X-Fc-Error-Type header) is the only sign
    (function-compute reference, section 5.1). `code` is the API's error code when `status` is not 2xx.
    """

    request_id: str
    body: bytes = b""
    error_type: str = ""
    status: int = 200
    code: str = ""
    logs: str = ""
    duration_ms: int = 0

    @property
    def failed(self) -> bool:
        """True when the function or the service failed."""
        return bool(self.error_type) or not 200 <= self.status < 300


class Worker(Protocol):
    """Runs functions."""

    @property
    def concurrent(self) -> bool:
        """Whether `invoke` may be called from several threads at once."""
        ...

    def prepare(self, function: Function) -> None:
        """Load the function's handler. Raises HandlerNotLoadable, or Unresolvable for an environment variable."""
        ...

    def invoke(
        self, function: Function, event: bytes, request_id: str, *, timeout: float | None = None
    ) -> InvokeResult:
        """Run the handler on `event` and wait for its end; `timeout` (seconds) replaces the function's own."""
        ...

    def close(self) -> None:
        """End what the worker started."""
        ...
