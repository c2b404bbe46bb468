"""Whatever a flow, a person or a handler writes is shown as text: no page gets an element or attribute from it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from console_kit import MadeUp, client, parsed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local_sim.console.pages import segment

PIECES = st.sampled_from(
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=1>', "'", '"', "</pre>", "</title>",
     "</style>", "javascript:alert(1)", "{{ 7*7 }}", "{% raw %}", "]]>", "<!--", "&lt;b&gt;", "&#34;", "\x00", "\ud800",
     '{"bucket": "b", "key": "</a><script>"}', "</textarea>", "</summary>", "text", "a/b", "..", "?x=1#y"]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), min_size=1, max_size=4).map("".join).filter(bool)
PATHS = [
    "/console",
    "/console/flows",
    "/console/executions",
    "/console/waiting",
    "/console/panels",
    "/console/payload?bucket=b&key=k",
]


def shape(page: str) -> Counter[tuple[str, tuple[str, ...]]]:
    """Count a page's elements by name and attributes, links' targets and SVG's numbers left out."""
    found = Counter[tuple[str, tuple[str, ...]]]()
    for element in parsed(page).iter():
        if isinstance(element.tag, str):
            found[element.tag, tuple(sorted(map(str, element.attrib)))] += 1
    return found


@pytest.mark.parametrize("definition_too", [False, True])
def test_marked_up_texts_add_no_element_and_no_attribute(definition_too: bool) -> None:
    plain = [set(shape(page)) for page in _pages("plain", definition_too)]

    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(TEXTS)
    def check(text: str) -> None:
        for hostile, known in zip(_pages(text, definition_too), plain, strict=True):
            assert set(shape(hostile)) - known <= HARMLESS
            targets = [one.attrib.get("href", "") for one in parsed(hostile).iter("a")]
            assert all(target.startswith(("/console", "#", "?")) for target in targets), targets

    check()


HARMLESS: set[tuple[str, tuple[str, ...]]] = {("a", ("href",)), ("option", ("selected",))}


def _pages(text: str, definition_too: bool) -> list[str]:
    source: Any = MadeUp(text, definition=text) if definition_too else MadeUp(text)
    browser = client(source)
    one = f"/console/executions/{segment('x')}/{segment('x')}"
    paths = [*PATHS, "/console/flows/x", one, f"{one}/visits/2", f"{one}/history", f"{one}/logs", f"{one}/panels"]
    paths.append("/console/executions/x/none")
    return [browser.get(path).text for path in paths]
