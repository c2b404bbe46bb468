"""Signatures of requests and answers, V2 and V4 (tablestore.md section 2.3).

The client checks the answer's signature against its own secret, so the service must know that secret: there is no way
to serve a client whose secret is unknown.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from local_sim.services.tablestore.errors import AuthFailed, MissingHeader

LOCAL_KEY_ID = "local"
LOCAL_SECRET = "local"  # noqa: S105 - the published pair of a loopback service
_PREFIX = "x-ots-"
_UNSIGNED = frozenset({"x-ots-signature", "x-ots-signaturev4"})
_CLOCK_SKEW_S = 15 * 60
_HMAC_BLOCK = 64  # of SHA-1 and SHA-256, the only ones in use


@dataclass(frozen=True)
class Credentials:
    """Access key ids and their secrets.

    When not `strict`, a request under an unknown key id is served too, if it is signed with any known secret or with
    the key id itself as secret. Whoever listens beyond loopback must be strict.
    """

    secrets: Mapping[str, str] = field(default_factory=lambda: {LOCAL_KEY_ID: LOCAL_SECRET})
    strict: bool = False

    def candidates(self, key_id: str) -> Iterator[str]:
        """Yield the secrets a request under `key_id` may be signed with."""
        if key_id in self.secrets:
            yield self.secrets[key_id]
        elif not self.strict:
            yield key_id
            yield from self.secrets.values()


@dataclass(frozen=True)
class Signer:
    """Signs answers to one client; `key` is the secret, or the key that V4 derives from it."""

    key_id: str
    key: bytes

    def authorization(self, path: str, headers: Mapping[str, str]) -> str:
        """Return the `Authorization` value of an answer with these headers."""
        text = _header_lines(headers) + "\n" + path
        return f"OTS {self.key_id}:{_hmac(self.key, text, 'sha1')}"


def authenticate(credentials: Credentials, path: str, headers: Mapping[str, str]) -> Signer:
    """Return who signs the answer; raises `AuthFailed` or `MissingHeader`. Header names must be in lower case."""
    key_id = required(headers, "x-ots-accesskeyid")
    signed = {name: value for name, value in headers.items() if name not in _UNSIGNED}
    text = f"{path}\nPOST\n\n{_header_lines(signed)}\n"
    if "x-ots-signaturev4" in headers:
        return _authenticate_v4(credentials, key_id, text, headers)
    given = required(headers, "x-ots-signature")
    for secret in credentials.candidates(key_id):
        key = secret.encode()
        if _same(_hmac(key, text, "sha1"), given):
            return Signer(key_id, key)
    raise _refused(credentials, key_id)


def _authenticate_v4(credentials: Credentials, key_id: str, text: str, headers: Mapping[str, str]) -> Signer:
    date, region = required(headers, "x-ots-signdate"), required(headers, "x-ots-signregion")
    for secret in credentials.candidates(key_id):
        key = _v4_key(secret, date, region)
        if _same(_hmac(key, text + "ots", "sha256"), headers["x-ots-signaturev4"]):
            return Signer(key_id, key)
    raise _refused(credentials, key_id)


def check_body(headers: Mapping[str, str], body: bytes) -> None:
    """Raise `AuthFailed` unless the body is the one that was signed."""
    if required(headers, "x-ots-contentmd5") != md5(body):
        raise AuthFailed("Mismatch between MD5 value of request body and x-ots-contentmd5 in header.")


def check_date(headers: Mapping[str, str], now_ms: int) -> None:
    """Raise `AuthFailed` when the request is dated more than 15 minutes off."""
    text = required(headers, "x-ots-date")
    try:
        sent_s = _timestamp(text)
    except ValueError:
        raise AuthFailed(f"Invalid date format: {text}.") from None
    if abs(sent_s - now_ms / 1000) > _CLOCK_SKEW_S:
        raise AuthFailed(f"Mismatch between system time and x-ots-date: {text}.")


def required(headers: Mapping[str, str], name: str) -> str:
    """Return the header's value; raises `MissingHeader`."""
    try:
        return headers[name]
    except KeyError:
        raise MissingHeader(name) from None


def md5(body: bytes) -> str:
    """Return the base64 MD5 that both sides put in `x-ots-contentmd5`."""
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    return binascii.b2a_base64(digest, newline=False).decode()


def _header_lines(headers: Mapping[str, str]) -> str:
    return "\n".join(sorted(f"{name}:{value.strip()}" for name, value in headers.items() if name.startswith(_PREFIX)))


def _hmac(key: bytes, text: str, digest: str) -> str:
    inner, outer = (half.copy() for half in _hmac_halves(key, digest))
    inner.update(text.encode())
    outer.update(inner.digest())
    return binascii.b2a_base64(outer.digest(), newline=False).decode()


@functools.lru_cache(maxsize=128)
def _hmac_halves(key: bytes, digest: str) -> tuple[hashlib._Hash, hashlib._Hash]:
    """Return the two hashes of RFC 2104 after their key blocks.

    Setting them up anew costs ten times the rest of a signature.
    """
    block = key if len(key) <= _HMAC_BLOCK else hashlib.new(digest, key).digest()
    block = block.ljust(_HMAC_BLOCK, b"\0")
    return (
        hashlib.new(digest, bytes(byte ^ 0x36 for byte in block)),
        hashlib.new(digest, bytes(byte ^ 0x5C for byte in block)),
    )


@functools.lru_cache(maxsize=16)
def _timestamp(text: str) -> float:
    """Return seconds since the epoch. Clients date their requests to the second, so the same text comes many times."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


def _same(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode())


@functools.lru_cache(maxsize=64)
def _v4_key(secret: str, date: str, region: str) -> bytes:
    """The chain of digests; its last link, as base64 text, is the key."""
    key = f"aliyun_v4{secret}".encode()
    for link in (date, region, "ots", "aliyun_v4_request"):
        key = hmac.digest(key, link.encode(), "sha256")
    return base64.b64encode(key)


def _refused(credentials: Credentials, key_id: str) -> AuthFailed:
    if key_id in credentials.secrets:
        return AuthFailed("Signature mismatch.")
    return AuthFailed(
        f"The AccessKeyID '{key_id}' does not exist. The local service knows: {', '.join(sorted(credentials.secrets))}."
    )
