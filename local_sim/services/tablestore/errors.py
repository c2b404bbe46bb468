"""What the Tablestore service answers when it refuses a request.

Every refusal carries the HTTP status, the code and the message that go on the wire. Codes and texts are those the
vendor's own tests assert (tablestore.md section 3.2); where no source gives them, the assumption id stands beside the
class::

    TablestoreError           status, code, message: the whole `Error` answer
    ├── ConditionCheckFail    403 OTSConditionCheckFail: the row is not as the write expected it
    ├── ObjectNotExist        404 OTSObjectNotExist: no such table
    ├── ObjectAlreadyExist    409 OTSObjectAlreadyExist: a table of that name exists
    ├── InvalidPrimaryKey     400 OTSInvalidPK: the key does not fit the table's schema
    ├── ParameterInvalid      400 OTSParameterInvalid: anything else wrong with the request
    ├── AuthFailed            403 OTSAuthFailed: key, signature, body digest or date
    ├── MissingHeader         400 OTSMissingHeader (T01)
    ├── MethodNotAllowed      405 OTSMethodNotAllowed: not a POST
    ├── RequestBodyTooLarge   413 OTSRequestBodyTooLarge
    ├── UnsupportedOperation  400 OTSUnsupportOperation: an API the local service leaves out (T02)
    ├── QuotaExhausted        403 OTSQuotaExhausted: too many tables
    ├── RowOperationConflict  409 OTSRowOperationConflict: the row is locked by a local transaction
    ├── SessionNotExist       404 OTSSessionNotExist: no such local transaction (T03)
    ├── ServerBusy            503 OTSServerBusy: what a throttled client sees
    └── InternalServerError   500 OTSInternalServerError: a fault of the local service, see its log
"""

from __future__ import annotations


class TablestoreError(Exception):
    """A refusal: `status` (HTTP), `code` and `message` as they go on the wire."""

    status = 400
    code = "OTSParameterInvalid"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConditionCheckFail(TablestoreError):
    """The row's existence or a column is not as the condition wants it; the row is unchanged."""

    status = 403
    code = "OTSConditionCheckFail"

    def __init__(self) -> None:
        super().__init__("Condition check failed.")


class ObjectNotExist(TablestoreError):
    """The table does not exist."""

    status = 404
    code = "OTSObjectNotExist"

    def __init__(self) -> None:
        super().__init__("Requested table does not exist.")


class ObjectAlreadyExist(TablestoreError):
    """A table of that name exists."""

    status = 409
    code = "OTSObjectAlreadyExist"

    def __init__(self) -> None:
        super().__init__("Requested table already exists.")


class InvalidPrimaryKey(TablestoreError):
    """The primary key does not fit the table's schema."""

    code = "OTSInvalidPK"


class ParameterInvalid(TablestoreError):
    """The request says something that cannot be done."""


class AuthFailed(TablestoreError):
    """The request is not signed by somebody the service knows."""

    status = 403
    code = "OTSAuthFailed"


class MissingHeader(TablestoreError):
    """A header that every request needs is absent; `name` is its name."""

    code = "OTSMissingHeader"

    def __init__(self, name: str) -> None:
        super().__init__(f"Missing header: {name}.")
        self.name = name


class MethodNotAllowed(TablestoreError):
    """Every request is a POST."""

    status = 405
    code = "OTSMethodNotAllowed"

    def __init__(self) -> None:
        super().__init__("Only POST method for requests is supported.")


class RequestBodyTooLarge(TablestoreError):
    """The body is over the limit."""

    status = 413
    code = "OTSRequestBodyTooLarge"

    def __init__(self) -> None:
        super().__init__("The size of POST data is too large.")


class UnsupportedOperation(TablestoreError):
    """The local service leaves this out and says so; `operation` is what was asked for."""

    code = "OTSUnsupportOperation"

    def __init__(self, operation: str) -> None:
        super().__init__(f"Unsupported operation: {operation}.")
        self.operation = operation


class QuotaExhausted(TablestoreError):
    """The instance holds as many tables as it may."""

    status = 403
    code = "OTSQuotaExhausted"


class RowOperationConflict(TablestoreError):
    """Somebody else's local transaction holds the partition key."""

    status = 409
    code = "OTSRowOperationConflict"

    def __init__(self) -> None:
        super().__init__("Data is being modified by the other request.")


class SessionNotExist(TablestoreError):
    """The local transaction has ended, or never was."""

    status = 404
    code = "OTSSessionNotExist"

    def __init__(self) -> None:
        super().__init__("Session not exist or may be timeout.")


class ServerBusy(TablestoreError):
    """The service asks the client to come back later."""

    status = 503
    code = "OTSServerBusy"

    def __init__(self) -> None:
        super().__init__("Server is busy.")


class InternalServerError(TablestoreError):
    """The local service itself failed."""

    status = 500
    code = "OTSInternalServerError"

    def __init__(self) -> None:
        super().__init__("Internal server error.")
