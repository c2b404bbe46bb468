"""One Chromium for all browser tests of a worker: the system's own, found by name or by STEPKEEPER_CHROMIUM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsers import chromium
from playwright.sync_api import Browser


# Not for the session: the driver keeps an event loop in this thread, and no other test could run one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Any]:
    """Opens a page in a context of its own: `open_page(address, locale="zh-CN", ...)`. Fails on any script error, on a
    dialog, and on a request to anywhere but loopback."""
    contexts: list[Any] = []
    problems: list[str] = []

    def opened(address: str, **options: Any) -> Any:
        given = {"locale": "en-US", "viewport": {"width": 1280, "height": 900}, **options}
        context = browser.new_context(**given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: problems.append(f"script: {error}"))
        page.on("request", lambda request: _outside(request.url) and problems.append(f"request: {request.url}"))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def _outside(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "data:"))
