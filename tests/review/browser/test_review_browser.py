"""The review page in real Chromium, from the flow's start to its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from browsers import serious_findings as serious
from review_kit import ROOT, Town

from functions.review import State
from functions.review.links import LOOK_ONLY

pytestmark = pytest.mark.xdist_group("review")

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
SCREENSHOTS = os.environ.get("STEPKEEPER_SCREENSHOTS")
"""Folder that `docs/img/` is refreshed from: STEPKEEPER_SCREENSHOTS=docs/img pytest tests/review/browser."""
DOCUMENT = (ROOT / "docs/examples/service-agreement.md").read_text(encoding="utf-8")
_WAITING: dict[str, str] = {}


@pytest.fixture
def waiting(town: Town) -> str:
    """One task that waits, for the tests that only look."""
    if town.endpoint not in _WAITING:
        _WAITING[town.endpoint] = town.begin(text=DOCUMENT, title="Service agreement")
    return _WAITING[town.endpoint]


def shot(page: Any, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"))


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_from_start_to_end_read_and_approved(town: Town, open_page: Any) -> None:
    task = town.begin(text=DOCUMENT, title="Service agreement")
    page = open_page(town.link(task))
    assert page.get_by_role("heading", level=1).inner_text() == "Service agreement"
    assert page.get_by_role("heading", name="Draft").is_visible()
    assert "48,000" in page.locator(".document").inner_text()
    shot(page, "review-page")
    page.get_by_label("Your name").fill("Lin")
    press(page, "Approve")
    assert "Approved by Lin" in page.get_by_role("status").inner_text()
    assert page.locator("button").count() == 0
    shot(page, "review-approved")
    assert town.status(task) == "Succeeded"
    assert town.path(task)[-4:] == ["RouteReview", "SaveResult", "Notify", "Completed"]


def test_rejected_the_flow_undoes_what_was_done(town: Town, open_page: Any) -> None:
    task = town.begin()
    page = open_page(town.link(task))
    page.get_by_label("Comment").fill("The wrong client.")
    press(page, "Reject")
    assert "Rejected by reviewer" in page.get_by_role("status").inner_text()
    assert "The wrong client." in page.locator(".trail").inner_text()
    assert town.status(task) == "Succeeded"
    assert town.path(task)[-1] == "Rejected"


def test_more_info_needs_a_word_and_leads_to_a_second_round(town: Town, open_page: Any) -> None:
    task = town.begin(text=DOCUMENT, title="Service agreement")
    first = town.link(task)
    page = open_page(first)
    press(page, "Ask for more")
    assert page.get_by_role("alert").inner_text() == "Say in the comment what is missing."
    page.get_by_label("Comment").fill("Which deadline?")
    press(page, "Ask for more")
    assert "More information wanted" in page.get_by_role("status").inner_text()
    town.round(task, 2)
    again = open_page(town.link(task, 2))
    assert again.get_by_text("Changes since round 1 are marked").is_visible()
    assert again.locator(".line-new").count() > 0
    again.locator(".line-new").first.scroll_into_view_if_needed()
    shot(again, "review-second-round")
    stale = open_page(first)
    assert "Round 2 has begun; this page is about round 1." in stale.get_by_role("status").inner_text()
    assert stale.locator("button").count() == 0
    press(again, "Approve")
    assert town.status(task) == "Succeeded"


def test_a_stale_page_that_was_open_cannot_answer_the_later_round(town: Town, open_page: Any) -> None:
    task = town.begin()
    one, two = open_page(town.link(task)), open_page(town.link(task))
    one.get_by_label("Comment").fill("Which deadline?")
    press(one, "Ask for more")
    town.round(task, 2)
    press(two, "Approve")
    assert "The first decision stands." in two.get_by_role("alert").inner_text()
    assert town.round(task, 2).review.pending
    town.stopped(task)


def test_a_double_click_is_one_decision(town: Town, open_page: Any) -> None:
    task = town.begin()
    page = open_page(town.link(task))
    page.get_by_role("button", name="Approve", exact=True).dblclick(no_wait_after=True)
    page.get_by_text("Approved by").first.wait_for()
    kept = town.round(task)
    assert len(kept.review.votes) == 1
    assert [noted.kind for noted in kept.trail].count("decided") == 1
    assert town.status(task) == "Succeeded"


def test_of_two_reviewers_at_once_the_first_one_counts(town: Town, open_page: Any) -> None:
    task = town.begin()
    lin, mei = open_page(town.link(task)), open_page(town.link(task))
    for page, name in ((lin, "Lin"), (mei, "Mei")):
        page.get_by_label("Your name").fill(name)
        page.get_by_label("Comment").fill(f"says {name}")
    press(lin, "Approve")
    press(mei, "Reject")
    alert = mei.get_by_role("alert").inner_text()
    assert alert.startswith("Not counted: Lin – “Approved”, ")
    assert town.round(task).review.state is State.APPROVED
    assert town.status(task) == "Succeeded"
    assert town.path(task)[-1] == "Completed"


def test_two_seats_have_to_approve(town: Town, open_page: Any) -> None:
    flow = town.two_reviewers()
    task = town.begin(flow)
    lin = open_page(town.link(task, seat=1))
    assert lin.get_by_text("You are reviewing as Lin").is_visible()
    press(lin, "Approve")
    assert "You have approved. 1 more to come." in lin.get_by_role("status").inner_text()
    mei = open_page(town.link(task, seat=2))
    assert mei.get_by_text("1 of 2 approvals").is_visible()
    press(mei, "Approve")
    assert town.status(task, flow) == "Succeeded"


def test_forged_and_cut_links_show_nothing(town: Town, waiting: str, open_page: Any) -> None:
    for address in (town.forged(waiting), town.link(waiting)[:-3]):
        page = open_page(address)
        assert page.get_by_role("heading", level=1).inner_text() == "This link does not open anything"
        assert waiting not in page.content()
    assert serious(page) == []


def test_an_expired_link_says_so(town: Town, waiting: str, open_page: Any) -> None:
    from review_kit import link

    from functions.review.links import Links

    text = Links(town.desk().keys).make(link(waiting, expires_s=1_700_000_000))
    page = open_page(f"{town.link(waiting).rpartition('/')[0]}/{text}")
    assert page.get_by_role("heading", level=1).inner_text() == "The time for this review is over"
    assert "14 Nov 2023" in page.content()


def test_a_review_whose_flow_was_stopped_takes_the_decision_and_says_that_it_is_too_late(
    town: Town, open_page: Any
) -> None:
    task = town.begin()
    page = open_page(town.link(task))
    town.stopped(task)
    press(page, "Approve")
    assert "the flow had moved on" in page.get_by_role("status").inner_text()


def test_without_javascript_on_a_phone_in_chinese_in_the_dark(town: Town, open_page: Any) -> None:
    task = town.begin(text=DOCUMENT, title="服务合同")
    options = {**PHONE, "java_script_enabled": False, "locale": "zh-CN", "color_scheme": "dark"}
    page = open_page(town.link(task), **options)
    shot(page, "review-phone")
    page.get_by_label("您的姓名").fill("林")
    press(page, "通过")
    assert "已通过：林" in page.get_by_role("status").inner_text()
    assert town.status(task) == "Succeeded"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [390, 1280])
def test_axe_finds_nothing_serious(town: Town, waiting: str, open_page: Any, scheme: str, wide: int) -> None:
    page = open_page(town.link(waiting), color_scheme=scheme, viewport={"width": wide, "height": 844})
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= wide


def test_the_buttons_are_in_reach_on_a_phone_and_large_enough_for_a_thumb(
    town: Town, waiting: str, open_page: Any
) -> None:
    page = open_page(town.link(waiting), **PHONE)
    for name in ("Approve", "Ask for more", "Reject"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert box["y"] + box["height"] <= 844


def test_by_keyboard_alone(town: Town, open_page: Any) -> None:
    task = town.begin()
    page = open_page(town.link(task))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the decision"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Lin")
    page.keyboard.press("Tab")
    page.keyboard.type("by keyboard")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Approve"
    page.keyboard.press("Enter")
    assert "Approved by Lin" in page.get_by_role("status").inner_text()
    assert town.status(task) == "Succeeded"


def test_what_a_screen_reader_hears(town: Town, waiting: str, open_page: Any) -> None:
    page = open_page(town.link(waiting))
    form = page.get_by_role("form", name="Your decision")
    assert form.get_by_role("textbox").count() == 2
    assert [button.inner_text() for button in form.get_by_role("button").all()] == ["Approve", "Ask for more", "Reject"]
    assert page.get_by_role("region", name="Draft").count() >= 1
    assert page.get_by_role("main").count() == 1


def test_a_link_for_looking_has_no_buttons(town: Town, waiting: str, open_page: Any) -> None:
    page = open_page(town.link(waiting, scope=LOOK_ONLY))
    assert page.locator("button").count() == 0
    assert "for reading only" in page.get_by_role("status").inner_text()


def test_handing_over_is_one_form_away(town: Town, open_page: Any) -> None:
    task = town.begin()
    page = open_page(town.link(task))
    page.get_by_text("Hand to someone else").click()
    page.get_by_label("Name of the new reviewer").fill("Wang Fang")
    press(page, "Hand over")
    assert "handed to Wang Fang" in page.get_by_role("status").inner_text()
    town.stopped(task)


def test_no_markup_runs_in_a_real_browser(town: Town, open_page: Any) -> None:
    evil = (
        "# <img src=x onerror=\"alert('h')\">\n\n<script>alert('s')</script>\n\n"
        "- \"><svg onload=alert('v')>\n\n<iframe srcdoc=\"<script>alert('f')</script>\"></iframe> 48,000 元。\n"
        "<a href=\"javascript:alert('a')\">x</a> <style>*{display:none}</style> {{7*7}}\n"
    )
    task = town.begin(text=evil, title="<script>alert('t')</script>")
    page = open_page(town.link(task))
    page.get_by_label("Your name").fill("<img src=x onerror=alert('n')>")
    page.get_by_label("Comment").fill("</q><script>alert('c')</script>")
    press(page, "Ask for more")
    assert page.get_by_role("heading", level=1).inner_text() == "<script>alert('t')</script>"
    assert page.locator("script, img, svg, iframe, a[href^=javascript]").count() == 0
    again = open_page(town.link(town.round(task, 2).review.task_id, 2))
    assert "</q><script>alert('c')</script>" in again.locator(".trail").inner_text()
    assert again.locator("script, img, svg, iframe").count() == 0
    town.stopped(task)


def test_axe_would_find_something_if_there_were_something(open_page: Any) -> None:
    page = open_page("data:text/html,<html><body><img src='data:,'><p style='color:%23bbb'>pale</p></body></html>")
    assert {finding.split(":")[0] for finding in serious(page)} >= {"image-alt", "html-has-lang", "color-contrast"}
