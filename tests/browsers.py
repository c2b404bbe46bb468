"""A real Chromium for tests: the system's own, driven by Playwright. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return the browser's path: `STEPKEEPER_CHROMIUM`, else the first one known by name; None without one."""
    given = os.environ.get("STEPKEEPER_CHROMIUM")
    return given or next((path for path in map(shutil.which, _NAMES) if path is not None), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser. Without one the test is skipped, or fails where `STEPKEEPER_BROWSER=required` says so."""
    path = find_chromium()
    if path is None:
        why = "no Chromium found (apt-get install chromium, or name one by STEPKEEPER_CHROMIUM)"
        if os.environ.get("STEPKEEPER_BROWSER") == "required":
            pytest.fail(f"{why}, and STEPKEEPER_BROWSER=required")
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root has no sandbox in a container; the pages are our own.
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


def serious_findings(page: Any) -> list[str]:
    """Return axe-core's serious and critical findings about the page, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
