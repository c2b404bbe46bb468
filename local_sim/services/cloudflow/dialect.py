"""What the fault wrapper must know of this service, which it calls `fnf`."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from local_sim.services.asgi import Reply, Scope
from local_sim.services.faults import Dialect

_THROTTLED = "ResourceThrottled"
_STATUS = {_THROTTLED: 429, "InternalServerError": 500, "ConcurrentUpdateError": 409, "TaskInvalidState": 409}


def _api_of(scope: Scope, body: bytes) -> str:
    query: bytes = scope["query_string"]
    for text in (query, body[:65536]):
        found = parse_qs(text.decode("latin-1")).get("Action")
        if found:
            return found[0]
    headers = dict(scope["headers"])
    return bytes(headers.get(b"x-acs-action", b"")).decode("latin-1")


def _error(code: str | None) -> Reply:
    code = code or _THROTTLED
    document = {"RequestId": "fault", "HostId": "local_sim", "Code": code, "Message": "A fault on demand."}
    return Reply(_STATUS.get(code, 400), ((b"content-type", b"application/json"),), json.dumps(document).encode())


DIALECT = Dialect("fnf", _api_of, _error, reads_body=True)
