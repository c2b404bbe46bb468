"""CloudFlow as the kit sees it: report a task's end, and ask what an execution has been through.

A report that was not answered may have been taken (cloudflow-api.md section 7: a token counts once), so nothing here
repeats one; whoever reports asks the history afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from functions.credentials import Credentials, region
from functions.errors import StepkeeperError, SystemFault, TemporaryUpstreamError
from functions.settings import Settings

__all__ = ["CloudFlow", "Past", "ReportRefused"]

UPSTREAM = "cloudflow"
_TIMEOUT_MS = 5000
_PAGE = 999
_OVER = frozenset({"TaskAlreadyCompleted", "InvalidArgument"})


@dataclass(frozen=True)
class Past:
    """One event of an execution's history: its number, type, state ("" for the execution's own) and detail."""

    number: int
    type: str
    step: str
    detail: dict[str, Any]


class ReportRefused(StepkeeperError):
    """CloudFlow does not take this report: the token was used, has run out, or is none. `code` is CloudFlow's word."""

    advice = "Ask the execution's history how the task ended."

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message, effect_applied=False, code=code)
        self.code = code


class CloudFlow:
    """One endpoint. Methods raise `TemporaryUpstreamError` when nobody could say whether the request was taken
    (`effect_applied` None) or it certainly was not (False), and `SystemFault` when the set-up is wrong."""

    def __init__(self, endpoint: str) -> None:
        if not endpoint:
            raise SystemFault("FNF_ENDPOINT has to be set: decisions are reported there", effect_applied=False)
        self.endpoint = endpoint

    @classmethod
    def of(cls, settings: Settings) -> CloudFlow:
        """CloudFlow where the settings say it is."""
        return cls(settings.fnf_endpoint)

    def succeed(self, token: str, output: dict[str, Any]) -> None:
        """Report that the task of `token` ended well with `output`. Raises `ReportRefused`."""
        from alibabacloud_fnf20190315 import models

        text = json.dumps(output, ensure_ascii=False, separators=(",", ":"))
        request = models.ReportTaskSucceededRequest(task_token=token, output=text)
        self._ask(lambda client: client.report_task_succeeded(request))

    def history(self, flow: str, execution: str) -> list[Past]:
        """Every event of an execution, oldest first. Raises `ReportRefused` when there is no such execution."""
        from alibabacloud_fnf20190315 import models

        found: list[Past] = []
        following: str | None = None
        while True:
            request = models.GetExecutionHistoryRequest(
                flow_name=flow, execution_name=execution, limit=_PAGE, next_token=following
            )
            body = self._page(request)
            found += [_past(event) for event in body.events or []]
            following = body.next_token
            if not following:
                return found

    def _page(self, request: Any) -> Any:
        return self._ask(lambda client: client.get_execution_history(request)).body

    def _ask(self, call: Callable[[Any], Any]) -> Any:
        try:
            return call(self._client())
        except Exception as error:
            raise _typed(error) from error

    def _client(self) -> Any:
        from alibabacloud_fnf20190315.client import Client
        from alibabacloud_tea_openapi.models import Config

        now = Credentials.now()
        scheme, found, host = self.endpoint.rpartition("://")
        return Client(
            Config(
                access_key_id=now.key_id,
                access_key_secret=now.secret,
                security_token=now.token or None,
                endpoint=host,
                protocol=scheme if found else "https",
                region_id=region() or None,
                connect_timeout=_TIMEOUT_MS,
                read_timeout=_TIMEOUT_MS,
            )
        )


def _past(event: Any) -> Past:
    try:
        detail = json.loads(event.event_detail or "{}")
    except ValueError:
        detail = {}
    return Past(
        int(event.event_id), str(event.type), str(event.step_name or ""), detail if isinstance(detail, dict) else {}
    )


def _typed(error: Exception) -> StepkeeperError:
    """The SDK raises one class for every refusal; code and status tell them apart (cloudflow-api.md 3.5)."""
    if isinstance(error, StepkeeperError):
        return error
    code = str(getattr(error, "code", None) or "")
    status = getattr(error, "status_code", None) or getattr(error, "statusCode", None)
    if code in _OVER or code in ("ExecutionNotExists", "FlowNotExists"):
        return ReportRefused(f"CloudFlow answered {code}: {getattr(error, 'message', '')}", code=code)
    if status is None or not code:
        return TemporaryUpstreamError(f"CloudFlow did not answer ({type(error).__name__})", upstream=UPSTREAM)
    if status == 429 or status == 409:
        said = f"CloudFlow is not ready ({status} {code})"
        return TemporaryUpstreamError(said, upstream=UPSTREAM, status=status, effect_applied=False)
    if status >= 500:
        return TemporaryUpstreamError(f"CloudFlow failed ({status} {code})", upstream=UPSTREAM, status=status)
    return SystemFault(f"CloudFlow refused: {status} {code}", effect_applied=False, upstream=UPSTREAM)
