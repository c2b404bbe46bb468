"""The Tablestore service as an ASGI app: HTTP in and out, and nothing of what the APIs mean."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from local_sim.clock import Clock, RealClock
from local_sim.services.asgi import ASGIApp, Header, Receive, Reply, Scope, Send, read_body, send_reply
from local_sim.services.faults import Dialect
from local_sim.services.tablestore import auth, limits, messages
from local_sim.services.tablestore.auth import Credentials, Signer
from local_sim.services.tablestore.data import DataApi
from local_sim.services.tablestore.errors import (
    InternalServerError,
    MethodNotAllowed,
    ParameterInvalid,
    RequestBodyTooLarge,
    RowOperationConflict,
    ServerBusy,
    TablestoreError,
    UnsupportedOperation,
)
from local_sim.services.tablestore.store import TablestoreStore
from local_sim.services.tablestore.tables import TableApi

_logger = logging.getLogger(__name__)
_FAULT_STATUS = {kind.code: kind.status for kind in (RowOperationConflict, InternalServerError)}
_Handler = Callable[[str, Any], Awaitable[Any]]


def create_app(
    store: TablestoreStore,
    *,
    credentials: Credentials | None = None,
    clock: Clock | None = None,
    local_transactions: bool = True,
) -> ASGIApp:
    """Return the service over `store`, which the caller closes after the host has stopped.

    `clock` is the time of versions, expiry and transactions; the dates of HTTP are always real, since the client
    checks them.
    """
    return _App(store, credentials or Credentials(), clock or RealClock(), local_transactions)


def fault_dialect() -> Dialect:
    """Return what the fault wrapper must know of this service, which it calls `ots`.

    An error without any header is the least the client accepts (tablestore.md section 3.1).
    """
    return Dialect("ots", lambda scope, _: _api_name(scope["path"]), _fault_reply)


def _fault_reply(code: str | None) -> Reply:
    busy = ServerBusy()
    if code is None or code == busy.code:
        return Reply(busy.status, (), _error_body(busy.code, busy.message))
    return Reply(_FAULT_STATUS.get(code, busy.status), (), _error_body(code, "A fault on demand."))


def _api_name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


class _App:
    def __init__(
        self, store: TablestoreStore, credentials: Credentials, clock: Clock, local_transactions: bool
    ) -> None:
        self._credentials = credentials
        self._wall = RealClock()
        self._handlers = _handlers(store, clock, local_transactions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive, limits.MAX_BODY)
        path: str = scope["path"]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        signer: Signer | None = None
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed
            if body is None:
                raise RequestBodyTooLarge
            auth.check_body(headers, body)
            auth.check_date(headers, self._wall.now_ms())
            signer = auth.authenticate(self._credentials, path, headers)
            status, answer = 200, await self._answer(path, auth.required(headers, "x-ots-instancename"), body)
        except TablestoreError as error:
            status, answer = error.status, _error_body(error.code, error.message)
        except Exception:
            _logger.exception("%s failed", path)
            unexpected = InternalServerError()
            status, answer = unexpected.status, _error_body(unexpected.code, unexpected.message)
        await send_reply(send, Reply(status, self._headers(path, answer, signer), answer))

    async def _answer(self, path: str, instance: str, body: bytes) -> bytes:
        api = _api_name(path)
        try:
            request_type, handler = self._handlers[api]
        except KeyError:
            raise UnsupportedOperation(api) from None
        try:
            request = messages.parse(getattr(messages.table_pb2(), request_type), body)
            answer = await handler(instance, request)
        except UnicodeError as error:
            raise ParameterInvalid(f"The request has text that is not UTF-8: {error}.") from error
        return bytes(answer.SerializeToString())

    def _headers(self, path: str, body: bytes, signer: Signer | None) -> list[Header]:
        """Return what the client checks; an answer to nobody known is left unsigned (tablestore.md section 3.1)."""
        now = datetime.fromtimestamp(self._wall.now_ms() / 1000, timezone.utc)
        headers = {
            "x-ots-contentmd5": auth.md5(body),
            "x-ots-contenttype": "protocol buffer",
            "x-ots-date": now.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z",
            "x-ots-requestid": str(uuid.uuid4()),
        }
        if signer is not None:
            headers["authorization"] = signer.authorization(path, headers)
        return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def _error_body(code: str, message: str) -> bytes:
    return bytes(messages.table_pb2().Error(code=code, message=message).SerializeToString())


def _handlers(store: TablestoreStore, clock: Clock, local_transactions: bool) -> Mapping[str, tuple[str, _Handler]]:
    """Return request type and handler by API name."""
    tables = TableApi(store, clock)
    data = DataApi(store, clock, local_transactions=local_transactions)
    by_api: dict[str, _Handler] = {
        "CreateTable": tables.create,
        "ListTable": tables.list,
        "DescribeTable": tables.describe,
        "UpdateTable": tables.update,
        "DeleteTable": tables.delete,
        "PutRow": data.put_row,
        "UpdateRow": data.update_row,
        "DeleteRow": data.delete_row,
        "GetRow": data.get_row,
        "BatchGetRow": data.batch_get_row,
        "BatchWriteRow": data.batch_write_row,
        "GetRange": data.get_range,
        "StartLocalTransaction": data.start_local_transaction,
        "CommitTransaction": data.commit_transaction,
        "AbortTransaction": data.abort_transaction,
    }
    return {api: (f"{api}Request", handler) for api, handler in by_api.items()}
