"""What the shipped definitions promise, read from the files themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from flow_kit import ROOT

from local_sim.definition.loader import check_flow
from local_sim.project import load_project

FLOWS = sorted((ROOT / "flows").glob("*.yaml"))
TYPED = {
    "InvalidInput",
    "OrderRefused",
    "ResultConflict",
    "ReviewRejected",
    "SystemFault",
    "TemporaryUpstreamError",
    "UncertainOutcome",
    "VersionMismatch",
}
PLATFORM = {"FnF.ALL", "FnF.TaskTimeout"} | {
    f"FC.{name}" for name in ("ResourceThrottled", "ResourceExhausted", "InternalServerError", "Unknown")
}


def definition(file: Any) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text(encoding="utf-8")))


def tasks(file: Any) -> Iterator[dict[str, Any]]:
    yield from (state for state in definition(file)["States"] if state["Type"] == "Task")


pytestmark = pytest.mark.parametrize("file", FLOWS, ids=lambda file: file.stem)


def test_the_strict_checker_finds_nothing(file: Any) -> None:
    functions = {name: sorted(TYPED) for name in load_project(ROOT, environment={}).functions}
    report = check_flow(file.read_text(encoding="utf-8"), file.name, functions=functions, strict=True)
    assert report.findings == ()


def test_the_flow_is_named_as_its_file_and_starts_with_begin(file: Any) -> None:
    flow = definition(file)
    assert (flow["Type"], flow["SpecVersion"]) == ("StateMachine", "v1")
    assert (flow["Name"], flow["StartAt"]) == (file.stem, "Begin")


def test_every_task_calls_a_function_of_s_yaml(file: Any) -> None:
    known = load_project(ROOT, environment={}).functions
    for task in tasks(file):
        arn = task["Parameters"]["resourceArn"]
        match = re.fullmatch(r"acs:fc:::functions/([a-z-]+)/LATEST", arn)
        assert match, arn
        assert match[1] in known
        assert task["Parameters"]["invocationType"] == "Sync"


def test_every_task_is_retried_at_most_twice_with_a_growing_interval(file: Any) -> None:
    for task in tasks(file):
        (rule,) = task["Retry"]
        assert rule["MaxAttempts"] == 2
        assert rule["BackoffRate"] > 1
        assert set(rule["Errors"]) == {"TemporaryUpstreamError"} | {name for name in PLATFORM if name[:3] == "FC."}


def test_every_task_catches_everything_with_its_own_output_last(file: Any) -> None:
    for task in tasks(file):
        assert task["Catch"][-1]["Errors"] == ["FnF.ALL"], task["Name"]
        assert all(rule["OutputConstructor"] for rule in task["Catch"])
        assert not any("FnF.ALL" in rule["Errors"] for rule in task["Catch"][:-1])


def test_only_names_that_exist_are_caught(file: Any) -> None:
    for task in tasks(file):
        for rule in task["Retry"] + task["Catch"]:
            assert set(rule["Errors"]) <= TYPED | PLATFORM


def test_a_task_waits_longer_than_its_function_may_run(file: Any) -> None:
    functions = load_project(ROOT, environment={}).functions
    for task in tasks(file):
        function = functions[task["Parameters"]["resourceArn"].split("/")[1]]
        assert task["Timeout"] > function.timeout


def test_every_callback_hands_the_token_over_and_has_a_limit_of_at_most_seven_days(file: Any) -> None:
    waiting = [task for task in tasks(file) if task.get("TaskMode") == "WaitForCustomCallback"]
    assert waiting
    for task in waiting:
        assert task["Parameters"]["body"]["token.$"] == "$Context.Current.TaskToken"
        assert 0 < task["Timeout"] <= 604_800
        assert any("FnF.TaskTimeout" in rule["Errors"] for rule in task["Catch"])


def test_only_the_body_of_an_answer_is_read(file: Any) -> None:
    for task in tasks(file):
        if task.get("TaskMode") == "WaitForCustomCallback":
            continue
        read = re.findall(r"\$Output(\.\w+)?", repr(task))
        assert set(read) <= {".Body"}


def test_the_step_of_the_ledger_is_the_name_of_the_state(file: Any) -> None:
    assert {task["Parameters"]["body"]["step.$"] for task in tasks(file)} == {"$Context.Current.Name"}


def test_the_workflow_version_names_the_flow_and_is_the_same_everywhere(file: Any) -> None:
    versions = {task["Parameters"]["body"].get("workflow") for task in tasks(file)} - {None}
    (version,) = versions
    assert version.rsplit("-", 1)[0] == file.stem


def test_no_anchor_and_no_placeholder_is_used(file: Any) -> None:
    text = "\n".join(line.split("#", 1)[0] for line in file.read_text(encoding="utf-8").splitlines())
    assert not re.search(r"(?m)(?:^|\s)[&*][A-Za-z]\w*\s*$|<<:|\$\{", text)
