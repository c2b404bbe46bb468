"""Makes pages: templates, translations, headers, the console's own filters."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from .format import duration, iso, moment
from .guard import HEADERS, Guard
from .source import Source
from .sparkline import sparkline
from .texts import translator

FOLDER = Path(__file__).parent
_SHOWN = 1_500
_REFERENCE = re.compile(r"&#34;bucket&#34;: &#34;([^&]+)&#34;,\s*&#34;key&#34;: &#34;([^&]+)&#34;")


class Pages:
    """Renders templates for requests."""

    def __init__(self, source: Source, guard: Guard) -> None:
        self._source = source
        self._guard = guard

    def render(self, request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page in the browser's language."""
        language, translate = translator(request.headers.get("accept-language", ""))
        text = (
            _environment()
            .get_template(template)
            .render(
                language=language,
                _=translate,
                here=request.url.path,
                source=self._source,
                form_token=self._guard.form_token,
                change=request.state.change,
                **values,
            )
        )
        # A value may hold half of a surrogate pair, which no encoding can carry.
        return HTMLResponse(
            text.encode("utf-8", "replace"),
            status,
            headers={**HEADERS, "Content-Language": language, "Vary": "Accept-Language"},
        )


@cache
def _environment() -> jinja2.Environment:
    """Return the templates with the console's filters; compiled once a process."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters.update(duration=duration, moment=moment, iso=iso, pretty=pretty, segment=segment, sparkline=sparkline)
    return made


def segment(text: str) -> str:
    """Return a name as one segment of a path."""
    return quote(text, safe="", errors="replace")


def pretty(value: Any, most: int = _SHOWN) -> Markup:
    """Return a JSON value as readable, escaped text of at most `most` characters, references to objects as links."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    cut = len(text) > most
    shown = str(escape(text[:most] + ("…" if cut else "")))
    return Markup(_REFERENCE.sub(_linked, shown))  # noqa: S704 - escaped above; the link's parts are quoted


def _linked(match: re.Match[str]) -> str:
    bucket, key = (segment(html.unescape(part)) for part in match.groups())
    return f'{match[0]}  <a href="/console/payload?bucket={bucket}&amp;key={key}">↗</a>'


def readable(text: str) -> Any:
    """Return JSON text as a value, other text as it is."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def first(values: Mapping[str, Any], name: str) -> str:
    """Return a form's or query's value as text, empty when it is not there."""
    value = values.get(name)
    return value if isinstance(value, str) else ""
