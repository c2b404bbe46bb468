"""Sizes, events, timeouts, Standard and Express, row by row (LIM, IO, EXEC, TASK; A16, A24, A25, A35, A67, A69)."""

from __future__ import annotations

from engine_kit import NEVER, After, Reported, Row, body, flow_of, rows, simulate, task

from local_sim.engine import Limits

KIB = 1024
EXPRESS = Limits().express()
CALLBACK = "TaskMode: WaitForCustomCallback"
CATCH = "Catch: [{Errors: [FnF.ALL], OutputConstructor: {e.$: $Context.Current.Error.Code}, Next: z}]"
DONE = "- {Type: Succeed, Name: z}"
LAPS = """
- {Type: Pass, Name: a, OutputConstructor: {n: 0}, Next: b}
- {Type: Pass, Name: b, OutputConstructor: {n.$: 'intAdd($Input.n, 1)'}, Next: c}
- {Type: Choice, Name: c, Branches: [{Condition: $Input.n < %d, Next: b}], Default: z}
- {Type: Succeed, Name: z}
"""


def text(size: int) -> dict[str, str]:
    return {"t": "x" * (size - len('{"t":""}'))}


@rows(
    Row("LIM", "64 KiB of input", "- {Type: Succeed, Name: s, OutputConstructor: {}}", {}, input=text(64 * KIB)),
    Row("A24", "a byte more", DONE, error="FnF.InputSizeExceeded", cause="65537 bytes", input=text(64 * KIB + 1)),
    Row("IO", "64 KiB of a task's result", task("T"), text(64 * KIB), tasks={"T": text(64 * KIB)}),
    Row("A24", "a byte more of it", task("T"), error="FnF.OutputSizeExceeded", tasks={"T": text(64 * KIB + 1)}),
    Row(
        "A67",
        "Catch takes a state's size error",
        task("T", CATCH) + DONE,
        {"e": "FnF.OutputSizeExceeded"},
        tasks={"T": text(70 * KIB)},
    ),
    Row("LIM", "the old product's 32 KiB do not count here", task("T"), text(33 * KIB), tasks={"T": text(33 * KIB)}),
    Row(
        "A67",
        "Parameters over the limit fail the state before the call",
        "- {Type: Task, Name: T, Action: 'X:Y', Parameters: {a.$: $Input, b.$: $Input}, End: true}",
        error="FnF.InputSizeExceeded",
        input=text(40 * KIB),
        calls=0,
    ),
    Row("A35", "a loop below 5,000 events", LAPS % 500, {"n": 500}),
    Row("A35", "a loop above", LAPS % 1500, error="FnF.HistoryLimitExceeded", cause="5000"),
    Row(
        "GLOB",
        "a global may be written by any state",
        "- {Type: Pass, Name: s, GlobalConstructor: {g: 1}, End: true}",
        {},
    ),
    Row("TASK", "a task in time", task("T", "Timeout: 5"), body(1), tasks={"T": After(4, body(1))}),
    Row("TASK", "a task too late", task("T", "Timeout: 5"), error="FnF.TaskTimeout", tasks={"T": After(6, body(1))}),
    Row("TASK", "Timeout 0 never comes", task("T", "Timeout: 0"), body(1), tasks={"T": After(10**6, body(1))}),
    Row(
        "A16",
        "the timeout is one attempt's",
        task("T", "Timeout: 5, Retry: [{Errors: [FnF.TaskTimeout], MaxAttempts: 1, IntervalSeconds: 60}]"),
        body(1),
        tasks={"T": [After(9, body(0)), After(4, body(1))]},
        calls=2,
    ),
    Row(
        "TASK",
        "Catch takes a timeout",
        task("T", "Timeout: 5, " + CATCH) + DONE,
        {"e": "FnF.TaskTimeout"},
        tasks={"T": NEVER},
    ),
    Row("EXEC", "Express: RequestComplete", task("T"), body(1), tasks={"T": body(1)}, limits=EXPRESS),
    Row(
        "A69",
        "Express: no callbacks",
        task("T", CALLBACK),
        error="FnF.RuntimeError",
        cause="Express",
        tasks={"T": Reported({})},
        limits=EXPRESS,
    ),
    Row(
        "WAIT",
        "Express: a Wait over 20 s",
        "- {Type: Wait, Name: w, Seconds.$: $Input.s, End: true}",
        error="FnF.RuntimeError",
        input={"s": 21},
        limits=EXPRESS,
    ),
)
def test_limits(row: Row) -> None:
    row.check()


@rows(
    Row("A25", "the flow's own Timeout", task("T"), head="Timeout: 30", tasks={"T": NEVER}),
    Row("A25", "no Catch takes it", task("T", CATCH) + DONE, head="Timeout: 30", tasks={"T": NEVER}),
    Row("EXEC", "five minutes of an Express flow", task("T"), tasks={"T": NEVER}, limits=EXPRESS),
    Row("EXEC", "a year of a Standard one", task("T"), tasks={"T": NEVER}),
)
def test_executions_that_time_out(row: Row) -> None:
    run = simulate(flow_of(row.states, head=row.head), tasks=row.tasks, limits=row.limits)
    assert (run.status, run.error) == ("TimedOut", "FnF.ExecutionTimeout")
    assert run.at_ms // 1000 in (30, 300, 365 * 86_400)
