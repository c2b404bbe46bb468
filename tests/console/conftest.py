"""Pages of one Chromium for the console's browser tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsers import chromium


# Not for the session: the driver keeps an event loop in this thread, and no other test could run one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


def _page(browser: Any, **options: Any) -> Iterator[Any]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose `errors` gathers what the browser complains about."""
    yield from _page(browser)


@pytest.fixture
def other_page(browser: Any) -> Iterator[Any]:
    """A page of somebody else."""
    yield from _page(browser)


@pytest.fixture
def plain_page(browser: Any) -> Iterator[Any]:
    """A page without JavaScript."""
    yield from _page(browser, java_script_enabled=False)
