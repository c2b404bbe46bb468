"""Drafts by any OpenAI-compatible endpoint; by default Alibaba Model Studio's. Every failure becomes a typed error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from functions.drafting.base import Draft, DraftRequest
from functions.drafting.prompt import messages
from functions.errors import InvalidInput, SystemFault, TemporaryUpstreamError, redact
from functions.settings import Settings

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAiCompatible"]

UPSTREAM = "draft provider"
_FILTERED = ("content_filter", "data_inspection_failed", "datainspectionfailed", "content_policy_violation")
_TOO_LONG = ("context_length_exceeded", "string_above_max_length", "input length", "maximum context length")


class OpenAiCompatible:
    """One request a draft. The SDK's own retries are off: the flow's Retry decides, and the ledger counts."""

    name = "openai"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def write(self, request: DraftRequest) -> Draft:
        """The draft. Raises `TemporaryUpstreamError` (busy, away, unusable answer), `InvalidInput` (refused content,
        too long) or `SystemFault` (wrong key, model or request)."""
        import httpx
        import openai

        try:
            answer = self._client().chat.completions.create(
                model=self.settings.draft_model,
                messages=messages(request, self.settings.draft_source_chars),  # type: ignore[arg-type]
                temperature=0,
                extra_headers={"Idempotency-Key": request.key},
            )
        except openai.APIStatusError as error:
            _refused(error)
        except openai.APIConnectionError as error:  # time-outs are a subclass
            raise _away(f"no answer: {type(error).__name__}: {error}") from error
        except (openai.OpenAIError, httpx.HTTPError, json.JSONDecodeError) as error:
            raise _away(f"unreadable answer: {type(error).__name__}: {error}") from error
        return Draft(_text(answer, request.limit) + "\n", self.settings.draft_model)

    def _client(self) -> openai.OpenAI:
        import openai

        key = self.settings.draft_api_key.get_secret_value()
        if not key:
            raise SystemFault("STEPKEEPER_DRAFT_API_KEY is not set", effect_applied=False)
        return openai.OpenAI(
            api_key=key, base_url=self.settings.draft_base_url, timeout=self.settings.draft_timeout, max_retries=0
        )


def _refused(error: openai.APIStatusError) -> NoReturn:
    """A 4xx or 5xx. 408, 409, 425, 429 and 5xx pass; refused content is the input's fault; the rest is the set-up's."""
    status = error.status_code
    what = redact(f"{status} {_code(error)} {error.message}".strip(), 300)
    lower = what.lower()
    if any(word in lower for word in _FILTERED):
        raise InvalidInput(
            f"the draft provider's content filter refused: {what}", path="task.document", reason="content filter"
        ) from error
    if status in (408, 409, 425, 429) or status >= 500:
        if "insufficient_quota" in lower or "arrearage" in lower:
            raise SystemFault(f"the draft provider's account is empty: {what}", effect_applied=False) from error
        raise TemporaryUpstreamError(
            what, upstream=UPSTREAM, status=status, retry_after=_retry_after(error), effect_applied=False
        ) from error
    if status == 413 or any(word in lower for word in _TOO_LONG):
        raise InvalidInput(
            f"the material is too long for the model: {what}", path="task.document", reason="too long"
        ) from error
    raise SystemFault(f"the draft provider refused: {what}", effect_applied=False, status=status) from error


def _text(answer: Any, limit: int) -> str:
    """The answer's text. An endpoint that is only nearly compatible may send anything."""
    choices = getattr(answer, "choices", None)
    if not choices:
        raise _away("an answer without choices")
    reason = getattr(choices[0], "finish_reason", None)
    text = getattr(getattr(choices[0], "message", None), "content", None)
    if reason == "content_filter":
        raise InvalidInput(
            "the draft provider's content filter cut the answer", path="task.document", reason="content filter"
        )
    if reason == "length":
        raise SystemFault(
            "the draft was cut at the model's output limit; choose a model with a larger one", effect_applied=False
        )
    if not isinstance(text, str) or not text.strip():
        raise _away("an empty answer")
    if len(text.strip()) > limit:
        raise _away(f"a draft of {len(text.strip())} characters; {limit} are allowed (STEPKEEPER_DRAFT_CHARS)")
    return text.strip()


def _away(what: str) -> TemporaryUpstreamError:
    # Asking for text changes nothing on the other side, so no effect took place (assumption K06).
    return TemporaryUpstreamError(f"draft provider: {redact(what, 300)}", upstream=UPSTREAM, effect_applied=False)


def _code(error: openai.APIStatusError) -> str:
    return str(error.code or error.type or "")


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds from Retry-After; the form with a date is left out, the flow's own interval is long enough."""
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        return None
