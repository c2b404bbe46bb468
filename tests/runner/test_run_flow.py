"""run_flow end to end: real handlers, virtual time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from projects import flow_text, make_project, task, write_project

from local_sim.actions import ActionFailure, Call
from local_sim.clock import VirtualClock
from local_sim.cloud import LocalCloud
from local_sim.definition import InvalidFlowError
from local_sim.engine import HistoryEvent, Status
from local_sim.project import Project, TemplateError, load_project
from local_sim.runner import BadInput, FlowNotFound, Observer, RunResult, run_flow
from local_sim.workers import HandlerNotLoadable

HANDLERS = """\
import json, os, pathlib

class Busy(Exception):
    pass

def double(event, context):
    return json.dumps({"n": json.loads(event)["n"] * 2})

def busy(event, context):
    raise Busy("come back")

def once(event, context):
    mark = pathlib.Path(json.loads(event)["mark"])
    if mark.exists():
        return '"second"'
    mark.touch()
    raise Busy("first")

def die(event, context):
    raise SystemExit(1)

def word(event, context):
    print("said it")
    return "not json"
"""
NAMES = ["double", "busy", "once", "die", "word"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, HANDLERS, NAMES)


def run(project: Project, states: str, value: object = None, **more: object) -> RunResult:
    return run_flow(
        project,
        flow_text("f", states),
        {} if value is None else value,
        clock=more.pop("clock", None) or VirtualClock(1_000_000),  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("workers", ["in-process", "process"])
def test_a_functions_answer_is_under_body(project: Project, workers: str) -> None:
    result = run(project, task("Double", "double"), {"n": 21}, workers=workers)
    assert result.succeeded
    assert result.output["Body"] == {"n": 42}
    assert result.output["Code"] == 200
    assert (result.path, result.calls) == (("Double",), {"double": 1})
    assert result.history[0].type == "ExecutionStarted"
    assert result.history[-1].type == "ExecutionSucceeded"


def test_text_that_is_no_json_stays_text(project: Project) -> None:
    assert run(project, task("Say", "word")).output["Body"] == "not json"


def test_an_exception_is_the_error_name_and_its_detail_fcs_body(project: Project) -> None:
    result = run(project, task("Try", "busy"))
    assert (result.status, result.error) == (Status.FAILED, "Busy")
    assert json.loads(result.cause)["errorMessage"] == "come back"


def test_a_process_that_ends_is_fc_unknown(project: Project) -> None:
    assert run(project, task("Die", "die")).error == "FC.Unknown"


def test_a_retry_waits_its_interval_by_the_runs_clock(project: Project, tmp_path: Path) -> None:
    clock = VirtualClock(0)
    retry = "Retry:\n  - {Errors: [Busy], MaxAttempts: 2, IntervalSeconds: 90}"
    result = run(project, task("Try", "once", retry), {"mark": str(tmp_path / "mark")}, clock=clock)
    assert result.output["Body"] == "second"
    assert (result.calls, clock.now_ms()) == ({"once": 2}, 90_000)


def test_retries_used_up_are_caught(project: Project) -> None:
    rules = """\
    Retry:
      - {Errors: [Busy], MaxAttempts: 3, IntervalSeconds: 1, BackoffRate: 2}
    Catch:
      - Errors: [FnF.ALL]
        OutputConstructor: {why.$: $Context.Current.Error.Code}
        Next: Sorry
    """
    result = run(project, task("Try", "busy", rules) + "- {Type: Succeed, Name: Sorry}")
    assert (result.output, result.path, result.calls) == ({"why": "Busy"}, ("Try", "Sorry"), {"busy": 4})


def test_a_wait_costs_nothing_in_virtual_time(project: Project) -> None:
    clock = VirtualClock(0)
    run(project, "- {Type: Wait, Name: Nap, Seconds: 300, End: true}", clock=clock)
    assert clock.now_ms() == 300_000


def test_parallel_calls_run_in_the_order_of_their_branches(project: Project) -> None:
    order: list[str] = []

    class Watch(Observer):
        def on_history(self, execution: str, event: HistoryEvent) -> None:
            if event.type == "TaskSucceeded":
                order.append(event.step_name)

    branch = "    - {{StartAt: T{0}, States: [{{Type: Task, Name: T{0}, Action: 'X:Y', End: true}}]}}\n"
    states = "- Type: Parallel\n  Name: Fan\n  End: true\n  Branches:\n" + "".join(branch.format(n) for n in range(4))
    result = run(project, states, actions={"X:Y": lambda call: {"at": call.path[-1]}}, observer=Watch())
    assert order == ["T0", "T1", "T2", "T3"]
    assert result.output["Branch3"] == {"at": "T3"}


def test_a_registered_action_succeeds_or_fails_by_name(project: Project) -> None:
    def send(call: Call) -> object:
        if call.parameters["to"] == "nobody":
            raise ActionFailure("NoRecipient", "nobody there")
        return {"sent": call.parameters["to"]}

    states = "- {Type: Task, Name: Send, Action: MNS:SendMessage, Parameters: {to.$: $Input.to}, End: true}"
    assert run(project, states, {"to": "me"}, actions={"MNS:SendMessage": send}).output == {"sent": "me"}
    failed = run(project, states, {"to": "nobody"}, actions={"MNS:SendMessage": send})
    assert (failed.error, failed.cause) == ("NoRecipient", "nobody there")


def test_an_action_nobody_carries_out_says_how_to_give_one(project: Project) -> None:
    result = run(project, "- {Type: Task, Name: Send, Action: MNS:SendMessage, End: true}")
    assert result.error == "FnF.ActionNotSupported"
    assert "actions={'MNS:SendMessage': function}" in result.cause


def test_a_name_put_together_that_does_not_exist_fails_the_state(project: Project) -> None:
    parameters = "{resourceArn.$: 'format(\"acs:fc:::functions/{}\", $Input.f)', invocationType: Sync}"
    states = f"- {{Type: Task, Name: T, Action: FC:InvokeFunction, Parameters: {parameters}, End: true}}"
    result = run(project, states, {"f": "nobody"})
    assert result.error == "FC.FunctionNotFound"
    assert "function 'nobody' does not exist" in result.cause


@pytest.mark.parametrize("given", [[], 5, None, "text"])
def test_an_input_that_is_no_object_is_refused(project: Project, given: object) -> None:
    with pytest.raises(BadInput, match="must be a JSON object"):
        run_flow(project, flow_text("f", "- {Type: Succeed, Name: a}"), given)


def test_a_function_that_does_not_exist_is_found_before_anything_runs(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "flows" / "f.yaml"
    file.write_text(flow_text("f", task("A", "double") + task("B", "dobule")), encoding="utf-8")
    with pytest.raises(TemplateError, match=r"f\.yaml:\d+:20: unknown function 'dobule'.*did you mean 'double'"):
        run_flow(project, file, {"n": 1}, data_dir=tmp_path / "data")
    assert not list((tmp_path / "data").glob("tablestore*"))


def test_a_handler_that_cannot_be_loaded_is_found_before_anything_runs(tmp_path: Path) -> None:
    project = make_project(tmp_path, "def other(e, c): pass\n", ["missing"])
    with pytest.raises(HandlerNotLoadable, match="'missing' is not defined there"):
        run(project, task("A", "missing"))


def test_a_flow_that_does_not_exist_lists_those_that_do(project: Project) -> None:
    (project.flows / "one.yaml").write_text("", encoding="utf-8")
    with pytest.raises(FlowNotFound) as caught:
        run_flow(project, "two", {})
    assert caught.value.known == ("one",)


def test_a_malformed_flow_names_its_place(project: Project) -> None:
    text = flow_text("f", "- {Type: Pass, Name: a, Next: nowhere}")
    with pytest.raises(InvalidFlowError, match="nowhere"):
        run_flow(project, text, {})


def test_a_seed_and_a_name_make_a_run_repeatable(project: Project) -> None:
    states = "- {Type: Pass, Name: a, OutputConstructor: {id.$: uuid()}, End: true}"
    first, second = (run(project, states, seed="s", name="n") for _ in range(2))
    assert first.history == second.history
    assert first.execution == "n"


def test_a_flow_without_functions_starts_no_service(project: Project) -> None:
    with LocalCloud(project) as cloud:
        run(project, "- {Type: Succeed, Name: a}", cloud=cloud)
        assert not cloud.started


class TestObserver:
    """What the hooks see."""

    def test_states_retries_catches_and_logs(self, project: Project) -> None:
        seen: list[tuple[object, ...]] = []

        class Watch(Observer):
            def on_history(self, execution: str, event: HistoryEvent) -> None:
                if event.type in ("StepEntered", "StepExited", "StepFailed"):
                    seen.append((event.type, event.step_name, event.detail.get("next")))

            def on_retry(self, execution: str, state: str, due_ms: int) -> None:
                seen.append(("retry", state, due_ms))

            def on_logs(self, function: str, text: str) -> None:
                seen.append(("log", function, text))

        rules = (
            "Retry:\n  - {Errors: [Busy], MaxAttempts: 1, IntervalSeconds: 2}\nCatch:\n  - {Errors: [Busy], Next: Say}"
        )
        run(project, task("Try", "busy", rules) + task("Say", "word"), clock=VirtualClock(0), observer=Watch())
        assert seen == [
            ("StepEntered", "Try", None),
            ("retry", "Try", 2000),
            ("StepFailed", "Try", "Say"),
            ("StepExited", "Try", None),
            ("StepEntered", "Say", None),
            ("log", "word", "said it\n"),
            ("StepExited", "Say", None),
        ]


class TestCloud:
    """The services behind handlers."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        write_project(tmp_path, "import json, os\ndef env(e, c):\n    return json.dumps(dict(os.environ))\n", ["env"])
        hook = "import os, pathlib\ndef setup():\n    with open(os.environ['NOTES'], 'a') as f:\n"
        (tmp_path / "hooks.py").write_text(
            hook + "        f.write(os.environ['TABLESTORE_ENDPOINT'] + '\\n')\n", "utf-8"
        )
        table = '[tool.local-sim]\nsetup = "hooks:setup"\n[tool.local-sim.environment]\nNOTES = "{data}/notes"\n'
        (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
        return tmp_path

    def test_handlers_get_the_endpoints_and_the_setup_hook_ran_once(self, folder: Path) -> None:
        project, data = load_project(folder), folder / "data"
        first, second = (run(project, task("E", "env"), data_dir=data) for _ in range(2))
        seen = second.output["Body"]
        assert seen["TABLESTORE_ENDPOINT"].startswith("http://127.0.0.1:")
        assert seen["OSS_ENDPOINT"].startswith("http://127.0.0.1:")
        assert {seen["TABLESTORE_INSTANCE"], seen["OSS_BUCKET"]} == {"local", "local-bucket"}
        notes = (data / "notes").read_text(encoding="utf-8").split()
        assert notes == [first.output["Body"]["TABLESTORE_ENDPOINT"]]

    def test_a_failing_hook_is_named(self, folder: Path) -> None:
        (folder / "hooks.py").write_text("def setup():\n    raise RuntimeError('no table')\n", encoding="utf-8")
        from local_sim.cloud import CloudError

        with pytest.raises(CloudError, match="setup hook hooks:setup failed: RuntimeError: no table"):
            run(load_project(folder), task("E", "env"))

    def test_the_environment_is_as_before_after_a_run(self, folder: Path) -> None:
        before = dict(os.environ)
        run(load_project(folder), task("E", "env"))
        assert dict(os.environ) == before


@pytest.fixture(autouse=True)
def fresh_hooks() -> Iterator[None]:
    import sys

    yield
    sys.modules.pop("hooks", None)
