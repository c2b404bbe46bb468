"""An HTTP request as OSS reads it: bucket and key from path or host, query and headers decoded once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from local_sim.services.asgi import Scope
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.model import Pairs
from local_sim.services.oss.names import check_bucket, check_key

_VIRTUAL = re.compile(r"(?P<bucket>[^.:]+)\.(?P<domain>[^:]+)(:\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """A request, decoded. `bucket` and `key` are None where the path names none; header names are in lower case.

    Header values are latin-1 text, so that `.encode("latin-1")` gives back the bytes that came over the wire.
    """

    method: str
    bucket: str | None
    key: str | None
    query: Pairs
    headers: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Return whether the query has `name`, with or without a value."""
        return any(name == found for found, _ in self.query)

    def param(self, name: str, default: str = "") -> str:
        """Return the query's value of `name`; `InvalidArgument` when it is given twice."""
        values = [value for found, value in self.query if found == name]
        if len(values) > 1:
            message = f"{name} is given more than once."
            raise ApiError("InvalidArgument", message, ArgumentName=name, ArgumentValue=values[1])
        return values[0] if values else default

    def header(self, name: str, default: str = "") -> str:
        """Return the value of a header, by its lower-case name."""
        return self.headers.get(name, default)

    def bucket_name(self) -> str:
        """Return the bucket; `InvalidRequest` when the request names none."""
        if self.bucket is None:
            raise ApiError("InvalidRequest", "The request names no bucket.")
        return self.bucket

    def object_name(self) -> tuple[str, str]:
        """Return bucket and key; `InvalidRequest` when the request names no key."""
        if self.key is None:
            raise ApiError("InvalidRequest", "The request names no object.")
        return self.bucket_name(), self.key


def parse_scope(scope: Scope, domains: Sequence[str]) -> Request:
    """Return the request of an ASGI scope.

    `domains` are host names whose `bucket.DOMAIN` means that bucket (virtual-host style); any other host is path style.
    Raises `InvalidBucketName`, `InvalidObjectName` or `InvalidArgument`.
    """
    headers = _headers(scope["headers"])
    path = bytes(scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
    bucket, key = _address(headers.get("host", ""), path, domains)
    return Request(str(scope["method"]), bucket, key, _query(bytes(scope["query_string"])), headers)


def _headers(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        text = value.decode("latin-1").strip(" \t")
        lower = name.decode("latin-1").lower()
        headers[lower] = f"{headers[lower]},{text}" if lower in headers else text
    return headers


def _address(host: str, path: bytes, domains: Sequence[str]) -> tuple[str | None, str | None]:
    rest = path[1:] if path.startswith(b"/") else path
    virtual = _VIRTUAL.fullmatch(host)
    if virtual and virtual["domain"].lower() in domains:
        bucket = check_bucket(virtual["bucket"].lower())
    else:
        name, _, rest = rest.partition(b"/")
        if not name:
            return None, None
        bucket = check_bucket(_decode(name, "InvalidBucketName"))
    return bucket, check_key(_decode(rest, "InvalidObjectName")) if rest else None


def _query(raw: bytes) -> Pairs:
    pairs = (pair.partition(b"=") for pair in raw.split(b"&") if pair)
    # A plus is a blank here, unlike in the path: oss2 sends its query through form encoding.
    return tuple((_word(name), _word(value)) for name, _, value in pairs)


def _word(raw: bytes) -> str:
    return _decode(raw.replace(b"+", b" "), "InvalidArgument")


def _decode(raw: bytes, code: str) -> str:
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise ApiError(code, "The request URI is not encoded in UTF-8.") from None
