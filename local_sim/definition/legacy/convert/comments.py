"""Finds the comments of a YAML text, so that a conversion can keep them."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


def comments_of(text: str) -> dict[int, str]:
    """Return the comments by line number, from 1, without the `#`. What stands inside a scalar is no comment."""
    import yaml

    covered: dict[int, list[tuple[int, int]]] = {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for token in yaml.scan(text, Loader=loader):
        if type(token).__name__ != "ScalarToken":
            continue
        for line in range(token.start_mark.line, token.end_mark.line + 1):
            first = token.start_mark.column if line == token.start_mark.line else 0
            last = token.end_mark.column if line == token.end_mark.line else 1 << 30
            covered.setdefault(line, []).append((first, last))
    found: dict[int, str] = {}
    for number, written in enumerate(text.split("\n")):
        for match in _COMMENT.finditer(written):
            if not any(first <= match.start() < last for first, last in covered.get(number, ())):
                found[number + 1] = match.group()[1:].strip()
                break
    return found
