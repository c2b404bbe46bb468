"""Runs many executions: events wait for one commit of all of them, then reach the engines, then commands go out.

All methods belong on the event loop; only the commit itself runs in another thread. A batch holds at most one event of
an execution, so what an event meets is always what the journal says.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from local_sim.definition import DefinitionError
from local_sim.engine import CancelTimer, Command, Event, InvokeTask, StartTimer, TimerFired
from local_sim.journal.served import EndWrite, EventWrite, ServedJournal, ServedRecord, StartWrite, ToldWrite, Write
from local_sim.runner.live import MapChild
from local_sim.services.alarms import Alarms

from .definitions import Definitions
from .live import ServedLive, build_engine
from .unreadable import unreadable_end

_logger = logging.getLogger(__name__)
_BATCH = 512
_TRIES = 5
_PAUSE_SECONDS = 0.2


class Carrier(Protocol):
    """Carries out commands other than timers, and is told of ends."""

    def carry_out(self, live: ServedLive, command: Command) -> None:
        """Begin what a command asks for."""
        ...

    def ended(self, live: ServedLive) -> None:
        """An execution has ended."""
        ...


@dataclass(slots=True)
class _Waiting:
    """An event that waits for its commit; `first` is the write that makes the execution, for its first event.

    A `patient` one comes from inside: there is nobody to refuse it to, so it waits until the disk can be written.
    """

    live: ServedLive
    event: Event
    answer: asyncio.Future[list[Command]]
    first: StartWrite | None = None
    patient: bool = False


class Hub:
    """The executions of one data folder. `open`, then `post` events; `close` at the end."""

    def __init__(self, folder: Path, now_ms: Callable[[], int], alarms: Alarms, definitions: Definitions) -> None:
        self._folder = folder
        self._now_ms = now_ms
        self._alarms = alarms
        self.definitions = definitions
        self.lives: dict[int, ServedLive] = {}
        self._by_name: dict[tuple[str, str], ServedLive] = {}
        self._waiting: deque[_Waiting] = deque()
        self._writes: deque[Write] = deque()
        self._wake = asyncio.Event()
        self._barriers: list[asyncio.Future[None]] = []
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="local-sim-journal")
        self._committer: asyncio.Task[None] | None = None
        self._journal: ServedJournal | None = None
        self._next_id = 1
        self._committing = False
        self.changes = 0

    async def open(self, carrier: Carrier) -> None:
        """Open the journal and bring every unfinished execution back. Raises JournalError."""
        self._carrier = carrier
        loop = asyncio.get_running_loop()
        journal = await loop.run_in_executor(self._writer, ServedJournal, self._folder)
        self.reader = ServedJournal(self._folder, read_only=True)
        self._journal = journal
        self._next_id = self.reader.last_id() + 1
        for served in self.reader.unfinished():
            self._bring_back(served)
        self._committer = loop.create_task(self._commit_for_ever())
        if self._writes:
            await self.settle()

    def take_up(self) -> None:
        """Carry out again what the executions have outstanding; call it once everything they need is there."""
        for live in list(self.lives.values()):
            if live.ended:  # its last event was on the disk, its end was not
                self._finish(live)
                continue
            for timer in list(live.timers.values()):
                self._set_alarm(live, timer)
            for task in live.unsent:
                self._carrier.carry_out(live, task.command)
            for command in live.engine.pending():
                if not isinstance(command, InvokeTask | StartTimer):
                    self._carrier.carry_out(live, command)

    async def close(self) -> None:
        """Commit what was posted and close the journal; running executions go on after the next start."""
        if self._committer is not None:
            while self._waiting or self._writes:
                await self.settle()
            self._committer.cancel()
            await asyncio.gather(self._committer, return_exceptions=True)
        if self._journal is not None:
            self.reader.close()
            await asyncio.get_running_loop().run_in_executor(self._writer, self._journal.close)
        self._writer.shutdown()

    @property
    def busy(self) -> bool:
        """True while an event or a write waits for its commit."""
        return self._committing or bool(self._waiting) or bool(self._writes)

    def live(self, flow_id: str, name: str) -> ServedLive | None:
        """Return an execution that runs."""
        return self._by_name.get((flow_id, name))

    def new_id(self) -> int:
        """Return the id of the next execution."""
        self._next_id += 1
        return self._next_id - 1

    def now(self, live: ServedLive) -> int:
        """Return the time for an execution's next event; it never goes back, whatever the machine's clock does."""
        return max(self._now_ms(), live.last_ms)

    def start(self, served: ServedRecord, event: Event, place: MapChild | None = None) -> asyncio.Future[list[Command]]:
        """Take in a new execution with its first event; the answer is done once both are on the disk."""
        live = ServedLive(served, build_engine(served, self.definitions), place)
        self._register(live)
        live.durable = self._post(_Waiting(live, event, self._future(), StartWrite(served, event)))
        return live.durable

    def ask(self, live: ServedLive, event: Event) -> asyncio.Future[list[Command]]:
        """Give an execution an event; the answer is done once it is on the disk and the engine has taken it."""
        return self._post(_Waiting(live, event, self._future()))

    def post(self, live: ServedLive, event: Event) -> None:
        """Give an execution an event from inside, such as a task's result; nobody waits for the answer."""
        self._post(_Waiting(live, event, self._future(), patient=True))

    def write(self, item: Write) -> None:
        """Store something besides events with the next commit."""
        self._writes.append(item)
        self._wake.set()

    async def settle(self) -> None:
        """Wait until every end that is known by now is on the disk, so that queries see it."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._barriers.append(done)
        self._wake.set()
        await done

    def forget(self, live: ServedLive) -> None:
        """Let a running execution no longer be found, because its flow is gone."""
        self._by_name.pop((live.served.flow_id, live.record.name), None)

    def told(self, execution: int) -> None:
        """Remember that the task waiting for an execution's end has been told."""
        self.write(ToldWrite(execution))

    def _future(self) -> asyncio.Future[list[Command]]:
        return asyncio.get_running_loop().create_future()

    def _post(self, waiting: _Waiting) -> asyncio.Future[list[Command]]:
        self._waiting.append(waiting)
        self._wake.set()
        return waiting.answer

    def _register(self, live: ServedLive) -> None:
        self.lives[live.id] = live
        self._by_name[live.served.flow_id, live.record.name] = live

    def _bring_back(self, served: ServedRecord) -> None:
        try:
            live = ServedLive(served, build_engine(served, self.definitions))
        except (DefinitionError, KeyError) as error:
            self._fail(served, error)
            return
        live.replay(self.reader.events(served.execution.id))
        self._register(live)

    def _fail(self, served: ServedRecord, error: Exception) -> None:
        """End a stored execution that this version cannot go on with: it must not run for ever (C05)."""
        _logger.error(
            "execution %s cannot go on, its definition can no longer be read: %s", served.execution.name, error
        )
        self.write(unreadable_end(served, self._now_ms(), error))

    async def _commit_for_ever(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._committing = True
            while self._waiting or self._writes or self._barriers:
                await self._commit()
            self._committing = False

    async def _commit(self) -> None:
        barriers, self._barriers = self._barriers, []
        extra: list[Write] = list(self._writes)
        self._writes.clear()
        batch = self._take_batch()
        # An ended execution takes no event: the engine only says why, so nothing is stored.
        writes = extra + [
            waiting.first or EventWrite(waiting.live.id, waiting.live.events, waiting.event)
            for waiting in batch
            if not waiting.live.ended
        ]
        error = await self._store(writes) if writes else None
        if error is not None:
            self._put_back(batch, extra, barriers, error)
            return
        for item in extra:
            if isinstance(item, EndWrite) and item.execution in self.lives:
                self._drop(self.lives[item.execution])
        for waiting in batch:
            self._apply_guarded(waiting)
        for done in barriers:
            if not done.done():
                done.set_result(None)

    def _take_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        later: list[_Waiting] = []
        seen: set[int] = set()
        while self._waiting and len(batch) < _BATCH:
            waiting = self._waiting.popleft()
            (later if waiting.live.id in seen else batch).append(waiting)
            seen.add(waiting.live.id)
        self._waiting.extendleft(reversed(later))
        return batch

    async def _store(self, writes: list[Write]) -> Exception | None:
        """Write, trying again for a second; return what is wrong when it cannot be done."""
        failure: Exception | None = None
        for _ in range(_TRIES):
            failure = await self._try(writes)
            if failure is None:
                return None
            await asyncio.sleep(_PAUSE_SECONDS)
        return failure

    async def _try(self, writes: list[Write]) -> Exception | None:
        try:
            journal = self._journal
            assert journal is not None
            await asyncio.get_running_loop().run_in_executor(self._writer, journal.write, writes)
        except Exception as error:
            _logger.exception("the journal could not be written")
            return error
        return None

    def _put_back(
        self, batch: list[_Waiting], extra: list[Write], barriers: list[asyncio.Future[None]], error: Exception
    ) -> None:
        self._writes.extendleft(reversed(extra))
        self._barriers = barriers + self._barriers
        self._waiting.extendleft(waiting for waiting in reversed(batch) if waiting.patient)
        for waiting in batch:
            if not waiting.patient:
                self._refuse(waiting, error)

    def _refuse(self, waiting: _Waiting, error: Exception) -> None:
        if waiting.first is not None:
            self._drop(waiting.live)
        if not waiting.answer.done():
            waiting.answer.set_exception(error)
            waiting.answer.exception()  # nobody may be waiting for it; the log has it

    def _apply_guarded(self, waiting: _Waiting) -> None:
        try:
            self._apply(waiting)
        except Exception as error:  # one execution's trouble must not stop the others
            _logger.exception("execution %s failed inside the server", waiting.live.record.name)
            self._refuse(waiting, error)

    def _apply(self, waiting: _Waiting) -> None:
        live = waiting.live
        self.changes += 1
        was_over = live.ended
        commands = live.engine.handle(waiting.event) if was_over else live.feed(waiting.event)
        if not waiting.answer.done():
            waiting.answer.set_result(commands)
        for command in commands:
            self._carry_out(live, command)
        if live.ended and not was_over:
            self._finish(live)

    def _carry_out(self, live: ServedLive, command: Command) -> None:
        if isinstance(command, StartTimer):
            self._set_alarm(live, command)
        elif isinstance(command, CancelTimer):
            alarm = live.alarms.pop(command.timer_id, None)
            if alarm is not None:
                self._alarms.cancel(alarm)
        else:
            self._carrier.carry_out(live, command)

    def _set_alarm(self, live: ServedLive, timer: StartTimer) -> None:
        def ring() -> None:
            live.alarms.pop(timer.timer_id, None)
            self.post(live, TimerFired(self.now(live), timer.timer_id))

        live.alarms[timer.timer_id] = self._alarms.set(timer.due_ms, ring)

    def _finish(self, live: ServedLive) -> None:
        for alarm in live.alarms.values():
            self._alarms.cancel(alarm)
        live.alarms.clear()
        self.write(live.end_write())
        self._carrier.ended(live)
        if live.end is not None and not live.end.done():
            live.end.set_result(None)

    def _drop(self, live: ServedLive) -> None:
        self.lives.pop(live.id, None)
        key = (live.served.flow_id, live.record.name)
        if self._by_name.get(key) is live:
            del self._by_name[key]
