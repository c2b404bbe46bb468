"""XML both ways: bodies of clients parsed within bounds, answers written without a namespace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

from local_sim.services.oss.errors import ApiError

MAX_DEPTH = 16
MAX_NODES = 50_000

_UNSAYABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Node:
    """An element of a parsed body: its tag (namespace prefix cut off), text and children."""

    tag: str
    text: str = ""
    children: list[Node] = field(default_factory=list)

    def all(self, tag: str) -> list[Node]:
        """Return the children called `tag`, in order."""
        return [child for child in self.children if child.tag == tag]

    def get(self, tag: str) -> Node | None:
        """Return the first child called `tag`, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def value(self, tag: str) -> str:
        """Return the text of the child called `tag`; `MalformedXML` when it is missing."""
        child = self.get(tag)
        if child is None:
            raise ApiError("MalformedXML", f"<{self.tag}> must have <{tag}>.")
        return child.text


class _Builder:
    """Collects expat's events into nodes, within bounds."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[Node] = []
        self._nodes = 0

    def start(self, tag: str, _attributes: object) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(self._open) >= MAX_DEPTH:
            raise ApiError("MalformedXML", "The XML you provided has too many or too deep elements.")
        node = Node(tag.rpartition(":")[2])
        if self._open:
            self._open[-1].children.append(node)
        else:
            self.root = node
        self._open.append(node)

    def end(self, _tag: str) -> None:
        self._open.pop()

    def text(self, data: str) -> None:
        self._open[-1].text += data


def _refuse_dtd(*_: object) -> NoReturn:
    # Without a document type there are no entities, so neither bombs nor reads of local files.
    raise ApiError("MalformedXML", "A document type declaration is not allowed.")


def parse(body: bytes, root: str) -> Node:
    """Return the root element of `body`; `MalformedXML` unless it is well-formed, bounded and called `root`."""
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_dtd
    parser.EntityDeclHandler = _refuse_dtd
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.buffer_text = True
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ApiError("MalformedXML", f"The XML you provided was not well-formed: {error}") from None
    if builder.root is None or builder.root.tag != root:
        raise ApiError("MalformedXML", f"The root element must be <{root}>.")
    return builder.root


@dataclass(frozen=True)
class Element:
    """An element of an answer: text, a number, or elements inside."""

    tag: str
    content: str | int | Iterable[Element] = ""

    def render(self) -> str:
        """Return the element as text, escaped; what XML cannot say at all becomes U+FFFD."""
        if isinstance(self.content, str):
            inner = escape(_UNSAYABLE.sub("\ufffd", self.content), {"\r": "&#13;"})
        elif isinstance(self.content, int):
            inner = str(self.content)
        else:
            inner = "".join(child.render() for child in self.content)
        return f"<{self.tag}>{inner}</{self.tag}>"


def document(root: Element) -> bytes:
    """Return a whole XML document in UTF-8."""
    return ('<?xml version="1.0" encoding="UTF-8"?>\n' + root.render()).encode()


def sayable(text: str) -> bool:
    """Return whether XML 1.0 can carry `text` as it is."""
    return not _UNSAYABLE.search(text)
