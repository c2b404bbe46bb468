"""Pages of one Chromium for the console's browser tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsers import CHROMIUM


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def _page(chromium: Any, **options: Any) -> Iterator[Any]:
    context = chromium.new_context(locale="en-GB", viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page whose `errors` gathers what the browser complains about."""
    yield from _page(chromium)


@pytest.fixture
def other_page(chromium: Any) -> Iterator[Any]:
    """A page of somebody else."""
    yield from _page(chromium)


@pytest.fixture
def plain_page(chromium: Any) -> Iterator[Any]:
    """A page without JavaScript."""
    yield from _page(chromium, java_script_enabled=False)
