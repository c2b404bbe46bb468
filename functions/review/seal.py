"""Callback tokens at rest: AES-256-GCM, bound to the row they lie in, with the name of the key in front.

Form: `1.<key name>.<base64url of nonce and ciphertext>`. A token is the right to answer for a reviewer, so it lies
nowhere in clear (case C44).
"""

from __future__ import annotations

import base64
import hashlib
import secrets

from functions.review.errors import ReviewKeysMissing
from functions.review.keys import Keys
from functions.review.model import ReviewId

__all__ = ["open_sealed", "place", "seal"]

_NONCE = 12
_VERSION = "1"


def seal(keys: Keys, text: str, where: str) -> str:
    """`text` encrypted with the newest key. `where` has to be the same when it is opened."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key = keys.derived("token")[0]
    nonce = secrets.token_bytes(_NONCE)
    data = nonce + AESGCM(key).encrypt(nonce, text.encode(), where.encode())
    return f"{_VERSION}.{_name(key)}.{base64.urlsafe_b64encode(data).decode()}"


def open_sealed(keys: Keys, sealed: str, where: str) -> str:
    """The text. Raises `ReviewKeysMissing` when its key is not at hand or it was sealed for another place."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    version, _, rest = sealed.partition(".")
    name, _, text = rest.partition(".")
    key = next((key for key in keys.derived("token") if _name(key) == name), None)
    if version != _VERSION or key is None:
        raise ReviewKeysMissing(f"the token was sealed with key {name or '?'}, which is not in STEPKEEPER_REVIEW_KEYS")
    data = base64.urlsafe_b64decode(text)
    try:
        return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], where.encode()).decode()
    except InvalidTag as error:
        raise ReviewKeysMissing("the sealed token was changed, or belongs to another review") from error


def place(where: ReviewId) -> str:
    """What a review's token is bound to."""
    return f"{where.task_id}\0{where.entry}"


def _name(key: bytes) -> str:
    return hashlib.sha256(b"name" + key).hexdigest()[:8]
