"""Tasks, branches and the idioms of public flows, row by row."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

from engine_kit import NEVER, Fail, Reported
from legacy_kit import Row, body, rows

F = "resourceArn: 'acs:fc:::services/s/functions/f'"


@rows(
    Row(
        "6.2",
        "the event is the mapped input",
        f"- {{type: task, name: t, {F}, inputMappings: [{{target: a, source: $input.b}}]}}",
        {"a": 5},
        input={"b": 5},
        tasks={"t": lambda command: body(command.parameters["body"])},
    ),
    Row(
        "4",
        "the result becomes the local",
        f"- {{type: task, name: t, {F}, outputMappings: [{{target: v, source: $local.r}}]}}",
        {"v": 1},
        tasks={"t": body({"r": 1, "s": 2})},
    ),
    Row(
        "B06",
        "a result that is a list",
        f"- {{type: task, name: t, {F}}}",
        error="FnF.InvalidLocal",
        cause="array",
        tasks={"t": body([1])},
    ),
    Row(
        "B06",
        "a result that is no JSON",
        f"- {{type: task, name: t, {F}}}",
        error="FnF.InvalidLocal",
        cause="text",
        tasks={"t": body("oops")},
    ),
    Row(
        "7.2",
        "FnF.InvalidLocal can be caught",
        f"- {{type: task, name: t, {F}, catch: [{{errors: [FnF.InvalidLocal], goto: z}}]}}\n- {{type: fail, name: f}}\n- {{type: succeed, name: z}}",
        {},
        tasks={"t": body(None)},
    ),
    Row(
        "7.1",
        "retries after 10, 20 and 40 s",
        f"- {{type: task, name: t, {F}, retry: [{{errors: [E], intervalSeconds: 10}}]}}",
        error="E",
        tasks={"t": Fail("E")},
        seconds=70,
    ),
    Row(
        "7.1",
        "defaults: 1, 2 and 4 s, 3 retries",
        f"- {{type: task, name: t, {F}, retry: [{{errors: [E]}}]}}",
        error="E",
        tasks={"t": Fail("E")},
        seconds=7,
    ),
    Row(
        "7.1",
        "the cap bites",
        f"- {{type: task, name: t, {F}, retry: [{{errors: [E], intervalSeconds: 10, maxIntervalSeconds: 15}}]}}",
        error="E",
        tasks={"t": Fail("E")},
        seconds=40,
    ),
    Row(
        "12 http-task",
        "10 s cap from the seventh interval, factor 1.5",
        f"- {{type: task, name: t, {F}, retry: [{{errors: [E], maxAttempts: 8, multiplier: 1.5, maxIntervalSeconds: 10}}]}}",
        error="E",
        tasks={"t": Fail("E")},
        seconds=40.781,
    ),
    Row(
        "12 video-processing",
        "16 attempts, factor 2: the last interval is capped at a day",
        f"- {{type: task, name: t, {F}, retry: [{{errors: [E], intervalSeconds: 3, maxAttempts: 16}}]}}",
        error="E",
        tasks={"t": Fail("E")},
        seconds=3 * (2**15 - 1) + 86400,
    ),
    Row(
        "7.1",
        "maxAttempts 0 means no retry",
        f"- {{type: task, name: t, {F}, retry: [{{errors: [E], maxAttempts: 0}}]}}",
        error="E",
        tasks={"t": Fail("E")},
        seconds=0,
    ),
    Row(
        "7.2",
        "a function's own error, without prefix",
        f"- {{type: task, name: t, {F}, catch: [{{errors: [BookTrainTicketError], goto: z}}]}}\n- {{type: fail, name: f}}\n- {{type: succeed, name: z}}",
        {},
        tasks={"t": Fail("BookTrainTicketError")},
    ),
    Row(
        "7.2",
        "FnF.ALL matches all",
        f"- {{type: task, name: t, {F}, catch: [{{errors: [FnF.ALL], goto: z}}]}}\n- {{type: fail, name: f}}\n- {{type: succeed, name: z}}",
        {},
        tasks={"t": Fail("X")},
    ),
    Row(
        "2.3",
        "errorMappings hand on error and cause",
        f"- {{type: task, name: t, {F}, catch: [{{errors: [E], goto: z}}], errorMappings: [{{target: e, source: $local.error}}, {{target: c, source: $local.cause}}, {{target: k, source: 1}}]}}\n- {{type: succeed, name: z}}",
        {"e": "E", "c": "why", "k": 1},
        tasks={"t": Fail("E", "why")},
    ),
    Row(
        "2.3",
        "errorMappings have no effect without a catch",
        f"- {{type: task, name: t, {F}, errorMappings: [{{target: e, source: $local.error}}]}}",
        error="E",
        tasks={"t": Fail("E")},
    ),
    Row(
        "7.2",
        "the task's time",
        f"- {{type: task, name: t, {F}, timeoutSeconds: 5, catch: [{{errors: [FnF.TaskTimeout], goto: z}}]}}\n- {{type: succeed, name: z}}",
        {},
        tasks={"t": NEVER},
        seconds=5,
    ),
    Row(
        "4",
        "a callback's report becomes the local",
        f"- {{type: task, name: t, {F}, pattern: waitForCallback, inputMappings: [{{target: tok, source: $context.task.token}}]}}",
        {"ok": True},
        tasks={"t": Reported({"ok": True})},
    ),
    Row(
        "B20",
        "sync on a function: its result is the local",
        f"- {{type: task, name: t, {F}, pattern: sync}}",
        {"r": 1},
        tasks={"t": Reported(body({"r": 1}))},
    ),
    Row(
        "6.2",
        "a sub-flow's output in sync",
        "- {type: task, name: t, resourceArn: 'acs:fnf:::flow/child', pattern: sync, serviceParams: {Input: $}}",
        {"r": 1},
        tasks={"t": Reported({"r": 1})},
    ),
    Row(
        "7.1",
        "ReportTaskFailed's error is what catch matches",
        f"- {{type: task, name: t, {F}, pattern: waitForCallback, catch: [{{errors: [No], goto: z}}], errorMappings: [{{target: c, source: $local.cause}}]}}\n- {{type: succeed, name: z}}",
        {"c": "why"},
        tasks={"t": Reported(Fail("No", "why"))},
    ),
    Row(
        "B21",
        "an SDK action",
        "- {type: task, name: t, action: 'ocr:RecognizeIdentityCard', serviceParams: {Url: $.u}}",
        {"Url": 1},
        input={"u": 1},
        tasks={"t": lambda command: command.parameters},
    ),
    Row(
        "6.2",
        "MNS",
        "- {type: task, name: t, resourceArn: 'acs:mns:::/topics/t/messages', serviceParams: {MessageBody: $, MessageTag: x}}",
        {"resourceArn": "acs:mns:::/topics/t/messages", "messageBody": {"a": 1}, "messageTag": "x"},
        input={"a": 1},
        tasks={"t": lambda command: command.parameters},
    ),
    Row(
        "6.2",
        "paths inside serviceParams",
        "- {type: task, name: t, action: 'a:B', serviceParams: {M: {k: $.a, l: [$.a, 2]}}}",
        {"M": {"k": 1, "l": [1, 2]}},
        input={"a": 1},
        tasks={"t": lambda command: command.parameters},
    ),
)
def test_tasks(row: Row) -> None:
    row.check()


P = "{type: pass, name: %s, outputMappings: [{target: v, source: %s}]}"


@rows(
    Row(
        "2.4",
        "parallel: the local is an array by branch",
        f"- type: parallel\n  name: p\n  branches: [{{steps: [{P % ('a', 1)}]}}, {{steps: [{P % ('b', 2)}]}}]\n  outputMappings: [{{target: all, source: '$local[*].v'}}, {{target: one, source: '$local[1].v'}}]",
        {"all": [1, 2], "one": 2},
    ),
    Row(
        "2.4",
        "parallel: no default output",
        f"- type: parallel\n  name: p\n  branches: [{{steps: [{P % ('a', 1)}]}}]",
        {},
    ),
    Row(
        "2.4",
        "parallel: the first failure fails it",
        f"- type: parallel\n  name: p\n  branches: [{{steps: [{{type: fail, name: f, error: E}}]}}, {{steps: [{P % ('b', 2)}]}}]",
        error="E",
    ),
    Row(
        "2.4",
        "foreach: once an item",
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.names, item: name}\n  steps: [{type: pass, name: a, outputMappings: [{target: v, source: $input.name}]}]\n  outputMappings: [{target: all, source: '$local[*].v'}]",
        {"all": ["x", "y"]},
        input={"names": ["x", "y"]},
    ),
    Row(
        "2.4",
        "foreach: no default output",
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.names, item: name}\n  steps: [{type: pass, name: a}]",
        {},
        input={"names": [1]},
    ),
    Row(
        "B08",
        "foreach: index and outer values",
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.names, item: name, index: i}\n  steps: [{type: pass, name: a, outputMappings: [{target: v, source: $input.i}, {target: k, source: $input.outer}]}]\n  outputMappings: [{target: all, source: $local}]",
        {"all": [{"v": 0, "k": 9}, {"v": 1, "k": 9}]},
        input={"names": ["x", "y"], "outer": 9},
    ),
    Row(
        "2.4",
        "foreach: an empty collection",
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.names, item: name}\n  steps: [{type: fail, name: a}]\n  outputMappings: [{target: all, source: $local}]",
        {"all": []},
        input={"names": []},
    ),
    Row(
        "B04",
        "foreach: no array",
        "- type: foreach\n  name: e\n  iterationMapping: {collection: $.names, item: name}\n  steps: [{type: pass, name: a}]",
        error="FnF.RuntimeError",
        cause="array",
        input={"names": {}},
    ),
    Row(
        "C19",
        "a foreach inside a foreach whose task retries 16 times",
        "- type: foreach\n  name: outer\n  iterationMapping: {collection: $.rows, item: row}\n  steps:\n"
        "    - type: foreach\n      name: inner\n      iterationMapping: {collection: $.row, item: cell}\n      steps:\n"
        f"        - {{type: task, name: t, {F}, retry: [{{errors: [E], maxAttempts: 16, multiplier: 1}}],"
        " outputMappings: [{target: v, source: $local.cell}]}\n"
        "      outputMappings: [{target: cells, source: '$local[*].v'}]\n"
        "  outputMappings: [{target: all, source: '$local[*].cells'}]",
        {"all": [[1, 2], [3]]},
        input={"rows": [[1, 2], [3]]},
        tasks={
            "t": lambda command: (
                Fail("E") if command.attempt < 16 else body({"cell": command.parameters["body"]["cell"]})
            )
        },
        seconds=16,
    ),
)
def test_branches(row: Row) -> None:
    row.check()


CANCEL = "- {type: task, name: %s, " + F + "}\n"


@rows(
    Row(
        "11.3 saga",
        "cancel steps fall through to each other and end in a fail",
        f"- {{type: task, name: train, {F}, catch: [{{errors: [FnF.ALL], goto: failed}}]}}\n"
        f"- {{type: task, name: flight, {F}, catch: [{{errors: [BookFlightError], goto: cancelTrain}}]}}\n"
        f"- {{type: task, name: hotel, {F}, catch: [{{errors: [BookHotelError], goto: cancelFlight}}], end: true}}\n"
        + CANCEL % "cancelFlight"
        + CANCEL % "cancelTrain"
        + "- {type: fail, name: failed, error: TripFailed}",
        error="TripFailed",
        tasks={
            "hotel": Fail("BookHotelError"),
            **dict.fromkeys(("train", "flight", "cancelFlight", "cancelTrain"), body({})),
        },
        visited="train flight hotel cancelFlight cancelTrain failed",
    ),
    Row(
        "11.3 loop",
        "poll, wait, check",
        f"- {{type: task, name: start, {F}}}\n- {{type: wait, name: w, duration: 30}}\n- {{type: task, name: poll, {F}}}\n"
        """- {type: choice, name: check, choices: [{condition: '$.s == "done"', goto: z}], default: {goto: w}}\n"""
        "- {type: succeed, name: z}",
        {"s": "done"},
        tasks={
            "start": body({}),
            "poll": (lambda it: lambda command: body({"s": next(it)}))(iter(("run", "run", "done"))),
        },
        seconds=90,
    ),
    Row(
        "11.3 guard",
        "a loop that guards itself by the event id",
        "- {type: pass, name: a, inputMappings: [{target: id, source: $context.step.eventId}]}\n"
        "- {type: choice, name: c, choices: [{condition: $.id < 40, goto: a}]}",
        {"id": 42},
    ),
)
def test_idioms(row: Row) -> None:
    row.check()
