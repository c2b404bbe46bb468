"""`$Global`: written at the end of a state, read everywhere, last writer wins (GLOB)."""

from __future__ import annotations

import pytest
from engine_kit import After, Row, body, rows, simulate, task

from local_sim.engine import Limits

SHOW = "- {Type: Pass, Name: show, OutputConstructor: {g.$: $Global}, End: true}\n"


def put(name: str, constructor: str, *, onward: str = "show", more: str = "") -> str:
    extra = f", {more}" if more else ""
    return f"- {{Type: Pass, Name: {name}, GlobalConstructor: {constructor}, Next: {onward}{extra}}}\n"


@rows(
    Row("GLOB", "empty at the start", SHOW, {"g": {}}),
    Row(
        "GLOB",
        "new keys are merged",
        put("a", "{x: 1}", onward="b") + put("b", "{y: 2}") + SHOW,
        {"g": {"x": 1, "y": 2}},
    ),
    Row(
        "GLOB", "an old key is overwritten", put("a", "{x: 1}", onward="b") + put("b", "{x: 2}") + SHOW, {"g": {"x": 2}}
    ),
    Row(
        "GLOB",
        "its $Output is the raw result",
        task("T", "OutputConstructor: {v: 0}, GlobalConstructor: {r.$: $Output.Body}", next_state="show") + SHOW,
        {"g": {"r": 5}},
        tasks={"T": body(5)},
    ),
    Row(
        "GLOB",
        "OutputConstructor sees the value before",
        put("a", "{x: 1}", more="OutputConstructor: {was.$: $Global}", onward="b")
        + "- {Type: Pass, Name: b, OutputConstructor: {was.$: $Input.was, is.$: $Global}, End: true}",
        {"was": {}, "is": {"x": 1}},
    ),
    Row(
        "GLOB",
        "it reads itself",
        put("a", "{n: 1}", onward="b") + put("b", "{n.$: 'intAdd($Global.n, 1)'}") + SHOW,
        {"g": {"n": 2}},
    ),
    Row("GLOB", "it reads $Input", put("a", "{n.$: $Input.n}") + SHOW, {"g": {"n": 7}}, input={"n": 7}),
    Row(
        "GLOB",
        "readable in Parameters",
        put("a", "{n: 1}", onward="T")
        + (
            "- {Type: Task, Name: T, Action: 'HTTP:Request', Parameters: {url.$: $Global.n, method: GET}, "
            "OutputConstructor: {}, End: true}"
        ),
        {},
        calls=1,
    ),
    Row(
        "GLOB",
        "branches write to the same",
        (
            "- {Type: Parallel, Name: p, Next: show, Branches: [{StartAt: a, States: [{Type: Pass, Name: "
            "a, GlobalConstructor: {a: 1}, End: true}]}, {StartAt: b, States: [{Type: Pass, Name: b, "
            "GlobalConstructor: {b: 2}, End: true}]}]}\n"
        )
        + SHOW,
        {"g": {"a": 1, "b": 2}},
    ),
    Row(
        "A08",
        "one that fails fails the state",
        put("a", "{x.$: $Output.no}") + SHOW,
        error="FnF.RuntimeError",
        cause="GlobalConstructor.x",
    ),
    Row(
        "GLOB",
        "a key has a limit",
        put("a", "{kkkkk: 1}") + SHOW,
        error="FnF.RuntimeError",
        cause="over 4 bytes",
        limits=Limits(max_global_key_bytes=4),
    ),
    Row(
        "GLOB",
        "bytes, not characters",
        put("a", "{键键: 1}") + SHOW,
        error="FnF.RuntimeError",
        cause="over 4 bytes",
        limits=Limits(max_global_key_bytes=4),
    ),
    Row("GLOB", "a key of 128 bytes is fine", put("a", "{" + "k" * 128 + ": 1}") + SHOW, {"g": {"k" * 128: 1}}),
    Row(
        "GLOB",
        "also at a Wait",
        "- {Type: Wait, Name: w, Seconds: 1, GlobalConstructor: {w: 1}, Next: show}\n" + SHOW,
        {"g": {"w": 1}},
    ),
)
def test_global(row: Row) -> None:
    row.check()


def test_a_value_over_256_kib_fails_the_state() -> None:
    states = put("a", '{x.$: "toArray($Input.t, $Input.t, $Input.t, $Input.t, $Input.t)"}') + SHOW
    run = simulate(states, input={"t": "x" * 60_000})
    assert run.error == "FnF.RuntimeError"
    assert run.cause == "global value 'x' has 300016 bytes, the limit is 262144"


def test_a_value_may_be_bigger_than_a_state_output() -> None:
    states = put("a", '{x.$: "toArray($Input.t, $Input.t)"}', onward="n", more="OutputConstructor: {}") + (
        "- {Type: Pass, Name: n, OutputConstructor: {n.$: length($Global.x)}, End: true}"
    )
    assert simulate(states, input={"t": "x" * 60_000}).output == {"n": 2}


def test_the_last_writer_wins_by_simulated_time() -> None:
    branches = ", ".join(
        f"{{StartAt: {name}, States: [{task(name, f'GlobalConstructor: {{k: {name}}}')[2:].strip()}]}}"
        for name in ("A", "B")
    )
    run = simulate(
        f"- {{Type: Parallel, Name: p, Next: show, Branches: [{branches}]}}\n{SHOW}",
        tasks={"A": After(2, body(0)), "B": After(1, body(0))},
    )
    assert run.output == {"g": {"k": "A"}}


@pytest.mark.parametrize("limit", [None, 10])
def test_the_limits_can_be_changed(limit: int | None) -> None:
    run = simulate(put("a", "{x: 12345678901}") + SHOW, limits=Limits(max_global_value_bytes=limit))
    assert run.status == ("Succeeded" if limit is None else "Failed")


def test_values_seen_earlier_do_not_change() -> None:
    states = put("a", "{x: 1}", onward="b") + (
        "- {Type: Pass, Name: b, OutputConstructor: {g.$: $Global}, GlobalConstructor: {x: 2}, End: true}"
    )
    assert simulate(states).output == {"g": {"x": 1}}
