"""The FC contract of both workers: events, contexts, results, failures (function-compute reference, sections 2 to
5).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local_sim.project import Function, Unresolvable
from local_sim.project.errors import Place
from local_sim.workers import HandlerNotLoadable, InProcessWorker, ProcessWorker, Worker, WorkerEnvironment, WorkerError

HANDLERS = """\
import json, os, sys, time
import helper

class CardDeclined(Exception):
    pass

class Worse(CardDeclined):
    pass

calls = 0

def echo(event, context):
    assert type(event) is bytes
    return event

def text(event, context):
    return "中文"

def value(event, context):
    return json.loads(event)

def odd(event, context):
    return {1, 2}

def who(event, context):
    f = context.function
    facts = {"request": context.request_id, "name": f.name, "memory": f.memory, "timeout": f.timeout}
    facts["keys"] = sorted(vars(context))
    return json.dumps(facts)

def environment(event, context):
    return json.dumps(dict(os.environ))

def decline(event, context):
    raise Worse("no 钱") from ValueError("below")

def quit(event, context):
    sys.exit(3)

def slow(event, context):
    time.sleep(0.3)
    return "late"

def chatty(event, context):
    print("to stdout")
    print("to stderr", file=sys.stderr)
    return helper.NAME

def count(event, context):
    global calls
    calls += 1
    return str(calls)
"""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "index.py").write_text(HANDLERS, encoding="utf-8")
    (tmp_path / "helper.py").write_text("NAME = 'helper'\n", encoding="utf-8")
    return tmp_path


@pytest.fixture(params=[InProcessWorker, ProcessWorker], ids=["in-process", "process"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    made = request.param(WorkerEnvironment(lambda: {"OSS_ENDPOINT": "http://127.0.0.1:1"}))
    yield made
    made.close()


@pytest.fixture
def function(code: Path) -> Callable[..., Function]:
    def make(name: str, **fields: Any) -> Function:
        place = Place("s.yaml", 7, 3)
        base = Function(
            name=name,
            handler=f"index.{name}",
            runtime="python3.10",
            code=code,
            place=place,
            handler_place=place,
            timeout=20,
        )
        return replace(base, **fields)

    return make


def body(worker: Worker, function: Function, event: bytes = b"") -> Any:
    result = worker.invoke(function, event, "1-00000000-aa")
    assert not result.failed, result
    return json.loads(result.body)


@pytest.mark.parametrize("event", [b"", b"null", b"[1]", b"\xff\xfe", "\ufeff{}".encode()])
def test_the_event_is_bytes_untouched(worker: Worker, function: Callable[..., Function], event: bytes) -> None:
    assert worker.invoke(function("echo"), event, "r").body == event


def test_text_is_utf_8(worker: Worker, function: Callable[..., Function]) -> None:
    assert worker.invoke(function("text"), b"", "r").body.decode() == "中文"


@pytest.mark.parametrize("value", [{"a": 1}, [1, None], 7, None, True, "s"])
def test_other_values_are_json_and_the_log_warns_once(
    worker: Worker, function: Callable[..., Function], value: object
) -> None:
    result = worker.invoke(function("value"), json.dumps(value).encode(), "r")
    assert result.body.decode() == (value if isinstance(value, str) else json.dumps(value))
    assert not result.failed
    warned = "FC promises only str and bytes" in result.logs
    assert warned is not isinstance(value, str)
    assert worker.invoke(function("value"), json.dumps(value).encode(), "r").logs == ""


def test_a_value_without_json_form_is_the_handlers_failure(worker: Worker, function: Callable[..., Function]) -> None:
    result = worker.invoke(function("odd"), b"", "r")
    assert json.loads(result.body)["errorType"] == "TypeError"


def test_the_context_of_3_10_has_credentials_and_service(worker: Worker, function: Callable[..., Function]) -> None:
    facts = body(worker, function("who", memory=256))
    assert (facts["request"], facts["name"], facts["memory"], facts["timeout"]) == ("1-00000000-aa", "who", 256, 20)
    assert {"credentials", "service", "account_id", "region"} <= set(facts["keys"])


def test_the_context_of_3_12_has_neither(worker: Worker, function: Callable[..., Function]) -> None:
    keys = set(body(worker, function("who", runtime="python3.12"))["keys"])
    assert not keys & {"credentials", "service"}
    assert {"logger", "log_project", "log_store"} <= keys


def test_a_raised_exception_is_fcs_error_body(worker: Worker, function: Callable[..., Function]) -> None:
    result = worker.invoke(function("decline"), b"", "r")
    assert (result.status, result.error_type) == (200, "UnhandledInvocationError")
    document = json.loads(result.body)
    assert (document["errorMessage"], document["errorType"]) == ("no 钱", "Worse")
    frame = document["stackTrace"][-1]
    assert frame[0] == 'File "/code/index.py"'
    assert frame[1].startswith("line ")
    assert frame[2:] == ["in decline", 'raise Worse("no 钱") from ValueError("below")']


def test_a_handler_that_exits_leaves_only_a_message(worker: Worker, function: Callable[..., Function]) -> None:
    document = json.loads(worker.invoke(function("quit"), b"", "r").body)
    assert list(document) == ["errorMessage"]
    assert document["errorMessage"].startswith("Process exited unexpectedly before completing request (duration: ")
    assert worker.invoke(function("text"), b"", "r").body.decode() == "中文"


def test_a_handler_that_is_too_slow_has_timed_out(worker: Worker, function: Callable[..., Function]) -> None:
    result = worker.invoke(function("slow"), b"", "r", timeout=0.1)
    assert json.loads(result.body)["errorMessage"].startswith("Function timed out after 0.1 seconds (maxMemoryUsage: ")
    assert result.error_type == "UnhandledInvocationError"


def test_printed_lines_are_the_invocations_log(
    worker: Worker, function: Callable[..., Function], capsys: pytest.CaptureFixture[str]
) -> None:
    result = worker.invoke(function("chatty"), b"", "r")
    assert (sorted(result.logs.split("\n")), result.body) == (["", "to stderr", "to stdout"], b"helper")
    assert capsys.readouterr().out == ""


def test_an_instance_is_used_again(worker: Worker, function: Callable[..., Function]) -> None:
    assert [worker.invoke(function("count"), b"", "r").body for _ in range(3)] == [b"1", b"2", b"3"]


def test_the_environment_has_its_layers(worker: Worker, function: Callable[..., Function], code: Path) -> None:
    given = {"MINE": "x", "OSS_ENDPOINT": "from s.yaml", "FC_REGION": "mine", "PYTHONPATH": "/code:/code/python:/opt"}
    seen = body(worker, function("environment", environment=given, region="cn-beijing"))
    assert (seen["MINE"], seen["OSS_ENDPOINT"], seen["FC_REGION"]) == ("x", "http://127.0.0.1:1", "mine")
    assert seen["FC_FUNCTION_NAME"] == "environment"
    assert seen["FC_FUNC_CODE_PATH"] == str(code)
    assert seen["ALIBABA_CLOUD_ACCESS_KEY_ID"]
    assert seen["PYTHONPATH"].split(os.pathsep) == [str(code), f"{code}/python", "/opt"]


def test_the_callers_environment_is_neither_seen_nor_changed(
    worker: Worker, function: Callable[..., Function], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "s")
    before = dict(os.environ)
    assert "SECRET_OF_MINE" not in body(worker, function("environment"))
    assert dict(os.environ) == before


def test_an_unresolved_variable_is_reported_when_it_is_used(worker: Worker, function: Callable[..., Function]) -> None:
    problem = Unresolvable("${config('AccountID')}", "it is known only with cloud credentials", Place("s.yaml", 3, 9))
    with pytest.raises(Unresolvable, match=r"s.yaml:3:9: .*no value offline"):
        worker.prepare(function("text", unresolved={"ACCOUNT": problem}))
    assert worker.invoke(function("text", unresolved={"OSS_ENDPOINT": problem}), b"", "r").body.decode() == "中文"


@pytest.mark.parametrize(
    ("handler", "file", "reason"),
    [
        ("index.nothing", "index.py", "'nothing' is not defined there"),
        ("index.calls", "index.py", "'calls' is not callable there"),
        ("nowhere.handler", "nowhere.py", "there is no such file"),
        ("bare", "", "a handler is written file.function"),
        ("unparsable.handler", "unparsable.py", "syntax error at "),
        ("needy.handler", "needy.py", "ModuleNotFoundError: No module named 'no_such_package' (at "),
        ("leaver.handler", "leaver.py", "it ends the process while it is being imported (exit 3)"),
    ],
)
def test_a_handler_that_cannot_be_loaded_is_named(
    worker: Worker, function: Callable[..., Function], code: Path, handler: str, file: str, reason: str
) -> None:
    (code / "unparsable.py").write_text("def handler(:\n", encoding="utf-8")
    (code / "needy.py").write_text("import no_such_package\n", encoding="utf-8")
    (code / "leaver.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    with pytest.raises(HandlerNotLoadable) as caught:
        worker.prepare(function("f", handler=handler))
    error = caught.value
    assert (error.function, error.handler) == ("f", handler)
    assert error.file == str(code / file).rstrip("/")
    assert reason in error.reason
    assert str(error).startswith("s.yaml:7:3: ")


def test_invoking_it_all_the_same_gives_fcs_import_error(worker: Worker, function: Callable[..., Function]) -> None:
    result = worker.invoke(function("f", handler="nowhere.handler"), b"", "r")
    document = json.loads(result.body)
    assert (document["errorType"], document["errorMessage"]) == (
        "ImportModuleError",
        "Unable to import module 'nowhere'",
    )


def test_an_initializer_runs_once_and_its_failure_is_named(
    worker: Worker, function: Callable[..., Function], code: Path
) -> None:
    source = "runs = []\ndef start(context):\n    runs.append(1)\n\ndef f(event, context):\n    return str(len(runs))\n"
    (code / "warm.py").write_text(source + "\ndef fail(context):\n    raise RuntimeError('cold')\n", encoding="utf-8")
    warm = function("warm", handler="warm.f", initializer="warm.start")
    assert [worker.invoke(warm, b"", "r").body for _ in range(2)] == [b"1", b"1"]
    cold = worker.invoke(function("cold", handler="warm.f", initializer="warm.fail"), b"", "r")
    assert (cold.error_type, json.loads(cold.body)["errorMessage"]) == ("InitializationError", "cold")


def test_other_runtimes_are_refused(worker: Worker, function: Callable[..., Function]) -> None:
    with pytest.raises(WorkerError, match="runtime 'nodejs20'; only Python runs here"):
        worker.prepare(function("f", runtime="nodejs20"))


def test_two_code_folders_do_not_see_each_others_modules(
    worker: Worker, function: Callable[..., Function], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.py").write_text("import helper\ndef f(e, c):\n    return helper.NAME\n", encoding="utf-8")
    (other / "helper.py").write_text("NAME = 'the other'\n", encoding="utf-8")
    first, second = function("chatty"), function("f", code=other)
    answers = [worker.invoke(one, b"", "r").body.decode() for one in (first, second, first, second)]
    assert answers == ["helper", "the other", "helper", "the other"]
