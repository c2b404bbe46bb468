"""What the fault wrapper must know of this service, which it calls `fc`."""

from __future__ import annotations

import json

from local_sim.services.asgi import Reply, Scope
from local_sim.services.faults import Dialect

from . import routes
from .errors import FunctionComputeError

_EXHAUSTED = "ResourceExhausted"
_STATUS = {_EXHAUSTED: 429, "InternalServerError": 500, "ResourceThrottled": 503, "ConcurrentUpdateError": 409}


def _api_of(scope: Scope, body: bytes) -> str:
    path = scope["path"]
    if path.startswith(routes.HTTP_PREFIX):
        return "HttpTrigger"
    try:
        return routes.match(scope["method"], path).action
    except FunctionComputeError:
        return ""


def _error(code: str | None) -> Reply:
    code = code or _EXHAUSTED
    document = {"RequestId": "fault", "Code": code, "Message": "a fault on demand"}
    return Reply(_STATUS.get(code, 400), ((b"content-type", b"application/json"),), json.dumps(document).encode())


DIALECT = Dialect("fc", _api_of, _error)
