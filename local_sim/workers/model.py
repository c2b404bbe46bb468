"""What a worker is and what an invocation gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from local_sim.project import Function


@dataclass(frozen=True, slots=True)
class InvokeResult:
    """One answer of Function Compute.

    A function that failed still has `status` 200; `error_type` (the X-Fc-Error-Type header) is the only sign
    (function-compute reference, section 5.1). `code` is the API's error code when `status` is not 2xx.
    `memory_mb` is the instance's largest memory use so far, 0 when unknown; `instance` its id, empty when none ran.
    """

    request_id: str
    body: bytes = b""
    error_type: str = ""
    status: int = 200
    code: str = ""
    logs: str = ""
    duration_ms: int = 0
    memory_mb: int = 0
    instance: str = ""

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


@dataclass(frozen=True, slots=True)
class InstanceInfo:
    """An instance of a function that is there now."""

    id: str
    function: str
    version: str


@runtime_checkable
class InstanceKeeper(Protocol):
    """A worker that can tell which instances it keeps."""

    def instances(self) -> Sequence[InstanceInfo]:
        """Return the instances that are there now, by id."""
        ...
