"""A real Chromium for tests: the system's own, driven by Playwright. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return the browser's path: `STEPKEEPER_CHROMIUM`, else the first one known by name; None without one."""
    given = os.environ.get("STEPKEEPER_CHROMIUM")
    return given or next((path for path in map(shutil.which, _NAMES) if path is not None), None)


CHROMIUM = find_chromium()
MISSING = CHROMIUM is None and os.environ.get("STEPKEEPER_BROWSER") != "required"
"""True where browser tests are to be skipped; with `STEPKEEPER_BROWSER=required` they fail instead."""


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
