"""A real account as the console sees it, through the published SDKs. Read-only unless asked otherwise."""

from __future__ import annotations

import asyncio
import heapq
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from .errors import CloudUnreachable, NotFound, Refused
from .format import iso
from .model import Event, ExecutionDetail, ExecutionRow, Filter, FlowRow, Json, LogText, Page, WaitingTask

_PAGE = 100
_CHANGE_SECONDS = 5.0
_TIMEOUT_MS = 10_000
_PAYLOAD_BYTES = 1_000_000
_MESSAGE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Account:
    """Where an account is and with which keys; `token` is a role's. `of` reads the environment."""

    region: str
    endpoint: str
    key_id: str
    key_secret: str
    token: str = ""
    oss_endpoint: str = ""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Account:
        """Return the account the environment names. Raises CloudUnreachable without keys."""
        region = environment.get("ALIBABA_CLOUD_REGION") or environment.get("FC_REGION") or "cn-hangzhou"
        key_id = environment.get("ALIBABA_CLOUD_ACCESS_KEY_ID", "")
        secret = environment.get("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "")
        if not key_id or not secret:
            raise CloudUnreachable(
                "set ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET, and ALIBABA_CLOUD_REGION"
            )
        return cls(
            region,
            environment.get("FNF_ENDPOINT") or f"{region}.fnf.aliyuncs.com",
            key_id,
            secret,
            environment.get("ALIBABA_CLOUD_SECURITY_TOKEN", ""),
            environment.get("OSS_ENDPOINT") or f"https://oss-{region}.aliyuncs.com",
        )


class CloudSource:
    """Implements `console.Source` on an account."""

    local = False

    def __init__(self, account: Account, *, writable: bool = False) -> None:
        self.title = f"{account.region} · {account.endpoint.partition('://')[2] or account.endpoint}"
        self.writable = writable
        self._account = account
        self._kept: Any = None

    def change(self) -> int:
        """See Source: an account tells nobody of changes, so pages look again every few seconds."""
        return int(time.monotonic() / _CHANGE_SECONDS)

    async def flows(self) -> list[FlowRow]:
        """See Source."""
        rows: list[FlowRow] = []
        following: str | None = None
        while True:
            body = await self._send("ListFlows", "list_flows", limit=_PAGE, next_token=following)
            rows += [FlowRow(one.name, one.description or "") for one in body.flows or []]
            following = body.next_token
            if not following:
                return sorted(rows, key=lambda row: row.name)

    async def counts(self) -> dict[str, int]:
        """See Source: an account does not count."""
        return {}

    async def definition(self, flow: str) -> str:
        """See Source."""
        return str((await self._send("DescribeFlow", "describe_flow", name=flow)).definition)

    async def executions(self, wanted: Filter) -> Page:
        """See Source. Pages go on within one flow; of all flows the newest are listed."""
        if wanted.flow:
            return await self._page(wanted.flow, wanted)
        names = [row.name for row in await self.flows()]
        pages = await asyncio.gather(*(self._page(name, wanted) for name in names))
        rows = (row for page in pages for row in page.rows)
        return Page(tuple(heapq.nlargest(wanted.limit, rows, key=lambda row: row.started_ms)))

    async def execution(self, flow: str, name: str) -> ExecutionDetail:
        """See Source."""
        body = await self._send("DescribeExecution", "describe_execution", flow_name=flow, execution_name=name)
        events = await self.history(flow, name) if body.status not in ("Running", "Starting", "Succeeded") else []
        end = events[-1].detail if events else {}
        return ExecutionDetail(
            flow=body.flow_name,
            name=body.name,
            status=body.status,
            started_ms=_ms(body.started_time),
            stopped_ms=_ms(body.stopped_time) if body.stopped_time else None,
            definition=body.flow_definition or "",
            input=body.input or "",
            output=body.output or "",
            error=str(end.get("error", "")),
            cause=str(end.get("cause", "")),
        )

    async def history(self, flow: str, name: str) -> list[Event]:
        """See Source."""
        events: list[Event] = []
        following: str | None = None
        while True:
            fields = {"flow_name": flow, "execution_name": name, "limit": 1000, "next_token": following}
            body = await self._send("GetExecutionHistory", "get_execution_history", **fields)
            events += [_event(one) for one in body.events or []]
            following = body.next_token
            if not following:
                return events

    async def waiting(self) -> list[WaitingTask]:
        """See Source: an account does not list tokens; who asked for an answer keeps them (scripts/review.py)."""
        return []

    async def logs(self, flow: str, name: str) -> list[LogText]:
        """See Source: logs of an account are in its log service (scripts/logs.py)."""
        return []

    async def payload(self, bucket: str, key: str) -> bytes | None:
        """See Source."""
        return await asyncio.to_thread(self._object, bucket, key)

    async def start(self, flow: str, name: str, given: str) -> ExecutionDetail:
        """See Source."""
        fields = {"flow_name": flow, "execution_name": name or None, "input": given}
        body = await self._send("StartExecution", "start_execution", **fields)
        return await self.execution(flow, body.name)

    async def stop(self, flow: str, name: str) -> None:
        """See Source."""
        fields = {"flow_name": flow, "execution_name": name, "cause": "stopped in the console"}
        await self._send("StopExecution", "stop_execution", **fields)

    async def answer(self, token: str, output: Json) -> None:
        """See Source."""
        text = json.dumps(output, ensure_ascii=False)
        await self._send("ReportTaskSucceeded", "report_task_succeeded", task_token=token, output=text)

    async def _page(self, flow: str, wanted: Filter) -> Page:
        fields = {
            "flow_name": flow,
            "limit": wanted.limit,
            "metadata_only": True,
            "status": wanted.status or None,
            "execution_name_prefix": wanted.text or None,
            "started_time_begin": None if wanted.from_ms is None else iso(wanted.from_ms),
            "started_time_end": None if wanted.to_ms is None else iso(wanted.to_ms),
            "next_token": wanted.below or None,
        }
        body = await self._send("ListExecutions", "list_executions", **fields)
        rows = [
            ExecutionRow(
                flow=flow,
                name=one.name,
                status=one.status,
                started_ms=_ms(one.started_time),
                stopped_ms=_ms(one.stopped_time) if one.stopped_time else None,
            )
            for one in body.executions or []
        ]
        return Page(tuple(rows), body.next_token or "")

    async def _send(self, action: str, method: str, **fields: Any) -> Any:
        return await asyncio.to_thread(self._send_now, action, method, fields)

    def _send_now(self, action: str, method: str, fields: dict[str, Any]) -> Any:
        from alibabacloud_fnf20190315 import models

        request = getattr(models, f"{action}Request")(**fields)
        try:
            return getattr(self._client(), method)(request).body
        except Exception as error:  # noqa: BLE001 - the SDK lets through whatever its transport raises
            code, message = str(getattr(error, "code", None) or ""), _message(error)
            if code.endswith("NotExists"):
                raise NotFound(message) from None
            if code:
                raise Refused(f"{action}: {code}: {message}") from None
            raise CloudUnreachable(f"{self._account.endpoint} cannot be reached: {message}") from None

    def _client(self) -> Any:
        if self._kept is None:
            from alibabacloud_fnf20190315.client import Client
            from alibabacloud_tea_openapi.models import Config

            account = self._account
            scheme, found, host = account.endpoint.rpartition("://")
            self._kept = Client(
                Config(
                    access_key_id=account.key_id,
                    access_key_secret=account.key_secret,
                    security_token=account.token or None,
                    endpoint=host,
                    protocol=scheme if found else "https",
                    region_id=account.region,
                    connect_timeout=_TIMEOUT_MS,
                    read_timeout=_TIMEOUT_MS,
                )
            )
        return self._kept

    def _object(self, bucket: str, key: str) -> bytes | None:
        import oss2

        account = self._account
        auth = oss2.StsAuth(account.key_id, account.key_secret, account.token) if account.token else None
        auth = auth or oss2.Auth(account.key_id, account.key_secret)
        try:
            found = oss2.Bucket(auth, account.oss_endpoint, bucket).get_object(key, byte_range=(0, _PAYLOAD_BYTES))
            return bytes(found.read())
        except oss2.exceptions.OssError:
            return None


def _message(error: Exception) -> str:
    """Return an SDK's text without the signed address of the request."""
    text = str(getattr(error, "message", None) or error)
    return re.sub(r"with url: \S+", "", text)[:_MESSAGE_CHARACTERS]


def _event(one: Any) -> Event:
    detail = one.event_detail or ""
    return Event(one.event_id, one.schedule_event_id or 0, one.step_name or "", one.type, _ms(one.time), detail)


def _ms(text: str) -> int:
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(moment.replace(tzinfo=moment.tzinfo or timezone.utc).timestamp() * 1000)


def from_environment(*, writable: bool) -> CloudSource:
    """Return the source for the account that this process's environment names. Raises CloudUnreachable."""
    return CloudSource(Account.of(os.environ), writable=writable)
