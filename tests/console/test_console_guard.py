"""Who may use the console: names, origins, form tokens, the login."""

from __future__ import annotations

from typing import Any

import pytest
from console_kit import MadeUp, client, form_token

from local_sim.console.guard import Guard


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::2]"])
def test_a_foreign_host_name_sees_nothing(host: str) -> None:
    for path in ("/console", "/console/static/console.css", "/console/changes"):
        assert client(MadeUp()).get(path, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:9"])
def test_loopback_s_names_are_served(host: str) -> None:
    assert client(MadeUp()).get("/console/waiting", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_pages_of_other_origins_cannot_act_even_with_a_token(headers: dict[str, str]) -> None:
    source = MadeUp()
    browser = client(source)
    token = form_token(browser.get("/console/waiting").text)
    answer = browser.post("/console/stop", data={"form_token": token, "flow": "f", "name": "n"}, headers=headers)
    assert answer.status_code == 403
    assert source.done == []


@pytest.mark.parametrize("path", ["start", "stop", "again", "answer", "faults/add", "faults/clear"])
def test_a_form_without_this_server_s_token_does_nothing(path: str) -> None:
    source = MadeUp()
    for data in ({}, {"form_token": ""}, {"form_token": "x" * 32}, {"form_token": "é"}):
        answer = client(source).post(f"/console/{path}", data={**data, "flow": "f", "name": "n", "input": "{}"})
        assert answer.status_code == 403
    assert client(source).get(f"/console/{path}").status_code == 404
    assert source.done == []


def test_a_read_only_console_does_nothing_and_shows_no_buttons() -> None:
    class ReadOnly(MadeUp):
        writable = False

    source = ReadOnly()
    browser = client(source)
    assert "<form method" not in browser.get("/console/executions/t/t").text
    answer = browser.post("/console/stop", data={"form_token": _token(browser), "flow": "f", "name": "n"})
    assert answer.status_code == 403
    assert source.done == []


def test_a_secret_asks_for_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_sim.console.app._WRONG_SECRET_SECONDS", 0)
    browser = client(MadeUp(), secret="s3cret")
    for path in ("/console", "/console/changes", "/console/executions/t/t"):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/login")
    assert browser.get("/console/static/console.css").status_code == 200
    assert browser.post("/console/login", data={"secret": "wrong"}).status_code == 403
    assert browser.get("/console/waiting").status_code == 303
    entered = browser.post("/console/login", data={"secret": "s3cret"})
    assert entered.status_code == 303
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "s3cret" not in cookie
    assert browser.get("/console/waiting").status_code == 200
    browser.cookies.clear()
    browser.cookies.set("local_sim_console", "x")
    assert browser.get("/console/waiting").status_code == 303


def test_a_login_is_of_one_server_only() -> None:
    one, other = Guard(secret="s"), Guard(secret="s")
    assert one.login("s")
    assert one.login("s") != other.login("s")
    assert one.login("x") is None
    assert one.login(None) is None
    assert Guard().login("") is None


def _token(browser: Any) -> str:
    """Return the form token of a console that shows no form: from its login page's template there is none, so guess."""
    page = browser.get("/console/faults")
    return form_token(page.text) if page.status_code == 200 else "x"
