"""An execution in the server's memory."""

from __future__ import annotations

import asyncio
import json

from local_sim.engine import Command, Execution, Limits, to_api
from local_sim.journal.served import EndWrite, ServedRecord
from local_sim.runner.live import LiveExecution, MapChild

from .definitions import Definitions, processor_at

_LIMITS = Limits()


class ServedLive(LiveExecution):
    """A running execution with its alarms and who waits for its end."""

    def __init__(self, served: ServedRecord, engine: Execution, place: MapChild | None = None) -> None:
        super().__init__(served.execution, engine, place)
        self.served = served
        self.durable: asyncio.Future[list[Command]] | None = None
        self.alarms: dict[int, int] = {}
        self.end: asyncio.Future[None] | None = None

    @property
    def id(self) -> int:
        """The execution's id in the journal."""
        return self.served.execution.id

    def ended_future(self) -> asyncio.Future[None]:
        """Return a future that is done once the execution has ended; made when first asked for."""
        if self.end is None:
            self.end = asyncio.get_running_loop().create_future()
        return self.end

    def end_write(self) -> EndWrite:
        """Return what the journal keeps of the end."""
        engine = self.engine
        history = json.dumps([to_api(event) for event in engine.history], ensure_ascii=False)
        return EndWrite(self.id, engine.status, engine.output, engine.error, engine.cause, self.last_ms, history)


def build_engine(served: ServedRecord, definitions: Definitions) -> Execution:
    """Return a new engine execution for a record. Raises DefinitionError when its text can no longer be loaded."""
    record = served.execution
    # A child has its parent's text; its own mode decides its limits only.
    flow = definitions.load(record.definition, express=served.express and not served.child_path)
    if served.child_path:
        flow = processor_at(flow, served.child_path)
    return Execution(
        flow,
        name=record.name,
        flow_name=record.flow,
        role_arn=served.role_arn,
        secret=record.secret,
        limits=_LIMITS.express() if served.express else _LIMITS,
        child=bool(served.child_path),
    )
