"""Templates to text. Every value is escaped; the style sheet is the one thing that is not, and it is a file of ours."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from functions.review.web.diff import printable
from functions.review.web.words import Words

__all__ = ["policy", "render"]

_FOLDER = Path(__file__).with_name("templates")


def render(template: str, words: Words, **values: object) -> str:
    """The page `template` in the language of `words`."""
    return str(_templates().get_template(template).render(words=words, css=_css(), **values))


@lru_cache(maxsize=1)
def policy() -> str:
    """The Content-Security-Policy: our one style sheet by its hash, forms to ourselves, nothing else at all."""
    digest = base64.b64encode(hashlib.sha256(_css().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        # Every value, whoever wrote it, is without marks that hide or turn text.
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=False,
    )


@lru_cache(maxsize=1)
def _css() -> str:
    text = (_FOLDER / "page.css").read_text(encoding="utf-8")
    return "".join(line.strip() for line in text.splitlines())
