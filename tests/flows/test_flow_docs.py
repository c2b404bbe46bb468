"""docs/flows.md and its Chinese version name what the flows have, and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from flow_kit import ROOT

from functions.models import Answer, Review

LANGUAGES = ["docs/flows.md", "docs/flows.zh-CN.md"]
both = pytest.mark.parametrize("page", LANGUAGES)


def states(flow: str) -> dict[str, dict[str, Any]]:
    definition = yaml.safe_load((ROOT / f"flows/{flow}.yaml").read_text(encoding="utf-8"))
    return {state["Name"]: state for state in definition["States"]}


def section(page: str, flow: str) -> str:
    """The part of a page under the flow's heading."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return text.split(f"\n## {flow}\n", 1)[1].split("\n## ", 1)[0]


def drawn(text: str) -> set[str]:
    picture = text.split("```mermaid", 1)[1].split("```", 1)[0]
    return set(re.findall(r"[A-Z]{1,2}(?:\[|\{\{|\(\()([A-Za-z]+)", picture))


@both
@pytest.mark.parametrize("flow", ["content_review", "opc_minimal", "order_saga"])
def test_the_picture_has_every_state(page: str, flow: str) -> None:
    assert drawn(section(page, flow)) == set(states(flow)) - {"CountHandovers"}


@both
def test_the_table_names_the_function_of_every_task(page: str) -> None:
    wanted = {
        (name, state["Parameters"]["resourceArn"].split("/")[1])
        for name, state in states("content_review").items()
        if state["Type"] == "Task"
    }
    assert set(re.findall(r"(?m)^\| (\w+) \| [^|]+ \| `([a-z-]+)` \|", section(page, "content_review"))) == wanted


@both
def test_the_table_of_the_order_names_its_own_functions(page: str) -> None:
    review = {state["Parameters"]["resourceArn"] for state in states("content_review").values() if "Action" in state}
    wanted = {
        (name, state["Parameters"]["resourceArn"].split("/")[1])
        for name, state in states("order_saga").items()
        if "Action" in state and state["Parameters"]["resourceArn"] not in review
    }
    assert set(re.findall(r"(?m)^\| (\w+) \| `([a-z-]+)` \|", section(page, "order_saga"))) == wanted


@both
def test_every_answer_that_is_shown_can_be_given(page: str) -> None:
    shown = re.findall(r"`(\{\"decision\".*?\})`", section(page, "content_review"))
    assert len(shown) == 9
    for text in shown:
        answer = json.loads(re.sub(r", \.\.\.\}", "}", text))
        kind = Answer if answer["decision"] in {"retry", "compensate", "abandon"} else Review
        assert kind.model_validate(answer).decision == answer["decision"]


@both
def test_the_errors_that_are_shown_are_those_that_are_caught(page: str) -> None:
    caught = {
        error
        for state in states("content_review").values()
        for rule in [*state.get("Retry", []), *state.get("Catch", [])]
        for error in rule["Errors"]
    }
    text = section(page, "content_review")
    assert caught - {"FnF.ALL"} <= set(re.findall(r"`([A-Za-z.]+)`", text))


def test_both_languages_say_the_same_in_the_same_order() -> None:
    shapes = []
    for page in LANGUAGES:
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        shapes.append([line.split()[0] + str(line.count("|")) for line in lines if line.startswith(("#", "|"))])
    assert shapes[0] == shapes[1]
    assert len(shapes[0]) > 50
