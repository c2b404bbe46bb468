"""Checks the two signatures that Alibaba Cloud's OpenAPI clients send: the old RPC one and ACS3.

Pure: text in, digest out. Formulas: cloudflow-api page, section 3.3, and ACS3-HMAC-SHA256 as the published core library
computes it. Offline any pair of keys is accepted; these run only when the server has a secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote

ACS3 = "ACS3-HMAC-SHA256"


def rpc_signature(method: str, parameters: Mapping[str, str], secret: str) -> str:
    """Return the RPC v1 HMAC-SHA1 signature, base64, over the union of query and form parameters but `Signature`."""
    pairs = "&".join(f"{_encode(k)}={_encode(v)}" for k, v in sorted(parameters.items()) if k != "Signature")
    text = f"{method.upper()}&%2F&{_encode(pairs)}"
    return base64.b64encode(hmac.new(f"{secret}&".encode(), text.encode(), hashlib.sha1).digest()).decode()


def acs3_signature(
    method: str, path: str, query: str, headers: Mapping[str, str], signed: Iterable[str], secret: str
) -> str:
    """Return the ACS3-HMAC-SHA256 signature, hex. `path` and `query` are as sent, `headers` have lower-case names."""
    names = sorted(name.lower() for name in signed)
    pairs = parse_qsl(query, keep_blank_values=True)
    canonical_query = "&".join(f"{_encode(k)}={_encode(v)}" for k, v in sorted(pairs))
    canonical_headers = "".join(f"{name}:{headers.get(name, '').strip()}\n" for name in names)
    body_hash = headers.get("x-acs-content-sha256", "")
    canonical = "\n".join((method.upper(), path or "/", canonical_query, canonical_headers, ";".join(names), body_hash))
    to_sign = f"{ACS3}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


def acs3_fields(authorization: str) -> dict[str, str] | None:
    """Return the fields of an ACS3 `Authorization` header: Credential, SignedHeaders, Signature; else None."""
    scheme, _, rest = authorization.partition(" ")
    if scheme != ACS3:
        return None
    return {key.strip(): value for key, _, value in (part.partition("=") for part in rest.split(","))}


def same(left: str, right: str) -> bool:
    """Compare two signatures in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


def _encode(text: str) -> str:
    return quote(text, safe="-_.~")
