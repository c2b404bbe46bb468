"""Answers: status, headers and either a body or a reader to stream from."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from local_sim.services.oss.conditions import Span
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.markup import Element, document
from local_sim.services.oss.model import Pairs
from local_sim.services.oss.reader import ObjectReader


@dataclass(frozen=True)
class Stream:
    """Bytes of an open object to send; whoever sends them closes the reader."""

    reader: ObjectReader
    span: Span


@dataclass(frozen=True)
class Response:
    """An answer of the service. Header values are latin-1 text.

    The length and the request id are added when it is sent.
    """

    status: int = 200
    headers: Pairs = ()
    body: bytes | Stream = b""

    @property
    def length(self) -> int:
        """Bytes of the body."""
        if isinstance(self.body, Stream):
            return self.body.span.stop - self.body.span.start
        return len(self.body)


def xml(root: Element, headers: Pairs = ()) -> Response:
    """Return an XML answer."""
    return Response(200, (*headers, ("content-type", "application/xml")), document(root))


def error_response(error: ApiError, *, head: bool, request_id: str, host: str) -> Response:
    """Return the answer for an error: XML in the body, or base64 in `x-oss-err` where a body is not allowed (HEAD)."""
    elements = [
        Element("Code", error.code),
        Element("Message", error.message),
        Element("RequestId", request_id),
        Element("HostId", host),
        *(Element(name, value) for name, value in error.details.items()),
        Element("EC", error.ec),
    ]
    body = document(Element("Error", elements))
    headers = (*error.headers, ("x-oss-ec", error.ec))
    if error.status == 304:
        return Response(304, headers)
    if head:
        return Response(error.status, (*headers, ("x-oss-err", base64.b64encode(body).decode())))
    return Response(error.status, (*headers, ("content-type", "application/xml")), body)
