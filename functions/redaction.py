"""Takes out of texts and values what must not be shown or kept: credentials, and what identifies a person.

Standard library only: errors redact themselves with it, so it is the very bottom of the import order.

By pattern, anywhere in a text: mainland mobile numbers; resident identity numbers of 18 characters (check digit of
GB 11643-1999) and of 15; bank card numbers (ISO/IEC 7812: known issuers, Luhn digit); mail addresses; keys, tokens,
signatures. By field: the whole value under a name that says what it is. Digits may be full-width, and grouped by spaces
or hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["FIELDS", "redact_text", "redact_value"]

_SECRETS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}"), r"\1 ***"),
    (re.compile(r"\b(?:LTAI|STS\.)[A-Za-z0-9]{8,}"), "***"),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{8,}"), "***"),
)
# Signed URLs and key=value pairs whose name says what they are.
_KEY = re.compile(
    r"(?i)\b(?:[a-z_]*(?:secret|password|passwd|token|signature|api[_-]?key|access[_-]?key(?:[_-]?id)?)[a-z_]*"
    r"|ossaccesskeyid|sign)[\"']?\s*[=:]\s*[\"']?"
)
_VALUE = re.compile(r"[^\s\"'&,;}]+")

_MAIL = re.compile(r"[\w.%+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}")
_PHONE = re.compile(r"(?<!\d)(?:(?:\+|00)?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)")
_RESIDENT = re.compile(
    r"(?<!\d)[1-9]\d{5}[ -]?(?:18|19|20)\d{2}[ -]?(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[ -]?\d{3}[\dXx](?!\d)"
)
_RESIDENT_OLD = re.compile(r"(?<!\d)[1-9]\d{7}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}(?!\d)")
_CARD = re.compile(r"(?<!\d)(?:\d{15,19}|\d{4}(?:[ -]\d{4}){3}(?:[ -]?\d{1,3})?|\d{6}[ -]\d{10,13})(?!\d)")
_ISSUERS = re.compile(r"62\d{14,17}|4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|35\d{14}|3[47]\d{13}")
_LUHN_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
_RESIDENT_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)

_PLAIN_DIGITS = {0xFF10 + digit: str(digit) for digit in range(10)}

FIELDS = frozenset(
    {
        "phone", "phone_number", "mobile", "tel", "telephone", "手机", "手机号", "电话",
        "id_card", "id_number", "identity", "resident_id", "身份证", "身份证号",
        "bank_card", "card_number", "account_number", "银行卡", "银行卡号",
        "email", "mail", "邮箱", "address", "地址", "real_name", "姓名",
        "password", "passwd", "secret", "token", "api_key", "access_key", "access_key_secret", "signature",
    }
)  # fmt: skip
"""Names of fields whose whole value is taken out; compared without case, `-` counting as `_`."""


def redact_text(text: str) -> str:
    """Return `text` with credentials as `***` and identifiers as `[phone]`, `[id]`, `[card]`, `[mail]`."""
    plain = text.translate(_PLAIN_DIGITS)
    redacted = _redacted(plain)
    return text if redacted == plain else redacted


def _redacted(text: str) -> str:
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    text = _MAIL.sub("[mail]", _without_values(text))
    # The longest first: an identity number holds what could be a phone number.
    text = _RESIDENT.sub(_if(_resident_checks, "[id]"), text)
    text = _CARD.sub(_if(_card_checks, "[card]"), text)
    text = _RESIDENT_OLD.sub("[id]", text)
    return _PHONE.sub("[phone]", text)


def redact_value(value: Any, fields: frozenset[str] = FIELDS) -> Any:
    """Return a JSON value, or anything else as text, without credentials and identifiers. Nothing is changed in place.

    Keys of maps are redacted as well: they too are written by somebody.
    """
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        text = redact_text(str(value))
        return value if text == str(value) else text
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {redact_text(str(key)): _field(str(key), item, fields) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redact_value(item, fields) for item in value]
    return redact_text(str(value))


def _field(name: str, value: Any, fields: frozenset[str]) -> Any:
    told = name.strip().lower().replace("-", "_") in fields
    return "***" if told and value not in (None, "") else redact_value(value, fields)


def _without_values(text: str) -> str:
    """`text` with the value of every telling key masked, also where one key stands in what may be another's value."""
    kept, done = [], 0
    for key in _KEY.finditer(text):
        value = _VALUE.match(text, key.end())
        if value is not None and value.end() > done:
            kept.append(text[done : max(value.start(), done)] + "***")
            done = value.end()
    return "".join([*kept, text[done:]])


def _if(checks: Callable[[str], bool], replacement: str) -> Callable[[re.Match[str]], str]:
    return lambda match: replacement if checks(re.sub(r"[ -]", "", match[0])) else match[0]


def _card_checks(digits: str) -> bool:
    """Say whether the number is of a known issuer and its Luhn digit is right."""
    if not _ISSUERS.fullmatch(digits):
        return False
    total = sum(_LUHN_DOUBLED[int(digit)] if place % 2 else int(digit) for place, digit in enumerate(reversed(digits)))
    return total % 10 == 0


def _resident_checks(digits: str) -> bool:
    total = sum(weight * int(digit) for weight, digit in zip(_RESIDENT_WEIGHTS, digits, strict=False))
    return "10X98765432"[total % 11] == digits[17].upper()
