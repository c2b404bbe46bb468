"""Inline Map: items frozen at entry, order kept, at most N in flight (MAPI; A12, A19, A20, A21, A33; C17, C18, C19)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import NEVER, After, Fail, Row, body, rows, simulate, task

from local_sim.engine import CancelTask, Limits


def map_of(states: str, *, more: str = "", path: str = "$Input.xs", onward: str = "End: true") -> str:
    first = states.split("Name: ", 1)[1].split(",")[0].split("}")[0]
    extra = f", {more}" if more else ""
    return (
        f"- {{Type: Map, Name: m, ItemsPath: {path}, Processor: {{StartAt: {first}, States: "
        f"[{states}]}}, {onward}{extra}}}\n"
    )


def call(name: str, more: str = "") -> str:
    return task(name, more)[2:].strip()


PASS = "{Type: Pass, Name: i, End: true}"


@rows(
    Row(
        "MAPI",
        "outputs stand under Items",
        map_of(PASS),
        {"Items": [{"a": 1}, {"a": 2}]},
        input={"xs": [{"a": 1}, {"a": 2}]},
    ),
    Row("A20", "an empty list gives an empty list", map_of(PASS), {"Items": []}, input={"xs": []}, visited="m"),
    Row(
        "A19",
        "items that are no objects are handed on",
        map_of(PASS),
        {"Items": [1, "a", None, True, [2], 1.5]},
        input={"xs": [1, "a", None, True, [2], 1.5]},
    ),
    Row(
        "A19",
        "and can be put under a key",
        map_of("{Type: Pass, Name: i, OutputConstructor: {v.$: $Input}, End: true}"),
        {"Items": [{"v": 1}, {"v": 2}]},
        input={"xs": [1, 2]},
    ),
    Row(
        "MAPI",
        "OutputConstructor reads Items",
        map_of(PASS, more="OutputConstructor: {first.$: '$Output.Items[0].a', n.$: length($Output.Items)}"),
        {"first": 1, "n": 2},
        input={"xs": [{"a": 1}, {"a": 2}]},
    ),
    Row(
        "MAPI",
        "literal items in InputConstructor",
        map_of(PASS, more="InputConstructor: {xs: [{a: 1}]}"),
        {"Items": [{"a": 1}]},
    ),
    Row(
        "MAPI",
        "ItemsPath reads $Context",
        map_of(PASS, path="$Context.Execution.Input.ys"),
        {"Items": [{}]},
        input={"ys": [{}]},
    ),
    Row(
        "MAPI",
        "an iteration sees the execution's input",
        map_of("{Type: Pass, Name: i, OutputConstructor: {k.$: $Context.Execution.Input.k}, End: true}"),
        {"Items": [{"k": 9}]},
        input={"xs": [{}], "k": 9},
    ),
    Row(
        "C17",
        "items are built from item and outer input",
        map_of(PASS, more="ItemConstructor: {id.$: $Item.id, tenant.$: $Input.tenant}"),
        {"Items": [{"id": 1, "tenant": "t"}, {"id": 2, "tenant": "t"}]},
        input={"xs": [{"id": 1}, {"id": 2}], "tenant": "t"},
    ),
    Row(
        "C17",
        "an item that cannot be built fails before any starts",
        map_of(call("T"), more="ItemConstructor: {id.$: $Item.id}"),
        error="FnF.RuntimeError",
        cause="item 1: ItemConstructor.id",
        input={"xs": [{"id": 1}, {}]},
        calls=0,
    ),
    Row(
        "A21", "MaxConcurrency is read too", map_of(PASS, more="MaxConcurrency: 2"), {"Items": [{}]}, input={"xs": [{}]}
    ),
    Row(
        "A39",
        "MaxConcuccency.$ evaluates",
        map_of(PASS, more="MaxConcuccency.$: $Input.n"),
        {"Items": [{}]},
        input={"xs": [{}], "n": 1},
    ),
    Row(
        "A22",
        "MaxConcuccency.$ must be a whole number",
        map_of(PASS, more="MaxConcuccency.$: $Input.n"),
        error="FnF.RuntimeError",
        cause="MaxConcuccency of m",
        input={"xs": [{}], "n": 1.5},
    ),
    Row(
        "A22",
        "MaxConcuccency.$ must be positive",
        map_of(PASS, more="MaxConcuccency.$: $Input.n"),
        error="FnF.RuntimeError",
        cause="MaxConcuccency of m",
        input={"xs": [{}], "n": 0},
    ),
    Row(
        "C56",
        "collected results may be dropped whatever their size",
        map_of(
            "{Type: Pass, Name: i, OutputConstructor: {t.$: $Context.Execution.Input.t}, End: true}",
            more="OutputConstructor: {done: true}",
        ),
        {"done": True},
        input={"xs": [{}] * 1000, "t": "x" * 100},
        limits=Limits(max_events=None),
    ),
    Row(
        "C56",
        "but not be too big when they are wanted",
        map_of("{Type: Pass, Name: i, OutputConstructor: {t.$: $Context.Execution.Input.t}, End: true}"),
        error="FnF.OutputSizeExceeded",
        cause="the output of m has",
        input={"xs": [{}] * 1000, "t": "x" * 100},
        limits=Limits(max_events=None),
    ),
)
def test_map(row: Row) -> None:
    row.check()


@pytest.mark.parametrize(
    ("value", "kind"), [(None, "null"), ({}, "object"), ("abc", "text"), (3, "number"), (True, "boolean")]
)
def test_what_is_no_list_is_a_named_error(value: Any, kind: str) -> None:
    run = simulate(
        map_of(PASS, more="Catch: [{Errors: [FnF.RuntimeError], Next: h}]") + "- {Type: Succeed, Name: h}",
        input={"xs": value},
    )
    assert run.visited() == ["m", "h"]
    assert run.details("StepFailed")[0]["cause"] == f"ItemsPath of m must give an array, not {kind}"


def test_a_missing_list_is_a_named_error() -> None:
    run = simulate(map_of(PASS), input={})
    assert run.error == "FnF.RuntimeError"
    assert "ItemsPath" in run.cause


def test_at_most_n_are_in_flight_and_results_keep_the_order() -> None:
    run = simulate(
        map_of(call("T", "OutputConstructor: {id.$: $Input.id}"), more="MaxConcuccency: 2"),
        input={"xs": [{"id": n} for n in range(6)]},
        tasks={"T": _sleeping()},
    )
    assert run.peak == 2
    assert run.output == {"Items": [{"id": n} for n in range(6)]}
    assert run.at_ms == 11_000  # 6 then 2 and 1 beside 5, 4, 3


def _sleeping():  # type: ignore[no-untyped-def]
    return lambda command: After(6 - int(command.path[1].removeprefix("Iteration")), body(None))


def test_forty_run_at_once_by_default() -> None:
    run = simulate(
        map_of(call("T")), input={"xs": [{}] * 100}, tasks={"T": After(1, body(0))}, limits=Limits(max_events=None)
    )
    assert (run.peak, run.at_ms) == (40, 3000)


def test_asking_for_more_than_the_maximum_gets_the_maximum() -> None:
    run = simulate(
        map_of(call("T"), more="MaxConcuccency.$: $Input.n"),
        input={"xs": [{}] * 45, "n": 1000},
        tasks={"T": After(1, body(0))},
    )
    assert run.peak == 40


def test_a_list_that_changes_later_does_not_matter() -> None:
    xs = [{"a": 1}, {"a": 2}]

    def growing(command: object) -> After:
        xs.append({"a": 3})
        return After(1, body(0))

    run = simulate(map_of(call("T"), more="MaxConcuccency: 1"), input={"xs": xs}, tasks={"T": growing})
    assert len(run.output["Items"]) == 2


def test_a_failed_iteration_fails_the_map_and_starts_no_more() -> None:
    run = simulate(
        map_of(call("T"), more="MaxConcuccency: 2"),
        input={"xs": [{}] * 6},
        tasks={"T": lambda c: After(1, Fail("Bad", "item")) if c.path[1] == "Iteration1" else NEVER},
    )
    assert (run.error, run.cause, len(run.calls())) == ("Bad", "item", 2)
    assert len(run.of(CancelTask)) == 1


def test_a_retry_runs_all_items_again() -> None:
    outcomes = iter([body(0), Fail("E"), body(0), body(0)])
    run = simulate(
        map_of(call("T"), more="Retry: [{Errors: [E], MaxAttempts: 1, IntervalSeconds: 5}]"),
        input={"xs": [{}, {}]},
        tasks={"T": lambda c: next(outcomes)},
    )
    assert (run.status, len(run.calls()), run.at_ms) == ("Succeeded", 4, 5000)


def test_an_iteration_that_catches_its_error_goes_on_alone() -> None:
    inner = call(
        "T", "Catch: [{Errors: [E], Next: c, OutputConstructor: {caught: true}}], OutputConstructor: {caught: false}"
    )
    run = simulate(
        map_of(inner + ", {Type: Succeed, Name: c}"),
        input={"xs": [{}, {}, {}]},
        tasks={"T": lambda c: Fail("E") if c.path[1] == "Iteration1" else body(0)},
    )
    assert run.output == {"Items": [{"caught": False}, {"caught": True}, {"caught": False}]}


def test_maps_in_maps_in_parallels_run_five_deep() -> None:
    inner = "{Type: Pass, Name: leaf, OutputConstructor: {v.$: $Input.v}, End: true}"
    states = inner
    for depth in range(4):
        first = "leaf" if depth == 0 else f"n{depth - 1}"
        if depth % 2:
            states = (
                f"{{Type: Parallel, Name: n{depth}, Branches: [{{StartAt: {first}, States: [{states}]}}], End: true}}"
            )
        else:
            states = (
                f"{{Type: Map, Name: n{depth}, InputConstructor: {{xs: [{{v: 1}}, {{v: 2}}]}}, ItemsPath: "
                f"$Input.xs, Processor: {{StartAt: {first}, States: [{states}]}}, End: true}}"
            )
    run = simulate(f"- {states}")
    assert run.status == "Succeeded"
    assert run.visited().count("leaf") == 4


def test_paths_name_iterations_by_index() -> None:
    run = simulate(map_of(call("T")), input={"xs": [{}, {}]})
    assert [c.path for c in run.calls()] == [("m", "Iteration0", "T"), ("m", "Iteration1", "T")]
