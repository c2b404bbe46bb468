"""The law of the converter: on the same mocks, the old flow and the new one end alike, and the checker takes the new."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from engine_kit import Fail, Run, body, simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from local_sim.definition import check_flow, load_flow
from local_sim.definition.legacy.convert import convert

ARN = "acs:fc:::services/s/functions/f"
KEYS = ("a", "b", "n")
Step = dict[str, Any]


def mock() -> Callable[[Any], Any]:
    """Return a function that answers by step and lap, and reads its event: the laps of a loop are seen in `n`."""
    laps: Counter[str] = Counter()

    def answer(command: Any) -> Any:
        name = command.path[-1]
        laps[name] += 1
        if name.startswith("bad") and command.attempt < 4:
            return Fail("Bad", "no")
        return body({"n": laps[name], "seen": sorted(command.parameters["body"])})

    return answer


class Names:
    """Fresh names, so that a mock knows a step wherever it stands."""

    def __init__(self) -> None:
        self._made = 0

    def fresh(self, kind: str) -> str:
        self._made += 1
        return f"{kind}{self._made}"


SOURCES = st.sampled_from(
    [
        "$input.a",
        "$input.b",
        "$input.n",
        "$input",
        "$local",
        "text",
        7,
        True,
        None,
        {"k": [1]},
        "$context.execution.name",
    ]
)


def mappings(sources: Any) -> Any:
    return st.lists(
        st.builds(lambda target, source: {"target": target, "source": source}, st.sampled_from(KEYS), sources),
        max_size=3,
    )


@st.composite
def step(draw: DrawFn, names: Names, depth: int) -> list[Step]:
    """Return one step, or the few a loop is made of."""
    kinds = ["pass", "task", "wait", "loop", "saga", *(["choice", "parallel"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    made: Step = {"type": kind, "name": names.fresh(kind)}
    if draw(st.booleans()):
        made["inputMappings"] = draw(mappings(SOURCES))
    if kind == "loop":
        task: Step = {"type": "task", "name": names.fresh("tick"), "resourceArn": ARN}
        guard = {"condition": f"$.n < {draw(st.integers(1, 3))}", "goto": task["name"]}
        return [task, {"type": "choice", "name": names.fresh("again"), "choices": [guard]}]
    if kind == "saga":
        undo = names.fresh("undo")
        task = {
            "type": "task",
            "name": names.fresh("bad"),
            "resourceArn": ARN,
            "catch": [{"errors": ["Bad"], "goto": undo}],
        }
        task["retry"] = [{"errors": ["Bad"], "maxAttempts": draw(st.integers(0, 4))}]
        if draw(st.booleans()):
            task["errorMappings"] = [{"target": "b", "source": "$local.error"}, {"target": "k", "source": 1}]
        return [task, {"type": "pass", "name": undo, "outputMappings": [{"target": "a", "source": 1}]}]
    if kind == "task":
        made["resourceArn"] = ARN
        if draw(st.booleans()):
            made["outputMappings"] = [{"target": "a", "source": "$local.n"}, {"target": "b", "source": "$local"}]
    elif kind == "wait":
        made["duration"] = draw(st.sampled_from([0, 1, 300, 301, 700, 1200]))
    elif kind == "choice":
        options = [
            {
                "condition": draw(
                    st.sampled_from(["$.a == 1", '$.b == "x"', "$.n > 1 && $.n < 9", "$.a == 7 || $.n == 2"])
                )
            }
        ]
        for option in options:
            option.update({"steps": draw(steps(names, depth - 1))})
        made["choices"] = options
        if draw(st.booleans()):
            made["default"] = {"steps": draw(steps(names, depth - 1))}
    elif kind == "parallel":
        made["branches"] = [{"steps": draw(steps(names, depth - 1))} for _ in range(draw(st.integers(1, 2)))]
        if draw(st.booleans()):
            made["outputMappings"] = [{"target": "b", "source": draw(st.sampled_from(["$local", "$local[0]"]))}]
    if kind == "pass" and draw(st.booleans()):
        made["outputMappings"] = draw(mappings(st.sampled_from(["$input.a", "$input.b", "$local.n", 3, "z"])))
    return [made]


@st.composite
def steps(draw: DrawFn, names: Names, depth: int) -> list[Step]:
    """Return a list of steps; one may end it early."""
    found = [one for _ in range(draw(st.integers(1, 3))) for one in draw(step(names, depth))]
    if draw(st.integers(0, 5)) == 0:
        found.insert(draw(st.integers(0, len(found))), {"type": "succeed", "name": names.fresh("stop")})
    return found


@st.composite
def flows(draw: DrawFn) -> dict[str, Any]:
    flow: dict[str, Any] = {"version": "v1", "type": "flow", "name": "law", "steps": draw(steps(Names(), 2))}
    if draw(st.booleans()):
        flow["outputMappings"] = [{"target": "out", "source": "$local"}]
    return flow


def run(text: str, given: dict[str, Any]) -> Run:
    flow = load_flow(text)
    answer = mock()
    tasks = dict.fromkeys(set(_task_names(text)), answer)
    return simulate(flow, input=given, tasks=tasks)


def _task_names(text: str) -> list[str]:
    return [f"{kind}{number}" for kind in ("task", "tick", "bad") for number in range(80)]


@settings(max_examples=250, deadline=None)
@given(
    flows(),
    st.fixed_dictionaries(
        {"a": st.sampled_from([1, 7, "q"]), "b": st.sampled_from(["x", "y"]), "n": st.integers(0, 9)}
    ),
)
def test_the_converted_flow_ends_as_the_old_one(flow: dict[str, Any], given_input: dict[str, Any]) -> None:
    text = json.dumps(flow)
    converted = convert(text, "law.json")
    assert not converted.lost
    assert check_flow(converted.text).errors == ()
    old, new = run(text, given_input), run(converted.text, given_input)
    assert new.status == old.status, (old.error, old.cause, new.error, new.cause, converted.text)
    assert new.error == old.error
    wrapped = any("{local: ...}" in remark.message for remark in converted.remarks)
    expected = {"local": old.output} if wrapped and old.status == "Succeeded" else old.output
    assert new.output == expected
    assert [call.parameters["body"] for call in new.calls()] == [call.parameters["body"] for call in old.calls()]
