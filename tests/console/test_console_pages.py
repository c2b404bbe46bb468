"""Every page shows what it should, in both languages, with strict headers."""

from __future__ import annotations

import pytest
from console_kit import MadeUp, client, form_token, parsed

ONE = "/console/executions/t/t"
PAGES = {
    "/console": "Overview",
    "/console/flows": "Flows",
    "/console/flows/t": "t",
    "/console/executions": "Executions",
    ONE: "t",
    f"{ONE}/visits/2": "t",
    f"{ONE}/history": "t",
    f"{ONE}/logs": "t",
    f"{ONE}/panels": "t",
    "/console/panels": "Figures",
    "/console/waiting": "Waiting",
    "/console/payload?bucket=b&key=k": "Payload",
    "/console/login": "Log in",
}


@pytest.mark.parametrize(("path", "heading"), PAGES.items())
def test_pages_are_whole_documents_with_one_heading_and_strict_headers(path: str, heading: str) -> None:
    answer = client(MadeUp()).get(path)
    assert answer.status_code == 200
    tree = parsed(answer.text)
    headings = ["".join(one.itertext()).strip() for one in tree.iter("h1")]
    assert len(headings) == 1
    assert headings[0].startswith(heading)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert tree.attrib["lang"] == "en"
    for tag in tree.iter():
        assert not any(str(name).startswith("on") or name == "style" for name in tag.attrib), tag.tag
    assert all("src" in script.attrib for script in tree.iter("script"))


@pytest.mark.parametrize(
    ("language", "lang", "word"),
    [
        ("zh-CN,zh;q=0.9", "zh", "总览"),
        ("en-GB", "en", "Overview"),
        ("de, zh;q=0.5", "zh", "总览"),
        ("", "en", "Overview"),
    ],
)
def test_the_browser_s_language_is_spoken(language: str, lang: str, word: str) -> None:
    answer = client(MadeUp()).get("/console", headers={"Accept-Language": language})
    assert parsed(answer.text).attrib["lang"] == lang
    assert word in answer.text


def test_every_word_of_the_templates_is_translated() -> None:
    import re
    from pathlib import Path

    import local_sim.console as package
    from local_sim.console.texts import CHINESE

    folder = Path(package.__file__).parent / "templates"
    words = {word for file in folder.glob("*.html") for word in re.findall(r'_\("([^"]+)"\)', file.read_text())}
    assert len(words) > 40
    assert words - CHINESE.keys() == set()


@pytest.mark.parametrize(
    "path",
    [
        "/console/none",
        "/console/flows/none",
        "/console/executions/t/none",
        f"{ONE}/visits/99",
        "/console/static/../app.py",
    ],
)
def test_what_is_not_there_is_404_and_says_so(path: str) -> None:
    answer = client(MadeUp()).get(f"/console/{path}")
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("query", ["from=tomorrow", "to=2026-99-01"])
def test_a_filter_that_cannot_be_read_is_told(query: str) -> None:
    answer = client(MadeUp()).get(f"/console/executions?{query}")
    assert answer.status_code == 400
    assert "is no day" in answer.text


def test_an_execution_shows_attempts_errors_and_where_they_were_caught() -> None:
    page = client(MadeUp("Draft")).get("/console/executions/Draft/Draft").text
    assert "2 attempts" in page
    assert "→ Draft" in page
    assert 'class="bar caught"' in page
    assert 'class="task caught"' in page or 'class="task cancelled"' in page
    fragment = client(MadeUp("Draft")).get("/console/executions/Draft/Draft/visits/2", headers={"X-Fragment": "1"}).text
    assert "<html" not in fragment
    assert fragment.count('class="chip failed"') == 2


def test_a_reference_to_an_object_is_a_link() -> None:
    page = client(MadeUp("a/b c")).get("/console/executions/x/x").text
    links = [one.attrib["href"] for one in parsed(page).iter("a")]
    assert "/console/payload?bucket=b&key=a%2Fb%20c" in links


def test_forms_act() -> None:
    source = MadeUp("Draft")
    browser = client(source)
    token = form_token(browser.get("/console/waiting").text)
    given = {"form_token": token, "flow": "f", "name": "n"}
    started = browser.post("/console/start", data={**given, "input": '{"a": 1}'})
    assert (started.status_code, started.headers["location"]) == (303, "/console/executions/Draft/Draft")
    browser.post("/console/stop", data=given)
    browser.post("/console/again", data=given)
    browser.post("/console/answer", data={**given, "token": "T", "field": "decision", "choice": "approved"})
    answered = browser.post("/console/answer", data={**given, "token": "T", "output": '{"x": 1}', "back": "//evil"})
    assert answered.headers["location"] == "/console/waiting"
    assert source.done[0] == ("start", ("f", "n", '{"a": 1}'))
    assert source.done[1] == ("stop", ("f", "n"))
    assert source.done[2][0] == "start"
    assert source.done[3:] == [("answer", ("T", {"decision": "approved", "note": ""})), ("answer", ("T", {"x": 1}))]


@pytest.mark.parametrize("text", ["{", "[1]", "NaN", '"text"', "[" * 100_000])
def test_an_input_that_is_no_object_starts_nothing(text: str) -> None:
    source = MadeUp()
    browser = client(source)
    token = form_token(browser.get("/console/waiting").text)
    answer = browser.post("/console/start", data={"form_token": token, "flow": "f", "input": text})
    assert answer.status_code == 400
    assert "the input" in answer.text
    assert source.done == []


def test_a_history_of_thousands_of_events_stays_a_small_page() -> None:
    from local_sim.console.model import Event

    class Long(MadeUp):
        async def history(self, flow: str, name: str) -> list[Event]:
            events = [Event(1, 0, "", "ExecutionStarted", 0, {"input": {}})]
            for visit in range(1_250):
                first, state = len(events) + 1, f"State{visit % 9}"
                value = {"text": "x" * 2_000}
                kinds = ("StepEntered", "StepStarted", "StepSucceeded", "StepExited")
                events += [
                    Event(first + n, first + n - 1, state, kind, visit * 10 + n, {"input": value, "output": value})
                    for n, kind in enumerate(kinds)
                ]
            return events

    browser = client(Long())
    for path in (ONE, f"{ONE}?page=12", f"{ONE}/history", f"{ONE}/history?page=49"):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert len(answer.content) < 150_000, path
    assert "1250 visits" in browser.get(ONE).text
