"""What `local_sim.services.faults` must know of OSS: the names of its operations and the shape of its errors."""

from __future__ import annotations

import secrets

from local_sim.services.asgi import Reply, Scope
from local_sim.services.faults import Dialect
from local_sim.services.oss.errors import CATALOGUE, ApiError
from local_sim.services.oss.operations import api_name, route
from local_sim.services.oss.request import parse_scope
from local_sim.services.oss.response import error_response

BUSY = "ServiceUnavailable"


def _api_of(scope: Scope, _body: bytes) -> str:
    """Return the name of the operation, such as `PutObject`; `Unknown` for requests OSS would refuse as such."""
    try:
        return api_name(route(parse_scope(scope, ("localhost",))))
    except ApiError:
        return "Unknown"


def _error(code: str | None) -> Reply:
    """Return the answer of a service that is too busy, or of the documented error `code`."""
    error = ApiError(code if code is not None and code in CATALOGUE else BUSY)
    error.code = code or BUSY
    request_id = secrets.token_hex(12).upper()
    response = error_response(error, head=False, request_id=request_id, host="localhost")
    headers = (*response.headers, ("x-oss-request-id", request_id), ("date", "Thu, 01 Jan 1970 00:00:00 GMT"))
    encoded = tuple((name.encode(), value.encode("latin-1")) for name, value in headers)
    return Reply(response.status, encoded, response.body if isinstance(response.body, bytes) else b"")


DIALECT = Dialect("oss", _api_of, _error)
