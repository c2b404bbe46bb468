"""Webhooks against a loopback server: formats, signatures, and whether the message left."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, Loopback, closed_port

from functions.errors import StepkeeperError, SystemFault, TemporaryUpstreamError
from functions.notices import Notice, Sender, kind_of_sender, sender
from functions.notices.webhooks import DingTalk, Feishu, PlainJson, WeCom, clipped
from functions.settings import Settings
from ledger import EffectKind

NOTICE = Notice("review_requested", "任务-1", "请审阅：合同", ("Task: 任务-1", "Round: 1"), "sk-1")
OK = {"dingtalk": {"errcode": 0, "errmsg": "ok"}, "wecom": {"errcode": 0, "errmsg": "ok"}, "feishu": {"code": 0}}


def settings(name: str, url: str, secret: str = "", timeout: float = 5) -> Settings:
    return Settings(notice_sender=name, notice_url=url, notice_secret=secret, notice_timeout=timeout)  # type: ignore[arg-type]


def made(name: str, server: Loopback, secret: str = "", timeout: float = 5) -> Sender:
    return sender(settings(name, server.url + "/hook?key=k1", secret, timeout))


def failure(name: str, server: Loopback, answer: Answer, kind: type[StepkeeperError], timeout: float = 5) -> Any:
    server.answers = [answer]
    with pytest.raises(kind) as caught:
        made(name, server, timeout=timeout).send(NOTICE)
    assert len(server.asked) == 1
    return caught.value


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("outbox", EffectKind.IDEMPOTENT),
        ("json", EffectKind.IDEMPOTENT),
        ("dingtalk", EffectKind.UNDECLARED),
        ("wecom", EffectKind.UNDECLARED),
        ("feishu", EffectKind.UNDECLARED),
    ],
)
def test_each_sender_declares_how_its_effect_is_made_exactly_once(name: str, kind: EffectKind) -> None:
    assert kind_of_sender(settings(name, "http://127.0.0.1:1")) is kind


def test_plain_json_sends_the_notice_with_its_idempotency_key(server: Loopback) -> None:
    server.answers = [Answer.of({"id": "m-7"})]
    receipt = made("json", server).send(NOTICE)
    assert receipt.as_json() == {"sender": "json", "reference": "m-7"}
    asked = server.asked[0]
    assert asked.headers["idempotency-key"] == "sk-1"
    assert asked.json == {
        "kind": "review_requested",
        "task_id": "任务-1",
        "title": "请审阅：合同",
        "lines": ["Task: 任务-1", "Round: 1"],
        "key": "sk-1",
    }
    assert "x-stepkeeper-signature" not in asked.headers


def test_plain_json_signs_the_body_when_there_is_a_secret(server: Loopback) -> None:
    made("json", server, "shh").send(NOTICE)
    asked = server.asked[0]
    expected = "sha256=" + hmac.new(b"shh", asked.body, hashlib.sha256).hexdigest()
    assert asked.headers["x-stepkeeper-signature"] == expected


def test_plain_json_takes_any_2xx_whatever_the_body(server: Loopback) -> None:
    server.answers = [Answer(204)]
    assert made("json", server).send(NOTICE).reference == ""


def test_dingtalk_sends_markdown_and_signs_the_address(server: Loopback) -> None:
    server.answers = [Answer.of(OK["dingtalk"])]
    DingTalk(settings("dingtalk", server.url + "/robot/send?access_token=t", "SEC1"), lambda: 1_700_000_000_123).send(
        NOTICE
    )
    asked = server.asked[0]
    query = parse_qs(urlsplit(asked.path).query)
    digest = hmac.new(b"SEC1", b"1700000000123\nSEC1", hashlib.sha256).digest()
    assert query == {
        "access_token": ["t"],
        "timestamp": ["1700000000123"],
        "sign": [base64.b64encode(digest).decode()],
    }
    text = "### 请审阅：合同\n\nTask: 任务-1\n\nRound: 1"
    assert asked.json == {"msgtype": "markdown", "markdown": {"title": "请审阅：合同", "text": text}}


def test_dingtalk_without_a_secret_leaves_the_address_alone(server: Loopback) -> None:
    server.answers = [Answer.of(OK["dingtalk"])]
    made("dingtalk", server).send(NOTICE)
    assert server.asked[0].path == "/hook?key=k1"


def test_wecom_sends_markdown_and_has_no_signature(server: Loopback) -> None:
    server.answers = [Answer.of(OK["wecom"])]
    made("wecom", server, "ignored").send(NOTICE)
    assert server.asked[0].path == "/hook?key=k1"
    content = "### 请审阅：合同\nTask: 任务-1\nRound: 1"
    assert server.asked[0].json == {"msgtype": "markdown", "markdown": {"content": content}}


def test_feishu_sends_text_and_signs_in_the_body(server: Loopback) -> None:
    server.answers = [Answer.of(OK["feishu"])]
    Feishu(settings("feishu", server.url, "SEC2"), lambda: 1_700_000_000_999).send(NOTICE)
    digest = hmac.new(b"1700000000\nSEC2", b"", hashlib.sha256).digest()
    assert server.asked[0].json == {
        "timestamp": "1700000000",
        "sign": base64.b64encode(digest).decode(),
        "msg_type": "text",
        "content": {"text": "请审阅：合同\nTask: 任务-1\nRound: 1"},
    }


def test_long_notices_stay_within_the_robots_limits(server: Loopback) -> None:
    long = Notice("handed_over", "t", "标题" * 200, ("内容" * 9000,), "k")
    for name in ("wecom", "dingtalk", "feishu"):
        server.answers = [Answer.of(OK[name])]
        made(name, server).send(long)
    wecom, dingtalk, feishu = (asked.json for asked in server.asked)
    assert len(wecom["markdown"]["content"].encode()) <= 4096
    assert len(dingtalk["markdown"]["text"].encode()) <= 20_000
    assert len(feishu["content"]["text"].encode()) <= 18_000


@given(st.text(max_size=60), st.integers(3, 90))
def test_a_clipped_text_fits_and_is_a_prefix(text: str, most: int) -> None:
    clean = text.encode(errors="ignore").decode()
    short = clipped(clean, most)
    assert len(short.encode()) <= most
    assert short == clean or clean.startswith(short.removesuffix("…"))


@pytest.mark.parametrize("name", ["json", "dingtalk", "wecom", "feishu"])
def test_a_connection_that_never_stood_means_it_did_not_leave(name: str) -> None:
    with pytest.raises(TemporaryUpstreamError) as caught:
        sender(settings(name, f"http://127.0.0.1:{closed_port()}/")).send(NOTICE)
    assert caught.value.effect_applied is False


@pytest.mark.parametrize("name", ["json", "dingtalk", "wecom", "feishu"])
def test_a_connection_that_broke_later_leaves_it_open(server: Loopback, name: str) -> None:
    error = failure(name, server, Answer(hang=True), TemporaryUpstreamError, timeout=0.2)
    assert error.effect_applied is None


def test_a_cut_answer_leaves_it_open(server: Loopback) -> None:
    error = failure("wecom", server, Answer(200, b'{"errcode": 0}' * 9, cut=True), TemporaryUpstreamError)
    assert error.effect_applied is None


@pytest.mark.parametrize(("status", "applied"), [(429, False), (503, False), (500, None), (502, None), (408, None)])
def test_busy_answers_tell_whether_it_left(server: Loopback, status: int, applied: bool | None) -> None:
    answer = Answer(status, b"", {"Retry-After": "3"})
    error = failure("json", server, answer, TemporaryUpstreamError)
    assert (error.effect_applied, error.status, error.retry_after) == (applied, status, 3.0)


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404, 410])
def test_refusals_and_redirects_are_the_set_ups_fault(server: Loopback, status: int) -> None:
    answer = Answer(status, b"", {"Location": server.url + "/other"})
    assert failure("json", server, answer, SystemFault).effect_applied is False


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("dingtalk", {"errcode": 130101, "errmsg": "send too fast"}, TemporaryUpstreamError),
        ("dingtalk", {"errcode": 310000, "errmsg": "sign not match"}, SystemFault),
        ("wecom", {"errcode": 45009, "errmsg": "api freq out of limit"}, TemporaryUpstreamError),
        ("wecom", {"errcode": 93000, "errmsg": "invalid webhook url"}, SystemFault),
        ("feishu", {"code": 11232, "msg": "frequency limited"}, TemporaryUpstreamError),
        ("feishu", {"code": 19021, "msg": "sign match fail"}, SystemFault),
    ],
)
def test_robots_say_200_and_mean_no(
    server: Loopback, name: str, body: dict[str, Any], kind: type[StepkeeperError]
) -> None:
    error = failure(name, server, Answer.of(body), kind)
    assert error.effect_applied is False


@pytest.mark.parametrize("body", [b"", b"ok", b"[]", b"{}", b"{broken"])
def test_a_robot_that_says_nothing_clear_leaves_it_open(server: Loopback, body: bytes) -> None:
    assert failure("dingtalk", server, Answer(200, body), TemporaryUpstreamError).effect_applied is None


@pytest.mark.parametrize("made_of", [PlainJson, DingTalk, WeCom, Feishu])
def test_a_webhook_without_an_address_is_refused_at_once(made_of: type[PlainJson]) -> None:
    with pytest.raises(SystemFault, match="STEPKEEPER_NOTICE_URL"):
        made_of(Settings())


@pytest.mark.parametrize("url", ["ftp://x/", "not an address", "http://"])
def test_an_address_that_is_none_is_the_set_ups_fault(url: str) -> None:
    with pytest.raises((SystemFault, TemporaryUpstreamError)) as caught:
        sender(settings("json", url)).send(NOTICE)
    assert caught.value.effect_applied is False


def test_errors_never_show_the_address_which_holds_the_secret(server: Loopback) -> None:
    error = failure("wecom", server, Answer(500), TemporaryUpstreamError)
    assert "k1" not in json.dumps([str(error), str(error.details)])
