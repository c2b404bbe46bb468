"""Every refusal of the CloudFlow API.

    CloudFlowError            catch this at the wire: it has a code, an HTTP status and a message
    ├── InvalidArgument       400  a parameter has a wrong value; `parameter` names it
    ├── MissingParameter      400  MissingRequiredParams; `parameter` names it
    ├── EntityTooLarge        400  request or payload over its limit; `limit` in bytes
    ├── ActionNotSupported    400  unknown action, or one this kind of flow does not have
    ├── VersionNotSupported   400  APIVersionNotSupported
    ├── Conflict              400/409  the name is taken, or the thing has ended already
    ├── NotExists             404  FlowNotExists, ExecutionNotExists, ScheduleNotExists and their siblings
    ├── Refused               403  InvalidAccessKeyID, SignatureNotMatch, RequestTimeTooSkewed
    ├── PreconditionFailed    412
    ├── UnsupportedMediaType  415
    ├── Throttled             429  ResourceThrottled
    └── InternalError         500  InternalServerError

Codes and statuses: cloudflow-api page, section 5.3. Texts but FlowNotExists's are ours (S01).
"""

from __future__ import annotations


class CloudFlowError(Exception):
    """A refusal with `code` (the wire's text), `status` (HTTP) and `message`."""

    status = 400
    code = "InvalidArgument"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidArgument(CloudFlowError):
    """A parameter has a value it cannot have; `parameter` is its wire name, empty when none is to blame."""

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class MissingParameter(CloudFlowError):
    """A required parameter is absent or empty."""

    code = "MissingRequiredParams"

    def __init__(self, parameter: str) -> None:
        super().__init__(f"Parameter '{parameter}' is required.")
        self.parameter = parameter


class EntityTooLarge(CloudFlowError):
    """More bytes than `limit`."""

    code = "EntityTooLarge"

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size} bytes; the limit is {limit} bytes.")
        self.size = size
        self.limit = limit


class ActionNotSupported(CloudFlowError):
    """The action is unknown, or this flow's execution mode does not have it."""

    code = "ActionNotSupported"


class VersionNotSupported(CloudFlowError):
    """`Version` is not 2019-03-15."""

    code = "APIVersionNotSupported"


class Conflict(CloudFlowError):
    """The name is taken, or the thing has ended. `code` and `status` differ by case, so they are given."""

    def __init__(self, code: str, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class NotExists(CloudFlowError):
    """Nothing has this name: `code` is FlowNotExists, ExecutionNotExists, ScheduleNotExists, ..."""

    status = 404

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Refused(CloudFlowError):
    """The signature, the key or the time of the request is not accepted."""

    status = 403

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class PreconditionFailed(CloudFlowError):
    """Something else has to be done first."""

    code = "PreconditionFailed"
    status = 412


class UnsupportedMediaType(CloudFlowError):
    """The body is no form."""

    code = "UnsupportedMediaType"
    status = 415


class Throttled(CloudFlowError):
    """More requests or executions than allowed; nothing happened, so the caller may repeat the call."""

    code = "ResourceThrottled"
    status = 429


class InternalError(CloudFlowError):
    """The server failed; the cause is in its log under the request id."""

    code = "InternalServerError"
    status = 500


def flow_not_exists(name: str) -> NotExists:
    """FlowNotExists with the text that Serverless Devs' component matches (cloudflow-api page, section 2, rule 7)."""
    return NotExists("FlowNotExists", f"Flow '{name}' does not exist.")


def execution_not_exists(name: str, flow: str) -> NotExists:
    """ExecutionNotExists, naming the execution and the flow."""
    return NotExists("ExecutionNotExists", f"Execution '{name}' in flow '{flow}' does not exist.")


def schedule_not_exists(name: str, flow: str) -> NotExists:
    """ScheduleNotExists, naming the schedule and the flow."""
    return NotExists("ScheduleNotExists", f"Schedule '{name}' in flow '{flow}' does not exist.")


def version_not_exists(version: str, flow: str) -> NotExists:
    """FlowVersionNotExists: the code is ours (S02)."""
    return NotExists("FlowVersionNotExists", f"Version '{version}' of flow '{flow}' does not exist.")


def alias_not_exists(alias: str, flow: str) -> NotExists:
    """FlowAliasNotExists: the code is ours (S02)."""
    return NotExists("FlowAliasNotExists", f"Alias '{alias}' of flow '{flow}' does not exist.")
