"""The page over FC's own HTTP envelope, on the local cloud: headers, forms, errors, languages, limits."""

from __future__ import annotations

import json
import uuid
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from review_kit import KEYS, NOW_MS, TEXT, Town, decide, form_of

from functions.clock import now_ms
from functions.errors import InvalidInput
from functions.handlers.review_page import handler
from functions.payloads import Payloads
from functions.review import Desk, State
from functions.review.links import LOOK_ONLY
from functions.review.web.app import HEAVIEST, Pages
from functions.review.web.envelope import LONGEST_BODY, Request, read_request, write_response
from functions.review.web.guard import FORM_SECONDS, Allowance, FormTokens

pytestmark = pytest.mark.xdist_group("review")
_WAITING: dict[str, str] = {}


@pytest.fixture
def waiting(town: Town) -> str:
    """One task that waits, for the tests that only look."""
    return _WAITING.setdefault(town.endpoint, town.begin(title="服务合同"))


class Clock:
    """The page's time, which a test may move."""

    def __init__(self, *, stands: bool = False) -> None:
        self.ahead_s = 0
        self._stood = now_ms() if stands else 0

    def __call__(self) -> int:
        return (self._stood or now_ms()) + self.ahead_s * 1000


def pages(clock: Clock | None = None) -> Pages:
    return Pages(lambda: Desk.open(clock_ms=clock or Clock()), Payloads.open)


def get(address: str, method: str = "GET", **more: Any) -> Request:
    return Request(method=method, path="/r/" + address.rpartition("/r/")[2], source="192.0.2.1", **more)


def test_the_page_shows_draft_document_history_and_three_buttons(town: Town, waiting: str) -> None:
    page = httpx.get(town.link(waiting))
    assert page.status_code == 200
    assert page.text.count("<button") == 4  # three decisions, one hand-over
    for shown in ("服务合同", "48,000", "Waiting for review", f"Task {waiting}", "Step GenerateDraft", "Round opened"):
        assert shown in page.text
    assert len(page.content) < 40_000


def test_every_answer_has_its_headers_and_loads_nothing_from_elsewhere(town: Town, waiting: str) -> None:
    address = town.link(waiting)
    for one in (address, address + "x", address + "/draft.txt", address + "/hand", town.forged(waiting)):
        headers = httpx.get(one).headers
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "set-cookie" not in headers
    text = httpx.get(address).text
    assert "http://" not in text
    assert "https://" not in text
    assert "<script" not in text


def test_the_page_speaks_the_readers_language(town: Town, waiting: str) -> None:
    address = town.link(waiting)
    chinese = httpx.get(address, headers={"Accept-Language": "zh-CN,zh;q=0.9"}).text
    assert 'lang="zh-Hans"' in chinese
    assert "通过" in chinese
    assert "北京时间" in chinese
    assert "Approve" in httpx.get(address + "?lang=en", headers={"Accept-Language": "zh"}).text


def test_the_whole_texts_come_as_plain_text(town: Town, waiting: str) -> None:
    for part, inside in (("document.txt", "甲方每月支付"), ("draft.txt", "48,000")):
        answer = httpx.get(f"{town.link(waiting)}/{part}")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert inside in answer.text


def test_a_forged_link_and_a_link_of_nothing_show_nothing(town: Town, waiting: str) -> None:
    address = town.link(waiting)
    for wrong in (town.forged(waiting), address[:-1], address + "a", address.replace("/r/", "/r/a")):
        answer = httpx.get(wrong)
        assert answer.status_code == 403
        assert waiting not in answer.text
        assert "48,000" not in answer.text
        assert httpx.post(wrong, data={"decision": "approved"}).status_code == 403
    assert httpx.get(address.rpartition("/r/")[0] + "/").status_code == 404
    assert town.round(waiting).review.pending


def test_an_expired_link_says_so_and_decides_nothing(town: Town, waiting: str) -> None:
    clock = Clock()
    page, address = pages(clock), town.link(waiting)
    form = FormTokens(town.desk().keys).make(address.rpartition("/")[2], clock() // 1000)
    clock.ahead_s = 8 * 86400
    body = f"form={form}&decision=approved".encode()
    for request in (get(address), get(address, "POST", body=body)):
        answer = page.answer(request)
        assert (answer.status, "The time for this review is over" in answer.body) == (410, True)
    assert town.round(waiting).review.pending


@pytest.mark.parametrize("form", ["", "x", "1-2", "zz-00", "-", "0x1-aa"])
def test_a_form_that_this_page_did_not_show_does_not_count(town: Town, waiting: str, form: str) -> None:
    answer = httpx.post(town.link(waiting), data={"form": form, "decision": "approved", "comment": "kept <b>"})
    assert answer.status_code == 403
    assert "open for too long" in answer.text
    assert "kept &lt;b&gt;" in answer.text, "what was typed is not lost"
    assert town.round(waiting).review.pending


def test_a_form_token_belongs_to_its_link_and_its_time() -> None:
    tokens, now = FormTokens(KEYS), NOW_MS // 1000
    token = tokens.make("link", now)
    assert tokens.good(token, "link", now + FORM_SECONDS - 1)
    assert not tokens.good(token, "other", now)
    assert not tokens.good(token, "link", now + FORM_SECONDS)
    assert not tokens.good(token, "link", now - 1)
    assert not any(tokens.good(token[:place] + "g" + token[place + 1 :], "link", now) for place in range(len(token)))


def test_a_form_sent_from_another_site_does_not_count(town: Town, waiting: str) -> None:
    address = town.link(waiting)
    fields = {"form": form_of(httpx.get(address)), "decision": "approved"}
    for site in ("cross-site", "same-site"):
        answer = httpx.post(address, data=fields, headers={"Sec-Fetch-Site": site})
        assert (answer.status_code, "another site" in answer.text) == (403, True)
    assert town.round(waiting).review.pending


@pytest.mark.parametrize(
    ("fields", "alert"),
    [
        ({"decision": "more_info", "comment": "  "}, "Say in the comment what is missing."),
        ({"decision": "maybe"}, "Choose one of the three decisions."),
        ({}, "Choose one of the three decisions."),
        ({"decision": "approved", "comment": "长" * 4001}, "The comment is too long"),
    ],
)
def test_a_form_that_says_too_little_or_too_much_comes_back_with_a_word(
    town: Town, waiting: str, fields: dict[str, str], alert: str
) -> None:
    page, address = pages(), town.link(waiting)
    form = FormTokens(town.desk().keys).make(address.rpartition("/")[2], Clock()() // 1000)
    answer = page.answer(get(address, "POST", body=urlencode({"form": form, "lang": "en", **fields}).encode()))
    assert answer.status == 422
    assert alert in answer.body
    assert 'role="alert"' in answer.body
    assert town.round(waiting).review.pending


@pytest.mark.parametrize("asked", ["PUT ", "DELETE /draft.txt", "GET /hand", "POST /draft.txt"])
def test_other_methods_are_refused(town: Town, waiting: str, asked: str) -> None:
    method, part = asked.split(" ")
    answer = pages().answer(get(town.link(waiting) + part, method))
    assert (answer.status, "Allow" in answer.headers) == (405, True)


@pytest.mark.parametrize("part", ["/other", "/draft.txt/x", "//"])
def test_other_paths_are_not_there(town: Town, waiting: str, part: str) -> None:
    assert pages().answer(get(town.link(waiting) + part)).status == 404


@pytest.mark.parametrize("body", [b"\xff\xfe=1", b"a=1&" * 30, b"x" * (LONGEST_BODY + 1)])
def test_a_body_that_is_no_form_is_refused(town: Town, waiting: str, body: bytes) -> None:
    assert pages().answer(get(town.link(waiting), "POST", body=body)).status == 400


def test_too_many_requests_are_told_when_to_come_back(town: Town, waiting: str) -> None:
    page, address = pages(Clock(stands=True)), town.link(waiting)
    answers = [page.answer(get(address, "HEAD")) for _ in range(80)]
    slow = [answer for answer in answers if answer.status == 429]
    assert slow
    assert int(slow[0].headers["Retry-After"]) >= 1
    guesses = [page.answer(get("https://x/r/abc")).status for _ in range(40)]
    assert set(guesses) == {403, 429}
    assert page.answer(get(town.link(waiting, scope=LOOK_ONLY))).status == 200, "other links are not slowed down"


def test_an_allowance_refills_and_forgets_the_oldest_names() -> None:
    allowance = Allowance(burst=2, per_minute=60, most=2)
    assert [allowance.wait_s("a", 0) for _ in range(3)] == [0, 0, 2]
    assert allowance.wait_s("a", 1000) == 0
    for name in ("b", "c", "d"):
        assert allowance.wait_s(name, 1000) == 0
    assert [allowance.wait_s("a", 1000) for _ in range(2)] == [0, 0]


def test_a_decision_shows_who_and_when_and_takes_the_form_away(town: Town) -> None:
    task = town.begin()
    address = town.link(task)
    answer = decide(address, "rejected", name=" Li <b>  Na ", comment="no & no")
    assert (answer.status_code, answer.headers["location"].startswith(address.rpartition("/")[2])) == (303, True)
    page = httpx.get(address)
    assert "Rejected by Li &lt;b&gt; Na" in page.text
    assert "no &amp; no" in page.text
    assert "<button" not in page.text
    assert town.status(task) == "Succeeded"
    assert town.path(task)[-1] == "Rejected"


def test_a_second_round_marks_what_changed_and_the_first_link_is_stale(town: Town) -> None:
    task = town.begin()
    first = town.link(task)
    form = form_of(httpx.get(first))
    assert decide(first, "more_info", comment="Which deadline?").status_code == 303
    town.round(task, 2)
    page = httpx.get(town.link(task, 2))
    assert "Changes since round 1 are marked" in page.text
    assert 'line-new"' in page.text
    assert "Which deadline?" in page.text
    stale = httpx.post(first, data={"form": form, "decision": "approved"})
    assert stale.status_code == 409
    assert "Round 2 has begun; this page is about round 1." in stale.text
    assert town.round(task, 2).review.pending
    assert decide(town.link(task, 2), "approved").status_code == 303
    assert town.status(task) == "Succeeded"


def test_two_reviewers_have_a_link_each_and_the_flow_goes_on_after_the_second(town: Town) -> None:
    flow = town.two_reviewers()
    task = town.begin(flow)
    lines = town.notices(task, "review_requested")[0]["lines"]
    links = [line.rpartition(" ")[2] for line in lines if "Review page (" in line]
    assert links == [town.link(task, seat=1), town.link(task, seat=2)]
    assert decide(links[0], "approved").status_code == 303
    page = httpx.get(links[0])
    assert "You have approved. 1 more to come." in page.text
    assert "<button" not in page.text
    assert town.status(task, flow, seconds=1) == "Running"
    assert decide(links[1], "approved", name="somebody else").status_code == 303
    assert [vote.by for vote in town.round(task).review.votes] == ["Lin", "Mei"]
    assert town.status(task, flow) == "Succeeded"


def test_a_review_that_is_handed_on_is_the_other_persons(town: Town) -> None:
    task = town.begin()
    address = town.link(task)
    form = form_of(httpx.get(address))
    bad = httpx.post(f"{address}/hand", data={"form": form, "to": " "})
    assert (bad.status_code, "That name cannot be used." in bad.text) == (422, True)
    assert f'action="../{address.rpartition("/")[2]}"' in bad.text
    assert httpx.post(f"{address}/hand", data={"form": form, "to": "Wang Fang"}).status_code == 303
    old = httpx.post(address, data={"form": form, "decision": "approved"})
    assert old.status_code == 403
    assert "handed to Wang Fang" in old.text
    (notice,) = town.notices(task, "review_reassigned")
    new = next(line.rpartition(" ")[2] for line in notice["lines"] if "Review page (Wang Fang)" in line)
    assert decide(new, "approved").status_code == 303
    assert town.round(task).review.decided.by == "Wang Fang"  # type: ignore[union-attr]
    kinds = [noted.kind for noted in town.round(task).trail]
    assert kinds == ["opened", "reassigned", "decided", "report_done"]


def test_a_long_document_is_cut_on_the_page_and_whole_beside_it(town: Town) -> None:
    text = TEXT + "\n".join(f"第 {number} 条 <&> 甲方与乙方约定如下。" for number in range(6000))
    stored = Payloads.open().put(f"documents/{uuid.uuid4().hex}/long.md", text.encode())
    task = town.begin(document={"uri": stored.uri, "name": "long.md"})
    page = httpx.get(town.link(task))
    assert len(page.content) < HEAVIEST
    assert "Only the beginning is shown." in page.text
    assert "第 5999 条 <&>" in httpx.get(town.link(task) + "/document.txt").text
    town.stopped(task)


def test_a_draft_that_vanished_is_said_and_can_still_be_rejected(town: Town) -> None:
    task = town.begin()
    payloads = Payloads.open()
    payloads.bucket.remove(town.round(task).review.draft.key)
    page = httpx.get(town.link(task))
    assert page.status_code == 200
    assert "The text cannot be shown: " in page.text
    assert decide(town.link(task), "rejected").status_code == 303
    assert town.round(task).review.state is State.REJECTED


def test_an_event_of_no_http_trigger_is_refused() -> None:
    for event in (b"{}", b'{"requestContext": {}}', b"[]", b""):
        with pytest.raises(InvalidInput):
            handler(event, None)


def test_a_base64_body_and_odd_headers_are_read() -> None:
    http = {"method": "post", "path": "/r/x", "sourceIp": "1.2.3.4"}
    envelope = {"requestContext": {"http": http}, "headers": {"X-Odd": 1}}
    request = read_request(json.dumps({**envelope, "body": "YT1i", "isBase64Encoded": True}))
    assert (request.method, request.path, request.form(), request.headers) == (
        "POST",
        "/r/x",
        {"a": "b"},
        {"x-odd": "1"},
    )
    with pytest.raises(InvalidInput):
        read_request(json.dumps({**envelope, "body": "%%%", "isBase64Encoded": True}))


def test_without_keys_the_page_says_that_something_is_wrong_and_not_what(
    town: Town, waiting: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = town.link(waiting)
    monkeypatch.setenv("STEPKEEPER_REVIEW_KEYS", "")
    answer = pages().answer(get(address))
    assert answer.status == 500
    assert "STEPKEEPER" not in write_response(answer)
    assert "STEPKEEPER_REVIEW_KEYS is not set" in capsys.readouterr().err
