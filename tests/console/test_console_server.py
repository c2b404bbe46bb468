"""The console of a running server, and the same console on an account: here the server plays the account."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console_kit import form_token
from starlette.testclient import TestClient

from local_sim.actions import ActionFailure, Call
from local_sim.clock import VirtualClock
from local_sim.console import CloudUnreachable, Panels, make_console
from local_sim.console.cloud import Account, CloudSource
from local_sim.project import Project, Settings
from local_sim.server import LocalServer

FLOW = """\
Type: StateMachine
SpecVersion: v1
Name: ask
StartAt: Work
States:
  - {Type: Task, Name: Work, Action: "MNS:Work", Parameters: {n.$: $Input.n}, Next: Ask}
  - Type: Task
    Name: Ask
    Action: "MNS:Ask"
    TaskMode: WaitForCustomCallback
    Timeout: 3600
    Parameters: {token.$: $Context.Current.TaskToken}
    OutputConstructor: {decision.$: $Output.decision}
    Next: Route
  - Type: Choice
    Name: Route
    Branches: [{Condition: $Input.decision == "approved", Next: Done}]
    Default: Sorry
  - {Type: Succeed, Name: Done}
  - {Type: Fail, Name: Sorry, Code: Sorry, Detail: "no"}
"""
PANELS = """
def overview():
    return [{"title": "Own figures", "columns": ["a"], "rows": [[1], [None], ["<b>"]], "chart": [1, 2]}]

def execution(described):
    print("noise")
    if described["name"] == "broken":
        raise RuntimeError("no such row")
    return [{"title": "Rows of " + described["input"]["task_id"]}]
"""


def work(call: Call) -> Any:
    if call.parameters["n"] < 0:
        raise ActionFailure("Negative", "n is below 0")
    return {}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    folder = tmp_path_factory.mktemp("console")
    (folder / "flows").mkdir()
    (folder / "flows" / "ask.yaml").write_text(FLOW)
    (folder / "own_panels.py").write_text(PANELS)
    project = Project(folder, Settings(panels=("own_panels",)))
    registered = {"MNS:Work": work, "MNS:Ask": lambda call: {}}
    with LocalServer(project, folder / "data", clock=VirtualClock(), registered=registered) as made:
        for number in range(60):
            start(made, f"run-{number}", {"task_id": f"t-{number}", "n": -1 if number % 3 == 0 else number})
        made.advance(1)
        yield made


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None


def ask(server: LocalServer, path: str, **form: str) -> tuple[int, str, str]:
    """Return status, body and the address a redirect names."""
    data = urllib.parse.urlencode(form).encode() if form else None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay())
    try:
        with opener.open(urllib.request.Request(server.endpoint + path, data)) as answer:
            return answer.status, answer.read().decode(), ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers.get("Location", "")


def start(server: LocalServer, name: str, given: Any) -> str:
    token = form_token(ask(server, "/console/flows/ask")[1])
    status, _, where = ask(server, "/console/start", form_token=token, flow="ask", name=name, input=json.dumps(given))
    assert status == 303
    return where


def test_a_browser_that_opens_the_address_finds_the_console(server: LocalServer) -> None:
    assert ask(server, "/")[::2] == (302, "/console")


def test_cloudflow_s_clients_still_find_cloudflow_at_the_root(server: LocalServer) -> None:
    status, body, _ = ask(server, "/?Action=ListFlows&Version=2019-03-15&Format=JSON")
    assert (status, "RequestId" in body) in ((200, True), (400, True), (403, True))


def test_executions_are_counted_filtered_and_paged(server: LocalServer) -> None:
    page = ask(server, "/console")[1]
    assert 'href="/console/executions?status=Failed"><strong>20</strong>' in page
    assert 'href="/console/waiting"><strong>40</strong>' in page
    failed = ask(server, "/console/executions?status=Failed")[1]
    assert failed.count('class="chip Failed"') == 20
    assert ask(server, "/console/executions?text=t-59")[1].count("run-59") == 2
    assert ask(server, "/console/executions?flow=none")[1].count("run-") == 0
    first = ask(server, "/console/executions")[1]
    assert first.count('class="chip ') == 50
    following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    rest = ask(server, following)[1]
    assert rest.count('class="chip ') == 10
    assert "run-0<" in rest
    day = "from=2026-01-01&to=2026-01-01"
    assert ask(server, f"/console/executions?{day}")[1].count('class="chip ') == 50
    assert ask(server, "/console/executions?to=2025-12-31")[1].count('class="chip ') == 0


def test_a_callback_is_answered_and_the_execution_goes_on(server: LocalServer) -> None:
    where = start(server, "answered", {"task_id": "t-a", "n": 1})
    server.advance(1)
    page = ask(server, where)[1]
    assert 'value="approved"' in page
    token = page.split('name="token" value="')[1].split('"')[0]
    given = {"form_token": form_token(page), "token": token, "field": "decision", "choice": "approved", "back": where}
    assert ask(server, "/console/answer", **given)[::2] == (303, where)
    server.advance(1)
    assert 'class="chip Succeeded"' in ask(server, where)[1]
    status, body, _ = ask(server, "/console/answer", **given)
    assert status == 400
    assert "The task" in body


def test_stopping_and_running_again(server: LocalServer) -> None:
    where = start(server, "stopped", {"task_id": "t-s", "n": 1})
    server.advance(1)
    token = form_token(ask(server, where)[1])
    assert ask(server, "/console/stop", form_token=token, flow="ask", name="stopped")[0] == 303
    assert 'class="chip Stopped"' in ask(server, where)[1]
    assert ask(server, "/console/stop", form_token=token, flow="ask", name="stopped")[0] == 400
    status, _, again = ask(server, "/console/again", form_token=token, flow="ask", name="stopped")
    assert status == 303
    assert again != where
    assert "t-s" in ask(server, again)[1]


def test_the_project_s_own_panels(server: LocalServer) -> None:
    figures = ask(server, "/console/panels")[1]
    assert "Own figures" in figures
    assert "&lt;b&gt;" in figures
    assert "polyline" in figures
    assert "Rows of t-5" in ask(server, "/console/executions/ask/run-5/panels")[1]
    start(server, "broken", {"n": 1})
    assert "RuntimeError: no such row" in ask(server, "/console/executions/ask/broken/panels")[1]
    assert "Rows of t-7" in ask(server, "/console/executions/ask/run-7/panels")[1]


def test_faults_are_added_and_cleared(server: LocalServer) -> None:
    page = ask(server, "/console/faults")[1]
    token = form_token(page)
    given = {"service": "ots", "api": "PutRow", "kind": "delay", "rate": "0.5", "times": "3"}
    assert ask(server, "/console/faults/add", form_token=token, **given)[0] == 303
    assert [(rule.api, rule.rate, rule.times) for rule in server.faults.rules.values()] == [("PutRow", 0.5, 3)]
    assert "PutRow" in ask(server, "/console/faults")[1]
    for bad in ({"rate": "x"}, {"rate": "7"}, {"kind": "none"}, {"times": "many"}):
        assert ask(server, "/console/faults/add", form_token=token, **{**given, **bad})[0] == 400
    assert ask(server, "/console/faults/clear", form_token=token)[0] == 303
    assert not server.faults.rules


@pytest.fixture
def account(server: LocalServer) -> Account:
    region = server.environment["ALIBABA_CLOUD_REGION"]
    return Account(region, server.endpoint, "id", "secret", oss_endpoint=server.environment["OSS_ENDPOINT"])


def on_account(account: Account, *, writable: bool = False) -> TestClient:
    source = CloudSource(account, writable=writable)
    app = make_console(source, panels=Panels((), Path("."), {}))
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)


def test_the_same_console_reads_an_account_through_the_sdk(server: LocalServer, account: Account) -> None:
    browser = on_account(account)
    assert "read-only" in browser.get("/console").text
    assert "/console/flows/ask" in browser.get("/console/flows").text
    assert browser.get("/console/executions?status=Failed&flow=ask").text.count('class="chip Failed"') == 20
    page = browser.get("/console/executions?flow=ask").text
    following = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert 'class="chip ' in browser.get(following).text
    one = browser.get("/console/executions/ask/run-3").text
    assert "Negative" in one
    assert "n is below 0" in one
    assert 'class="task failed"' in one
    assert "TaskScheduled" in browser.get("/console/executions/ask/run-3/history").text
    assert browser.get("/console/executions/ask/none").status_code == 404
    assert browser.get("/console/faults").status_code == 404
    assert browser.get("/console/payload?bucket=local-bucket&key=none").status_code == 404


def test_an_account_may_be_written_to_when_that_is_asked_for(server: LocalServer, account: Account) -> None:
    browser = on_account(account, writable=True)
    token = form_token(browser.get("/console/flows/ask").text)
    given = {"form_token": token, "flow": "ask", "name": "from-afar", "input": '{"n": 2}'}
    assert browser.post("/console/start", data=given).status_code == 303
    assert browser.post("/console/stop", data=given).status_code == 303
    assert 'class="chip Stopped"' in browser.get("/console/executions/ask/from-afar").text
    assert browser.post("/console/stop", data=given).status_code == 400


def test_an_account_that_cannot_be_reached_is_told() -> None:
    nowhere = Account("cn-hangzhou", "http://127.0.0.1:9", "id", "secret")
    answer = on_account(nowhere).get("/console/flows")
    assert answer.status_code == 400
    assert "cannot be reached" in answer.text
    assert "Signature" not in answer.text


def test_an_account_needs_keys() -> None:
    with pytest.raises(CloudUnreachable, match="ALIBABA_CLOUD_ACCESS_KEY_ID"):
        Account.of({"ALIBABA_CLOUD_ACCESS_KEY_ID": "x"})
    found = Account.of(
        {"ALIBABA_CLOUD_ACCESS_KEY_ID": "x", "ALIBABA_CLOUD_ACCESS_KEY_SECRET": "y", "FC_REGION": "cn-a"}
    )
    assert found.endpoint == "cn-a.fnf.aliyuncs.com"
