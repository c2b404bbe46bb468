"""Where the console gets what it shows: the local cloud, or an account through the SDKs."""

from __future__ import annotations

from typing import Protocol

from .model import Event, ExecutionDetail, Filter, FlowRow, Json, LogText, Page, WaitingTask


class Source(Protocol):
    """Reads executions and acts on them. All methods raise ConsoleError for what cannot be had."""

    title: str
    writable: bool
    local: bool

    async def flows(self) -> list[FlowRow]:
        """Return all flows by name."""
        ...

    async def definition(self, flow: str) -> str:
        """Return a flow's definition. Raises NotFound."""
        ...

    async def executions(self, wanted: Filter) -> Page:
        """Return a page of executions, newest first."""
        ...

    async def counts(self) -> dict[str, int]:
        """Return how many executions there are of each status; empty when that is not known."""
        ...

    async def execution(self, flow: str, name: str) -> ExecutionDetail:
        """Return an execution. Raises NotFound."""
        ...

    async def history(self, flow: str, name: str) -> list[Event]:
        """Return an execution's whole history. Raises NotFound."""
        ...

    async def waiting(self) -> list[WaitingTask]:
        """Return the callbacks that wait for an answer, the oldest first."""
        ...

    async def logs(self, flow: str, name: str) -> list[LogText]:
        """Return what an execution's invocations printed, as far as it was kept."""
        ...

    async def payload(self, bucket: str, key: str) -> bytes | None:
        """Return an object's content, None when there is none."""
        ...

    def change(self) -> int:
        """Return a number that rises whenever something shown may have changed."""
        ...

    async def start(self, flow: str, name: str, given: str) -> ExecutionDetail:
        """Start an execution with JSON text as input; an empty name is made up. Raises Refused."""
        ...

    async def stop(self, flow: str, name: str) -> None:
        """Stop an execution. Raises Refused."""
        ...

    async def answer(self, token: str, output: Json) -> None:
        """Report success for a callback. Raises Refused."""
        ...
