"""The console in a real Chromium: start, watch live, answer; phone, keyboard, no JavaScript, accessibility."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browsers import serious_findings
from test_console_server import FLOW, work

from local_sim.project import Project
from local_sim.server import LocalServer

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "flows").mkdir()
    (folder / "flows" / "ask.yaml").write_text(FLOW)
    registered = {"MNS:Work": work, "MNS:Ask": lambda call: {}}
    with LocalServer(Project(folder), folder / "data", registered=registered) as server:
        yield server


def begin(page: Any, served: LocalServer, name: str, given: str) -> None:
    page.goto(f"{served.endpoint}/console/flows/ask")
    page.get_by_text("Start an execution").click()
    page.get_by_label("name (made up when empty)").fill(name)
    page.get_by_label("input (a JSON object)").fill(given)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(rf"/executions/ask/{name}$"))


def test_an_execution_is_started_watched_answered_and_seen_to_end(page: Any, served: LocalServer) -> None:
    begin(page, served, "live", '{"n": 1}')
    # Nobody reloads: the page itself follows what happens.
    page.get_by_role("button", name="approved").wait_for()
    assert page.locator("g.callback.waiting").count() == 1
    page.get_by_role("button", name="approved").click()
    page.locator("h1 .chip.Succeeded").wait_for()
    page.locator("summary", has_text="Route").click()
    page.locator("details.visit .body pre").first.wait_for()
    page.get_by_role("link", name="History").click()
    assert page.locator("td", has_text="ExecutionSucceeded").count() == 1
    assert page.errors == []


def test_a_failure_is_red_and_can_be_run_again(page: Any, served: LocalServer) -> None:
    begin(page, served, "bad", '{"n": -1}')
    page.locator("h1 .chip.Failed").wait_for()
    assert page.locator("g.task.failed").count() == 1
    assert page.locator("svg.timeline rect.failed").count() == 1
    page.get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda address: not address.endswith("/bad"))
    page.locator("h1 .chip.Failed").wait_for()
    assert page.errors == []


def test_the_overview_follows_without_a_reload(page: Any, served: LocalServer, other_page: Any) -> None:
    page.goto(f"{served.endpoint}/console")
    begin(other_page, served, "seen", '{"n": 2}')
    page.get_by_role("link", name="seen").first.wait_for()
    assert page.errors == []


def test_everything_works_without_javascript(plain_page: Any, served: LocalServer) -> None:
    begin(plain_page, served, "plain", '{"n": 3}')
    plain_page.wait_for_timeout(600)
    plain_page.reload()
    plain_page.get_by_role("button", name="approved").click()
    plain_page.wait_for_timeout(300)
    plain_page.reload()
    assert plain_page.locator("h1 .chip.Succeeded").count() == 1
    plain_page.locator("summary", has_text="Work").click()
    plain_page.locator("#visit-2 a.whole").click()
    assert "MNS:Work" in plain_page.locator("main").inner_text()


PATHS = ["", "/executions", "/flows", "/flows/ask", "/waiting", "/faults"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_accessibility_finding_or_scrolls_sideways_on_a_phone(
    page: Any, served: LocalServer, scheme: str
) -> None:
    begin(page, served, f"shown-{scheme}", '{"n": 4}')
    page.get_by_role("button", name="approved").wait_for()
    page.emulate_media(color_scheme=scheme)
    one = f"/executions/ask/shown-{scheme}"
    for path in [*PATHS, one, f"{one}/history"]:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{served.endpoint}/console{path}")
        assert serious_findings(page) == [], path
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    assert page.errors == []


def test_the_keyboard_reaches_the_content_first(page: Any, served: LocalServer) -> None:
    page.goto(f"{served.endpoint}/console")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
