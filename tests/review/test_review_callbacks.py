"""The callback group of the cases (C40 to C46) on the whole local cloud: real flow, real functions, real page."""

from __future__ import annotations

import json
import threading
from urllib.parse import quote, urlencode

import httpx
import pytest
from alibabacloud_fnf20190315 import models as fnf
from review_kit import Town, decide, form_of

from functions.cloudflow import CloudFlow, ReportRefused
from functions.review import Decision, ReviewConflict, State
from functions.review.links import LOOK_ONLY, Scope
from functions.review.model import Delivery
from functions.review.seal import open_sealed, place, seal
from local_sim.services.faults import FaultKind

pytestmark = pytest.mark.xdist_group("review")

TOKENS = ["a+b/c==", "a%b&c#d:e~f", "令牌 with a blank", "?x=1;y", "'\"\\$(x)`"]


def report(town: Town, token: str, output: str = '{"decision":"approved"}') -> None:
    town.client.report_task_succeeded(fnf.ReportTaskSucceededRequest(task_token=token, output=output))


def code_of(town: Town, token: str) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (the SDK's own classes differ by version)
        report(town, token)
    return str(getattr(caught.value, "code", ""))


def test_c40_every_kind_of_dead_token_has_its_answer_and_the_flow_is_unharmed(town: Town) -> None:
    done, stopped = town.begin(), town.begin()
    used, over = town.token(done), town.token(stopped)
    assert decide(town.link(done), "approved").status_code == 303
    town.stopped(stopped)
    assert code_of(town, used) == code_of(town, over) == "TaskAlreadyCompleted"
    assert code_of(town, "made-up") == "InvalidArgument"
    assert town.status(done) == "Succeeded"
    with pytest.raises(ReportRefused) as caught:
        CloudFlow(town.endpoint).succeed(used, {"decision": "approved"})
    assert caught.value.code == "TaskAlreadyCompleted"


def test_c40_a_decision_after_the_execution_was_stopped_is_kept_and_says_that_it_came_too_late(town: Town) -> None:
    task = town.begin()
    address = town.link(task)
    town.stopped(task)
    answer = decide(address, "approved", name="Lin")
    assert answer.status_code == 303
    kept = town.round(task).review
    assert (kept.state, kept.report.delivery) == (State.APPROVED, Delivery.REFUSED)
    assert "the execution is over" in httpx.get(address).text


def test_c41_three_at_once_the_same_is_quiet_and_another_is_a_conflict(town: Town) -> None:
    task, desk = town.begin(), town.desk()
    where = town.round(task).review.id
    answers: list[object] = []

    def say(decision: Decision) -> None:
        try:
            answers.append(desk.decide(where, 1, decision, "Lin", "why", "page"))
        except ReviewConflict as error:
            answers.append(error)

    said = [Decision.APPROVED, Decision.APPROVED, Decision.REJECTED]
    threads = [threading.Thread(target=say, args=(one,)) for one in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    conflicts = [one for one in answers if isinstance(one, ReviewConflict)]
    fresh = [one for one in answers if getattr(one, "fresh", False)]
    final = town.round(task).review
    assert len(fresh) == 1
    assert len(conflicts) == (1 if final.state is State.APPROVED else 2)
    assert all((error.by, error.decision) == ("Lin", final.state.value) for error in conflicts)
    assert town.status(task) == "Succeeded"
    assert town.path(task).count("HumanReview") == 1


def test_c42_a_review_that_nobody_answers_ends_by_its_timeout(town: Town) -> None:
    flow = town.define(
        "two_seconds",
        (
            "Timeout: 604800\n    Parameters:\n      resourceArn: acs:fc:::functions/stepkeeper-request-review",
            "Timeout: 2\n    Parameters:\n      resourceArn: acs:fc:::functions/stepkeeper-request-review",
        ),
    )
    task = town.begin(flow)
    assert town.status(task, flow) == "Succeeded"
    assert town.path(task, flow)[-3:] == ["Compensate", "RouteOutcome", "Expired"]
    assert town.round(task).review.state is State.WITHDRAWN
    answer = decide(town.link(task), "approved")
    assert answer.status_code == 403, "the page of a review that is over has no form"


def test_c42_both_shipped_flows_wait_with_a_limit_that_leads_somewhere() -> None:
    import yaml
    from review_kit import ROOT

    for name in ("content_review", "opc_minimal"):
        states = yaml.safe_load((ROOT / f"flows/{name}.yaml").read_text(encoding="utf-8"))["States"]
        (review,) = [state for state in states if state["Name"] == "HumanReview"]
        assert 0 < review["Timeout"] == review["Parameters"]["body"]["expires_in"]
        assert any("FnF.TaskTimeout" in rule["Errors"] for rule in review["Catch"])
        assert review["Parameters"]["body"]["flow"] == name


@pytest.mark.parametrize("token", TOKENS)
def test_c43_a_token_survives_its_seal_and_no_link_carries_one(town: Town, token: str) -> None:
    desk = town.desk()
    record = town.round(_shared(town))
    where = place(record.review.id)
    sealed = seal(desk.keys, token, where)
    once = json.loads(json.dumps(sealed))
    assert open_sealed(desk.keys, once, where) == token
    assert not set(sealed) & set("+/%&#?:~ \n'\"")
    assert quote(quote(sealed)) == sealed.replace("=", "%253D")
    assert token not in town.link(record.review.task_id)


def test_c43_a_link_with_what_chats_and_mailers_add_to_it_still_opens(town: Town) -> None:
    address = town.link(_shared(town))
    for added in ("?utm_source=chat&from=groupmessage", "?x=%2B%2F%3D&y=+", "/", "?lang=zh"):
        assert httpx.get(address + added).status_code == 200
    assert httpx.get(quote(address, safe=":/")).status_code == 200


_SHARED: dict[str, str] = {}


def _shared(town: Town) -> str:
    """One waiting task for the tests that only look."""
    return _SHARED.setdefault(town.endpoint, town.begin())


def test_c44_looking_decides_nothing_however_often_and_however(town: Town) -> None:
    task = town.begin()
    address = town.link(task)
    for method in ("GET", "GET", "HEAD", "HEAD"):
        assert httpx.request(method, address).status_code == 200
    assert httpx.head(address).content == b""
    for query in ("decision=approved", urlencode({"decision": "rejected", "form": form_of(httpx.get(address))})):
        assert httpx.get(f"{address}?{query}").status_code == 200
    assert town.round(task).review.pending
    assert [noted.kind for noted in town.desk().reviews.views(town.round(task).review.id)].count("viewed") >= 5
    assert decide(address, "approved").status_code == 303
    refused = decide(address, "rejected")
    assert refused.status_code == 403, "a decided page shows no form, so there is no token to send"
    assert town.status(task) == "Succeeded"


def test_c44_the_second_form_that_was_open_meanwhile_is_told_who_decided(town: Town) -> None:
    task = town.begin()
    address = town.link(task)
    form = form_of(httpx.get(address))
    first = httpx.post(address, data={"form": form, "decision": "rejected", "name": "Lin"})
    same = httpx.post(address, data={"form": form, "decision": "rejected", "name": "Mei"})
    other = httpx.post(address, data={"form": form, "decision": "approved", "name": "Mei"})
    assert (first.status_code, same.status_code, other.status_code) == (303, 303, 409)
    assert "Not counted: Lin – “Rejected”" in other.text
    kept = town.round(task).review
    assert (kept.state, kept.decided and kept.decided.by, len(kept.votes)) == (State.REJECTED, "Lin", 1)
    assert town.status(task) == "Succeeded"


def test_c44_a_link_is_bound_to_what_it_may_do(town: Town) -> None:
    task = _shared(town)
    look, only_reject = town.link(task, scope=LOOK_ONLY), town.link(task, scope=frozenset({Scope.REJECT}))
    assert "<button" not in httpx.get(look).text
    answer = decide(only_reject, "approved")
    assert (answer.status_code, town.round(task).review.pending) == (403, True)
    assert "<summary>" not in httpx.get(only_reject).text


def test_c45_two_waiting_branches_each_end_their_own(town: Town) -> None:
    name = "two_branches"
    if name not in town.flows:
        body = {"step": "HumanReview", "attempt": 1, "task.$": "$Input.task", "flow": name}
        body |= {"execution.$": "$Context.Execution.Name", "token.$": "$Context.Current.TaskToken"}
        branches = [_branch(f"Review{letter}", {**body, "step": f"Review{letter}"}) for letter in "AB"]
        states = [{"Type": "Parallel", "Name": "Both", "Branches": branches, "End": True}]
        flow = {"Type": "StateMachine", "SpecVersion": "v1", "Name": name, "StartAt": "Both", "States": states}
        request = fnf.CreateFlowRequest(
            name=name, definition=json.dumps(flow), description="", type="FDL", execution_mode="Standard"
        )
        town.client.create_flow(request)
        town.flows.add(name)
    for order in ((0, 1), (1, 0)):
        task = town.begin()
        given = json.loads(_validated(town, task))
        town.start(name, f"{task}-branches", {"task": given})
        town.until(lambda task=task: len(town.rounds(task)) == 3)
        waiting = [one.review for one in town.rounds(task) if one.review.step.startswith("Review")]
        desk = town.desk()
        for index in order:
            desk.decide(waiting[index].id, 1, Decision.APPROVED, "Lin", "", "page")
        assert town.status(f"{task}-branches", name) == "Succeeded"


def _branch(name: str, body: dict[str, object]) -> dict[str, object]:
    state = {
        "Type": "Task",
        "Name": name,
        "Action": "FC:InvokeFunction",
        "TaskMode": "WaitForCustomCallback",
        "Timeout": 1000,
        "Parameters": {
            "resourceArn": "acs:fc:::functions/stepkeeper-request-review/LATEST",
            "invocationType": "Sync",
            "body": body,
        },
        "End": True,
    }
    return {"StartAt": name, "States": [state]}


def _validated(town: Town, task: str) -> str:
    """The control data of a task as it came to the review."""
    one = town.round(task).review
    pins = {"workflow": one.workflow, "function": "1", "prompt": "1", "input": one.document.sha256}
    fields = {"task_id": task, "versions": pins, "name": one.name, "document": one.document.model_dump()}
    return json.dumps({**fields, "draft": one.draft.model_dump()})


@pytest.mark.parametrize("kind", [FaultKind.DROP_AFTER, FaultKind.APPLIED_THEN_ERROR])
def test_c46_a_report_that_was_taken_but_not_answered_is_settled_by_asking(town: Town, kind: FaultKind) -> None:
    task = town.begin()
    town.hurt(kind, times=1)
    assert decide(town.link(task), "approved", name="Lin").status_code == 303
    assert town.round(task).review.report.delivery is Delivery.DONE
    assert town.status(task) == "Succeeded"
    assert town.path(task)[-1] == "Completed"


def test_c46_a_decision_that_could_not_be_told_is_kept_and_the_sweep_tells_it(town: Town) -> None:
    from functions.review import sweep

    task = town.begin()
    town.hurt(FaultKind.DROP_BEFORE)
    address = town.link(task)
    assert decide(address, "approved").status_code == 303
    assert "Recorded. The flow will be told within minutes." in httpx.get(address).text
    assert town.round(task).review.report.delivery is Delivery.DUE
    assert town.status(task, seconds=1) == "Running"
    town.heal()
    assert sweep(town.desk()).done.get("delivered", 0) >= 1
    assert town.status(task) == "Succeeded"
    assert "The flow has been told." in httpx.get(address).text
    assert town.round(task).sealed == "", "a token that was used is forgotten"


def test_c46_the_same_button_again_tells_the_flow_what_is_still_due(town: Town) -> None:
    task = town.begin()
    town.hurt(FaultKind.DROP_BEFORE)
    address = town.link(task)
    form = form_of(httpx.get(address))
    httpx.post(address, data={"form": form, "decision": "approved"})
    town.heal()
    assert httpx.post(address, data={"form": form, "decision": "approved"}).status_code == 303
    assert town.status(task) == "Succeeded"
