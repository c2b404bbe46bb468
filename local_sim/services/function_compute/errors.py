"""Every refusal of the Function Compute API. A function's own failure is no error here: it is a reply (section 5.1).

    FunctionComputeError      catch this at the wire: it has a code, an HTTP status and a message
    ├── InvalidArgument       400  `field` names what is wrong, empty when nothing in particular is
    ├── PathNotSupported      400
    ├── EntityTooLarge        400  `limit` in bytes
    ├── AccessDenied          403  AccessDenied, SignatureNotMatch, InvalidAccessKeyID
    ├── NotFound              404  FunctionNotFound and its siblings
    ├── Conflict              409  FunctionAlreadyExists and its siblings
    ├── PreconditionFailed    412
    ├── Exhausted             429  ResourceExhausted
    └── BadResponse           502  an HTTP function's answer is none

Codes: function-compute page, section 5.3; those that the page does not list are S11.
"""

from __future__ import annotations


class FunctionComputeError(Exception):
    """A refusal with `code` (the wire's text), `status` (HTTP) and `message`."""

    status = 500
    code = "InternalServerError"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidArgument(FunctionComputeError):
    """Something in the request has a value it cannot have."""

    status = 400
    code = "InvalidArgument"

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class PathNotSupported(FunctionComputeError):
    """No such path or method, or one that local_sim does not play."""

    status = 400
    code = "PathNotSupported"


class EntityTooLarge(FunctionComputeError):
    """More bytes than `limit`; the message names the limit (function-compute page, section 6)."""

    status = 400
    code = "EntityTooLarge"

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size} bytes, the limit is {limit} bytes")
        self.size = size
        self.limit = limit


class AccessDenied(FunctionComputeError):
    """The signature, the key or the caller is not accepted."""

    status = 403

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotFound(FunctionComputeError):
    """Nothing has this name: `code` is FunctionNotFound, VersionNotFound, AliasNotFound, TriggerNotFound, ..."""

    status = 404

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Conflict(FunctionComputeError):
    """The name or the task id is taken."""

    status = 409

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class PreconditionFailed(FunctionComputeError):
    """Something else has to be done first."""

    status = 412
    code = "PreconditionFailed"


class Exhausted(FunctionComputeError):
    """More work than allowed at once; nothing happened, so the caller may repeat the call."""

    status = 429
    code = "ResourceExhausted"


class BadResponse(FunctionComputeError):
    """The function's answer cannot be made an HTTP response."""

    status = 502
    code = "BadResponse"


def function_not_found(name: str) -> NotFound:
    """FunctionNotFound with the documented text."""
    return NotFound("FunctionNotFound", f"function '{name}' does not exist")


def version_not_found(name: str, version: str) -> NotFound:
    """VersionNotFound."""
    return NotFound("VersionNotFound", f"version '{version}' of function '{name}' does not exist")


def alias_not_found(name: str, alias: str) -> NotFound:
    """AliasNotFound."""
    return NotFound("AliasNotFound", f"alias '{alias}' of function '{name}' does not exist")


def trigger_not_found(name: str, trigger: str) -> NotFound:
    """TriggerNotFound."""
    return NotFound("TriggerNotFound", f"trigger '{trigger}' of function '{name}' does not exist")
