"""The distributed Map: items, children, tolerance and results, with the I/O left to the driver (language page 5.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from local_sim.definition.model import DistributedConfig, MapState
from local_sim.expression import Template

from . import log
from .batching import batch
from .branches import begin_again, construct_items, items_at
from .commands import Ignored, ReadItems, Reason, WriteResults
from .cursor import ABSENT, Cursor
from .evaluation import check_input, compute, number_between, number_of, view, whole_between
from .events import ChildFinished, ItemsRead, Json, MapIoFailed, MapRunUpdated, ResultsWritten, Status
from .failure import fail
from .faults import CHILD_STOPPED, EXECUTION_TIMEOUT, MAP_ITEMS, MAP_TOLERANCE, StateFailure
from .maprun import MapRun, map_run_name
from .visit import begin

if TYPE_CHECKING:
    from .machine import Machine

_MOST = 2**31


def attempt_map_run(run: Machine, cursor: Cursor, state: MapState, config: DistributedConfig) -> bool:
    """Open a map run: read the items or take them from the input, then start children."""
    if cursor.frozen is ABSENT:
        begin(run, cursor, state)
        items = None if config.item_reader is not None else items_at(run, cursor, state)
        cursor.frozen = items
    else:
        begin_again(run, cursor)
    map_run = _open(run, cursor, state, config)
    cursor.waits = map_run
    try:
        if config.item_reader is None:
            _launch(run, map_run, cursor.frozen)
        else:
            _read(run, map_run, config.item_reader)
    except StateFailure as failure:
        raise _end(run, map_run, failure) from None
    return False


def on_items_read(run: Machine, event: ItemsRead) -> Ignored | None:
    """The driver has read the items."""
    map_run = run.map_runs.get(event.map_run)
    if map_run is None or not isinstance(map_run.open_io, ReadItems):
        return _refuse(map_run)
    map_run.open_io = None
    _guard(run, map_run, lambda: _launch(run, map_run, list(event.items)))
    return None


def on_child_finished(run: Machine, event: ChildFinished) -> Ignored | None:
    """A child execution has ended: keep its result, then start the next, or fail, or finish."""
    map_run = run.map_runs.get(event.map_run)
    if map_run is None or event.index not in map_run.in_flight:
        return _refuse(map_run)
    del map_run.in_flight[event.index]
    if event.status is Status.SUCCEEDED:
        map_run.succeeded += 1
        map_run.results[event.index] = {"Status": "Succeeded", "Output": event.output}
    else:
        map_run.failed += 1
        error = event.error or (EXECUTION_TIMEOUT if event.status is Status.TIMED_OUT else CHILD_STOPPED)
        map_run.results[event.index] = {"Status": event.status.value, "Error": error, "Cause": event.cause}
        if map_run.exceeded():
            fail(run, map_run.cursor, _end(run, map_run, _too_many(map_run, error, event.cause)))
            return None
    _guard(run, map_run, lambda: _go_on(run, map_run))
    return None


def on_results_written(run: Machine, event: ResultsWritten) -> Ignored | None:
    """The driver has written the results; what it says about them is the Map's `$Output`."""
    map_run = run.map_runs.get(event.map_run)
    if map_run is None or not isinstance(map_run.open_io, WriteResults):
        return _refuse(map_run)
    _succeed(run, map_run, event.output)
    return None


def on_io_failed(run: Machine, event: MapIoFailed) -> Ignored | None:
    """The driver could not read the items or write the results."""
    map_run = run.map_runs.get(event.map_run)
    if map_run is None or map_run.open_io is None:
        return _refuse(map_run)
    fail(run, map_run.cursor, _end(run, map_run, StateFailure(event.error, event.cause)))
    return None


def on_updated(run: Machine, event: MapRunUpdated) -> Ignored | None:
    """UpdateMapRun: other concurrency or tolerance from now on."""
    map_run = run.map_runs.get(event.map_run)
    if map_run is None or map_run.over:
        return _refuse(map_run)
    if event.concurrency is not None:
        map_run.width = max(1, min(event.concurrency, run.limits.distributed_concurrency))
    if event.tolerated_failed_count is not None:
        map_run.tolerated_count = event.tolerated_failed_count
    if event.tolerated_failed_percentage is not None:
        map_run.tolerated_percentage = event.tolerated_failed_percentage
    if map_run.status != "Running":
        return None
    if map_run.exceeded():
        fail(run, map_run.cursor, _end(run, map_run, _too_many(map_run, "", "the tolerance was lowered")))
    elif map_run.open_io is None:
        _guard(run, map_run, lambda: _go_on(run, map_run))
    return None


def _open(run: Machine, cursor: Cursor, state: MapState, config: DistributedConfig) -> MapRun:
    number = len(run.log) + 1
    map_run = MapRun(cursor, state, config, number, map_run_name(run.flow_name, run.name, number), run.now)
    limit = run.limits.distributed_concurrency
    width = limit if state.max_concurrency is None else number_of(run, cursor, state.max_concurrency)
    map_run.width = min(limit, whole_between(width, f"MaxConcuccency of {state.name}", 1, _MOST))
    if config.tolerated_failed_count is not None:
        count = number_of(run, cursor, config.tolerated_failed_count)
        map_run.tolerated_count = whole_between(count, f"ToleratedFailureCount of {state.name}", 0, _MOST)
    if config.tolerated_failed_percentage is not None:
        share = number_of(run, cursor, config.tolerated_failed_percentage)
        map_run.tolerated_percentage = number_between(share, f"ToleratedFailurePercentage of {state.name}", 0, 100)
    detail = {"mapRunName": map_run.name, "concurrency": map_run.width, "executionMode": config.execution_mode}
    cursor.last = run.log.add(cursor.last, state.name, log.MAP_RUN_STARTED, run.now, detail)
    run.map_runs[number] = map_run
    return map_run


def _read(run: Machine, map_run: MapRun, reader: Template) -> None:
    cursor = map_run.cursor
    made = compute(reader, view(run, cursor))
    most = _max_items(run, cursor, map_run.state, map_run.config)
    limit = run.limits.max_map_items
    if limit is not None:
        # One more than allowed is enough to know that there are too many.
        most = limit + 1 if most is None else min(most, limit + 1)
    map_run.open_io = ReadItems(map_run.number, map_run.path, made, most)
    run.commands.append(map_run.open_io)


def _launch(run: Machine, map_run: MapRun, items: list[Json]) -> None:
    """Turn items into the children's inputs: MaxItems, ItemConstructor, ItemBatcher, in this order."""
    cursor, state, config = map_run.cursor, map_run.state, map_run.config
    chosen = items[: _max_items(run, cursor, state, config)]
    limit = run.limits.max_map_items
    if limit is not None and len(chosen) > limit:
        raise StateFailure(MAP_ITEMS, f"{state.name} has {len(chosen)} items, the limit is {limit}")
    inputs = construct_items(run, cursor, state, chosen)
    if config.item_batcher is not None:
        batcher = compute(config.item_batcher, view(run, cursor))
        bounds = {"max_bytes": run.limits.max_io_bytes, "max_depth": run.limits.max_json_depth}
        inputs = batch(inputs, batcher, f"ItemBatcher of {state.name}", **bounds)  # type: ignore[arg-type]
    for index, value in enumerate(inputs):
        check_input(run, value, f"the input of child {index} of {state.name}")
    map_run.inputs = inputs
    map_run.total = len(inputs)
    map_run.results = [None] * len(inputs)
    map_run.status = "Running"
    _go_on(run, map_run)


def _go_on(run: Machine, map_run: MapRun) -> None:
    """Start children while there is room; after the last one collect the results."""
    while map_run.started < map_run.total and len(map_run.in_flight) < map_run.width:
        child = map_run.child(map_run.started)
        map_run.in_flight[child.index] = child
        map_run.started += 1
        run.commands.append(child)
    if map_run.in_flight or map_run.started < map_run.total:
        return
    writer = map_run.config.result_writer
    if writer is None:
        _succeed(run, map_run, {"Items": [_item(result) for result in map_run.results]})
    else:
        _write(run, map_run, writer)


def _write(run: Machine, map_run: MapRun, writer: Template) -> None:
    made = compute(writer, view(run, map_run.cursor))
    map_run.open_io = WriteResults(map_run.number, map_run.path, map_run.name, made, map_run.results)
    run.commands.append(map_run.open_io)


def _item(result: dict[str, Json]) -> Json:
    """Return a child's place in `Items`: its output, or for a tolerated failure its error and cause (A63)."""
    if result["Status"] == "Succeeded":
        return result["Output"]
    return {"Error": result["Error"], "Cause": result["Cause"]}


def _succeed(run: Machine, map_run: MapRun, output: Json) -> None:
    map_run.close("Succeeded", run.now)
    map_run.cursor.waits = None
    map_run.cursor.arrived = output
    run.ready.append(map_run.cursor)


def _end(run: Machine, map_run: MapRun, failure: StateFailure) -> StateFailure:
    """Close a map run by a failure: its children are stopped."""
    run.commands.extend(map_run.cancel(f"{map_run.state.name} failed", "Failed", run.now))
    map_run.cursor.waits = None
    return failure


def _guard(run: Machine, map_run: MapRun, step: Callable[[], None]) -> None:
    try:
        step()
    except StateFailure as failure:
        fail(run, map_run.cursor, _end(run, map_run, failure))


def _too_many(map_run: MapRun, error: str, cause: str) -> StateFailure:
    """Without a tolerance the Map fails under the child's own name (A12), else under a name of its own (A64)."""
    if not map_run.tolerant:
        return StateFailure(error, cause)
    last = f"; the last one: {error}: {cause}" if error else f"; {cause}"
    return StateFailure(MAP_TOLERANCE, f"{map_run.failed} of {map_run.total} children failed{last}")


def _max_items(run: Machine, cursor: Cursor, state: MapState, config: DistributedConfig) -> int | None:
    if config.max_items is None:
        return None
    return whole_between(number_of(run, cursor, config.max_items), f"MaxItems of {state.name}", 0, _MOST)


def _refuse(map_run: MapRun | None) -> Ignored:
    if map_run is None:
        return Ignored(Reason.UNKNOWN)
    return Ignored(Reason.CANCELLED if map_run.over else Reason.ALREADY_REPORTED)
