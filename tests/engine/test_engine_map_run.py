"""Distributed Map: children, batches, tolerance, I/O by the driver (MAPD, API 5.2; A12, A33, A63, A64, A65, A66)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import NEVER, SECRET, After, Fail, Row, Run, Simulator, body, flow_of, rows, simulate, task

from local_sim.engine import (
    CancelChild,
    ChildFinished,
    Execution,
    Ignored,
    InvokeTask,
    ItemsRead,
    Limits,
    MapIoFailed,
    MapRunUpdated,
    ReadItems,
    Reason,
    ResultsWritten,
    RunChild,
    Started,
    Status,
    StopRequested,
    WriteResults,
)

CHILD = "{Type: Pass, Name: i, End: true}"
CALL = task("T", "OutputConstructor: {v.$: $Output.Body}")[2:].strip()


def distributed(
    more: str = "", *, child: str = CHILD, mode: str = "Standard", source: str = "ItemsPath: $Input.xs"
) -> str:
    first = child.split("Name: ", 1)[1].split(",")[0].split("}")[0]
    extra = f", {more}" if more else ""
    return (
        f"- {{Type: Map, Name: m, {source}, ProcessorConfig: {{ExecutionMode: {mode}}}, "
        f"Processor: {{StartAt: {first}, States: [{child}]}}, Next: z{extra}}}\n- {{Type: Succeed, Name: z}}\n"
    )


ITEMS = {"xs": [{"n": n} for n in range(5)]}


@rows(
    Row("A65", "results stand under Items in input order", distributed(), {"Items": ITEMS["xs"]}, input=ITEMS),
    Row("A19", "items may be anything", distributed(), {"Items": [1, "a", None]}, input={"xs": [1, "a", None]}),
    Row("MAPD", "no items, no children", distributed(), {"Items": []}, input={"xs": []}),
    Row(
        "MAPD",
        "ItemConstructor reads $Item and $Input",
        distributed("ItemConstructor: {k.$: $Item.n, t.$: $Input.t}"),
        {"Items": [{"k": 1, "t": 9}]},
        input={"xs": [{"n": 1}], "t": 9},
    ),
    Row(
        "A66",
        "batches of two",
        distributed("ItemBatcher: {MaxItemsPerBatch: 2}"),
        {"Items": [{"Items": [{"n": 0}, {"n": 1}]}, {"Items": [{"n": 2}, {"n": 3}]}, {"Items": [{"n": 4}]}]},
        input=ITEMS,
    ),
    Row(
        "A66",
        "batches carry BatchInput",
        distributed("ItemBatcher: {MaxItemsPerBatch: 9, BatchInput: {t.$: $Input.t}}"),
        {"Items": [{"Items": [{"n": 0}], "BatchInput": {"t": 1}}]},
        input={"xs": [{"n": 0}], "t": 1},
    ),
    Row(
        "A66",
        "batches by bytes",
        distributed("ItemBatcher: {MaxInputBytesPerBatch: 27}"),
        {"Items": [{"Items": [{"n": 0}, {"n": 1}]}, {"Items": [{"n": 2}, {"n": 3}]}, {"Items": [{"n": 4}]}]},
        input=ITEMS,
    ),
    Row(
        "A66",
        "an item too big for a batch",
        distributed("ItemBatcher: {MaxInputBytesPerBatch: 15}"),
        error="FnF.RuntimeError",
        cause="item 0 alone makes a batch over 15 bytes",
        input=ITEMS,
    ),
    Row(
        "A66",
        "a batcher without a size",
        distributed("ItemBatcher: {BatchInput: {}}"),
        error="FnF.RuntimeError",
        cause="needs MaxItemsPerBatch or MaxInputBytesPerBatch",
        input=ITEMS,
    ),
    Row(
        "MAPD",
        "MaxItems takes the first ones",
        distributed("MaxItems: 2"),
        {"Items": [{"n": 0}, {"n": 1}]},
        input=ITEMS,
    ),
    Row(
        "A39",
        "MaxItems.$ evaluates",
        distributed("MaxItems.$: $Input.k"),
        {"Items": [{"n": 0}]},
        input={**ITEMS, "k": 1},
    ),
    Row(
        "A22",
        "and must be a whole number",
        distributed("MaxItems.$: $Input.k"),
        error="FnF.RuntimeError",
        cause="MaxItems of m",
        input={**ITEMS, "k": "1"},
    ),
    Row(
        "A65",
        "more items than allowed",
        distributed(),
        error="FnF.MapItemsExceeded",
        cause="m has 5 items, the limit is 4",
        input=ITEMS,
        limits=Limits(max_map_items=4),
    ),
    Row(
        "A08",
        "items that are no list",
        distributed(),
        error="FnF.RuntimeError",
        cause="ItemsPath of m must give an array",
        input={"xs": 3},
    ),
    Row(
        "A12",
        "one failed child fails the Map under its name",
        distributed(child=CALL),
        error="Bad",
        cause="why",
        input=ITEMS,
        tasks={"T": Fail("Bad", "why")},
    ),
    Row(
        "GLOB",
        "a child cannot see the parent's $Global",
        "- {Type: Pass, Name: a, GlobalConstructor: {k: 1}, Next: m}\n"
        + distributed(child="{Type: Pass, Name: i, OutputConstructor: {g.$: $Global}, End: true}"),
        {"Items": [{"g": {}}]},
        input={"xs": [{}]},
    ),
    Row(
        "EXEC",
        "an Express child has Express limits",
        distributed(child="{Type: Wait, Name: w, Seconds.$: $Input.s, End: true}", mode="Express"),
        error="FnF.RuntimeError",
        cause="Seconds of w must be 1 to 20",
        input={"xs": [{"s": 21}]},
    ),
    Row(
        "EXEC",
        "a Standard child has not",
        distributed(child="{Type: Wait, Name: w, Seconds.$: $Input.s, End: true}"),
        {"Items": [{"s": 21}]},
        input={"xs": [{"s": 21}]},
    ),
)
def test_map_run(row: Row) -> None:
    row.check()


def fails_at(*bad: int) -> Any:
    return lambda command: (
        Fail("Bad", "why") if command.parameters.get("n") in bad else body(command.parameters.get("n"))
    )


COUNTED = (
    "{Type: Task, Name: T, Action: 'HTTP:Request', Parameters: {url: u, method: GET, n.$: $Input.n}, "
    "OutputConstructor: {v.$: $Output.Body}, End: true}"
)


@pytest.mark.parametrize(
    ("tolerance", "bad", "status"),
    [
        ("ToleratedFailureCount: 1", [0], "Succeeded"),
        ("ToleratedFailureCount: 1", [0, 3], "Failed"),
        ("ToleratedFailureCount: 0", [3], "Failed"),
        ("ToleratedFailurePercentage: 40", [0, 1], "Succeeded"),
        ("ToleratedFailurePercentage: 39.9", [0, 1], "Failed"),
        ("ToleratedFailurePercentage: 100", [0, 1, 2, 3, 4], "Succeeded"),
        ("ToleratedFailureCount: 5, ToleratedFailurePercentage: 20", [0, 1], "Failed"),
        ("ToleratedFailureCount.$: $Input.c", [0, 1], "Succeeded"),
    ],
)
def test_failures_are_tolerated_to_the_limit(tolerance: str, bad: list[int], status: str) -> None:
    run = simulate(distributed(tolerance, child=COUNTED), input={**ITEMS, "c": 2}, tasks={"T": fails_at(*bad)})
    assert run.status == status, run.cause
    if status == "Failed":
        assert run.error == "FnF.ToleratedFailuresExceeded"
        assert run.cause.endswith("of 5 children failed; the last one: Bad: why")
    else:
        expected = [{"Error": "Bad", "Cause": "why"} if n in bad else {"v": n} for n in range(5)]
        assert run.output == {"Items": expected}


def test_the_run_is_described_while_it_lasts_and_afterwards() -> None:
    simulator = Simulator(distributed(child=CALL), input=ITEMS, tasks={"T": NEVER})
    execution = simulator.run.execution
    commands = execution.handle(Started(7, ITEMS, "s"))
    children = [command for command in commands if isinstance(command, RunChild)]
    execution.handle(ChildFinished(8, children[0].map_run, 0, Status.SUCCEEDED, {}))
    (info,) = execution.map_runs
    assert (info.status, info.concurrency, info.started_ms, info.stopped_ms) == ("Running", 100, 7, None)
    assert (info.counts.total, info.counts.running, info.counts.succeeded) == (5, 4, 1)
    assert execution.history[info.number - 1].detail["mapRunName"] == info.name
    execution.handle(StopRequested(9))
    (info,) = execution.map_runs
    assert (info.status, info.stopped_ms, info.counts.aborted) == ("Aborted", 9, 4)


def test_children_have_names_of_their_own_that_a_replay_gives_again() -> None:
    names = [[child.name for child in simulate(distributed(), input=ITEMS).of(RunChild)] for _ in range(2)]
    assert names[0] == names[1]
    assert len(set(names[0])) == 5
    assert all(len(name) <= 128 and name[0].isalpha() for name in names[0])


def test_at_most_max_concurrency_children_run_at_once() -> None:
    execution = Execution(flow_of(distributed("MaxConcuccency: 2", child=CALL)), name="run", secret=SECRET)
    first = execution.handle(Started(0, ITEMS, "s"))
    children = [command for command in first if isinstance(command, RunChild)]
    assert [child.index for child in children] == [0, 1]
    (third,) = execution.handle(ChildFinished(1, children[0].map_run, 1, Status.SUCCEEDED, {}))
    assert isinstance(third, RunChild)
    assert third.index == 2


def test_a_failed_child_stops_the_others() -> None:
    execution = Execution(flow_of(distributed(child=CALL)), name="run", secret=SECRET)
    commands = execution.handle(Started(0, ITEMS, "s"))
    run_id = next(command.map_run for command in commands if isinstance(command, RunChild))
    after = execution.handle(ChildFinished(5, run_id, 2, Status.FAILED, None, "Bad", "why"))
    assert [command.index for command in after if isinstance(command, CancelChild)] == [0, 1, 3, 4]
    assert (execution.status, execution.error) == (Status.FAILED, "Bad")


@pytest.mark.parametrize(
    ("status", "error"), [(Status.TIMED_OUT, "FnF.ExecutionTimeout"), (Status.STOPPED, "FnF.ExecutionStopped")]
)
def test_a_child_without_an_error_of_its_own_gets_a_name(status: Status, error: str) -> None:
    execution = Execution(flow_of(distributed()), name="run", secret=SECRET)
    commands = execution.handle(Started(0, {"xs": [{}]}, "s"))
    run_id = next(command.map_run for command in commands if isinstance(command, RunChild))
    execution.handle(ChildFinished(5, run_id, 0, status))
    assert execution.error == error


READER = "ItemReader: {Bucket.$: $Input.b, Key: list.json}"


def test_items_may_be_read_by_the_driver() -> None:
    run = simulate(distributed(source=READER), input={"b": "data"}, items=[{"n": 1}, {"n": 2}])
    (read,) = run.of(ReadItems)
    assert (read.reader, read.path, read.max_items) == ({"Bucket": "data", "Key": "list.json"}, ("m",), 10_001)
    assert run.output == {"Items": [{"n": 1}, {"n": 2}]}


def test_items_that_were_read_are_cut_and_not_bound_by_64_kib() -> None:
    items = [{"t": "x" * 1000, "n": n} for n in range(200)]
    run = simulate(
        distributed("MaxItems: 150, OutputConstructor: {n.$: length($Output.Items)}", source=READER),
        input={"b": "data"},
        items=items,
    )
    assert run.of(ReadItems)[0].max_items == 150
    assert run.output == {"n": 150}


def test_a_reader_that_fails_is_a_failure_of_the_map() -> None:
    states = distributed("Catch: [{Errors: [OSS.NoSuchKey], Next: z}]", source=READER)
    run = simulate(states, input={"b": "data"}, items=Fail("OSS.NoSuchKey", "no list.json"))
    assert run.visited() == ["m", "z"]
    assert run.execution.map_runs[0].status == "Failed"


def test_a_reader_that_cannot_be_evaluated_reads_nothing() -> None:
    run = simulate(distributed(source=READER), input={})
    assert (run.error, run.of(ReadItems)) == ("FnF.RuntimeError", [])
    assert run.execution.map_runs[0].status == "Failed"


def test_results_may_be_written_by_the_driver() -> None:
    run = simulate(
        distributed("ResultWriter: {Bucket: out, Key.$: $Input.k}, ToleratedFailureCount: 1", child=COUNTED),
        input={**ITEMS, "k": "r.json"},
        tasks={"T": fails_at(1)},
        written={"Key": "r.json/manifest"},
    )
    (write,) = run.of(WriteResults)
    assert write.writer == {"Bucket": "out", "Key": "r.json"}
    assert write.results[:2] == [
        {"Status": "Succeeded", "Output": {"v": 0}},
        {"Status": "Failed", "Error": "Bad", "Cause": "why"},
    ]
    assert run.output == {"Key": "r.json/manifest"}


def test_a_writer_that_fails_is_a_failure_of_the_map() -> None:
    run = simulate(distributed("ResultWriter: {Bucket: out}"), input=ITEMS, written=Fail("OSS.AccessDenied", "no"))
    assert (run.error, run.cause) == ("OSS.AccessDenied", "no")


def test_a_retry_is_a_new_map_run() -> None:
    outcomes = iter([Fail("E"), body(1), body(1), body(1)])
    run = simulate(
        distributed("Retry: [{Errors: [E], MaxAttempts: 1, IntervalSeconds: 1}]", child=CALL),
        input={"xs": [{}, {}]},
        tasks={"T": lambda command: next(outcomes)},
    )
    assert run.output == {"Items": [{"v": 1}, {"v": 1}]}
    assert [info.status for info in run.execution.map_runs] == ["Failed", "Succeeded"]


def _running() -> tuple[Execution, int]:
    execution = Execution(
        flow_of(distributed("MaxConcuccency: 1, ToleratedFailureCount: 3", child=CALL)), name="run", secret=SECRET
    )
    commands = execution.handle(Started(0, ITEMS, "s"))
    return execution, next(command.map_run for command in commands if isinstance(command, RunChild))


def test_an_update_changes_concurrency_and_tolerance_at_once() -> None:
    execution, run_id = _running()
    started = execution.handle(MapRunUpdated(1, run_id, concurrency=3))
    assert [command.index for command in started if isinstance(command, RunChild)] == [1, 2]
    execution.handle(ChildFinished(2, run_id, 0, Status.FAILED, None, "Bad", "why"))
    execution.handle(MapRunUpdated(3, run_id, tolerated_failed_count=0))
    assert (execution.status, execution.error) == (Status.FAILED, "FnF.ToleratedFailuresExceeded")


@pytest.mark.parametrize(
    "event",
    [
        lambda run_id: ItemsRead(1, run_id, []),
        lambda run_id: ResultsWritten(1, run_id, {}),
        lambda run_id: MapIoFailed(1, run_id, "E"),
        lambda run_id: ChildFinished(1, run_id, 4, Status.SUCCEEDED, {}),
    ],
)
def test_answers_nobody_asked_for_change_nothing(event: Any) -> None:
    execution, run_id = _running()
    before = len(execution.history)
    assert execution.handle(event(run_id)) == [Ignored(Reason.ALREADY_REPORTED)]
    assert execution.handle(event(999)) == [Ignored(Reason.UNKNOWN)]
    assert len(execution.history) == before


def test_a_child_that_ends_twice_counts_once() -> None:
    execution, run_id = _running()
    execution.handle(ChildFinished(1, run_id, 0, Status.SUCCEEDED, {}))
    assert execution.handle(ChildFinished(1, run_id, 0, Status.FAILED, None, "E")) == [Ignored(Reason.ALREADY_REPORTED)]
    assert execution.map_runs[0].counts.failed == 0


def test_pending_children_are_what_a_driver_runs_again_after_a_replay() -> None:
    execution, run_id = _running()
    again = [command for command in execution.pending() if isinstance(command, RunChild)]
    assert [(command.map_run, command.index) for command in again] == [(run_id, 0)]
    child = execution.child(again[0])
    commands = child.handle(Started(0, again[0].input, "s"))
    assert [command.path for command in commands if isinstance(command, InvokeTask)] == [("T",)]


def test_ten_thousand_children_leave_the_parents_history_small() -> None:
    run: Run = simulate(distributed("OutputConstructor: {}"), input={"xs": [1] * 10_000})
    assert run.status == "Succeeded"
    assert len(run.execution.history) < 20


def test_children_take_their_time_in_parallel() -> None:
    run = simulate(distributed(child=CALL), input=ITEMS, tasks={"T": After(3, body(0))})
    assert run.at_ms == 3000
