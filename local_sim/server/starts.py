"""Starting executions: by a caller, by a schedule, by another execution."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Awaitable
from dataclasses import dataclass

from local_sim.engine import Started, Status
from local_sim.journal import ExecutionRecord
from local_sim.journal.served import ServedRecord
from local_sim.runner.live import MapChild
from local_sim.services.cloudflow import Order
from local_sim.services.cloudflow.errors import Conflict, Throttled
from local_sim.services.cloudflow.limits import RUNNING_EXECUTIONS
from local_sim.services.cloudflow.records import EXPRESS

from .hub import Hub
from .live import ServedLive

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parent:
    """The task of another execution that starts one."""

    execution: int
    task: int


class Starter:
    """Makes new executions. Names are unique within a flow, over all time."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def start(self, order: Order, at_ms: int, parent: Parent | None = None) -> ServedRecord:
        """Start an execution and return its record once it is on the disk.

        A running one of the same name is returned instead, whatever its input (A30), an ended one too when the same
        parent's task has started it. Raises Conflict ExecutionAlreadyExists, or Throttled over the account's limit.
        """
        running = self._hub.live(order.flow.id, order.name)
        if running is not None and not running.ended:
            return await self._join(running, order)
        known = running.served if running is not None else self._hub.reader.find_served(order.flow.id, order.name)
        if known is not None:
            mine = parent is not None and known.execution.parent_task == parent.task
            if mine and parent is not None and known.execution.parent == parent.execution:
                return known
            text = f"Execution '{order.name}' in flow '{order.flow.name}' already exists."
            raise Conflict("ExecutionAlreadyExists", text, status=400)
        if len(self._hub.lives) >= RUNNING_EXECUTIONS:
            raise Throttled(f"{RUNNING_EXECUTIONS} executions are running, the most an account may have.")
        served = self._record(order, at_ms, parent)
        event = Started(at_ms, json.loads(order.input), seed=_seed(served.execution))
        await self._hub.start(served, event)
        return served

    def start_child(
        self,
        parent: ServedLive,
        name: str,
        value: object,
        map_run: str,
        path: tuple[str, ...],
        place: MapChild,
        express: bool,
    ) -> Awaitable[object]:
        """Start a child execution of a distributed Map."""
        record, now = parent.record, self._hub.now(parent)
        execution = ExecutionRecord(
            id=self._hub.new_id(),
            flow=record.flow,
            name=name,
            source=record.source,
            definition=record.definition,
            secret=secrets.token_bytes(20),
            virtual=False,
            parent=record.id,
            parent_task=None,
            status=Status.STARTING,
            created_ms=now,
        )
        served = ServedRecord(
            execution=execution,
            flow_id=parent.served.flow_id,
            input=json.dumps(value, ensure_ascii=False),
            express=express,
            environment=parent.served.environment,
            role_arn=parent.served.role_arn,
            child_of=map_run,
            child_path=parent.served.child_path + path,
        )
        return self._hub.start(served, Started(now, value, seed=_seed(execution)), place)

    async def _join(self, running: ServedLive, order: Order) -> ServedRecord:
        if json.loads(running.served.input) != json.loads(order.input):
            _logger.warning(
                "execution %s of flow %s is running with another input; it is returned as it is (A30)",
                order.name,
                order.flow.name,
            )
        if running.durable is not None:
            await running.durable
        return running.served

    def _record(self, order: Order, at_ms: int, parent: Parent | None) -> ServedRecord:
        flow = order.flow
        execution = ExecutionRecord(
            id=self._hub.new_id(),
            flow=flow.name,
            name=order.name,
            source=flow.name,
            definition=order.definition,
            secret=secrets.token_bytes(20),
            virtual=False,
            parent=parent.execution if parent else None,
            parent_task=parent.task if parent else None,
            status=Status.STARTING,
            created_ms=at_ms,
        )
        variables = [[item.name, item.value, item.description] for item in order.environment.variables]
        return ServedRecord(
            execution=execution,
            flow_id=flow.id,
            input=order.input,
            express=flow.execution_mode == EXPRESS,
            qualifier=order.qualifier or order.version,
            environment=json.dumps(variables, ensure_ascii=False),
            role_arn=flow.role_arn,
            callback_token=order.callback_token,
        )


def _seed(record: ExecutionRecord) -> str:
    return f"{record.secret.hex()}{record.name}"
