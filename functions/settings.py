"""Settings of the functions, read from the environment at each use; nothing is cached between invocations.

Where things are comes from the names of docs/architecture.md (`OSS_ENDPOINT`, `OSS_BUCKET`); everything of the kit's
own is `STEPKEEPER_*`, documented at its field. Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from functions.errors import SystemFault

__all__ = ["Settings", "current"]

SenderName = Literal["outbox", "json", "dingtalk", "wecom", "feishu"]
ProviderName = Literal["extractive", "openai"]


class Settings(BaseSettings):
    """All settings of the functions. A field's environment variable is its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix="STEPKEEPER_", frozen=True, populate_by_name=True, extra="ignore", env_ignore_empty=True
    )

    oss_endpoint: str = Field(
        default="", validation_alias="OSS_ENDPOINT", description="Where OSS answers, with scheme."
    )
    oss_bucket: str = Field(default="", validation_alias="OSS_BUCKET", description="The bucket of all payloads.")

    fnf_endpoint: str = Field(
        default="", validation_alias="FNF_ENDPOINT", description="Where CloudFlow answers, with scheme."
    )

    function_version: str = Field(
        default="1", min_length=1, description="Version of this code; pinned by a task's first step."
    )
    prompt_version: str = Field(
        default="1", min_length=1, description="Version of the drafting prompt; pinned likewise."
    )

    inline_bytes: int = Field(
        default=1024, ge=0, le=32768, description="Texts up to this size (UTF-8 JSON) travel inline."
    )
    state_bytes: int = Field(
        default=60 * 1024,
        ge=1024,
        le=64 * 1024,
        description="Largest answer of a handler; below 64 KiB to leave headroom.",
    )
    document_bytes: int = Field(default=20 * 1024 * 1024, ge=1, description="Largest document that is read.")
    document_pages: int = Field(default=300, ge=1, description="Most pages of a PDF that are read.")
    text_chars: int = Field(default=400_000, ge=1, description="Longest text taken out of a document, in characters.")
    unpacked_bytes: int = Field(default=200 * 1024 * 1024, ge=1, description="Largest unpacked size of a DOCX (a zip).")

    draft_provider: ProviderName = Field(
        default="extractive", description="Who writes drafts: extractive (offline) or openai."
    )
    draft_base_url: str = Field(
        default="https://dashscope.aliyuncs.com/compatible-mode/v1",
        description="OpenAI-compatible endpoint; the default is Alibaba Model Studio's.",
    )
    draft_model: str = Field(default="qwen-plus", min_length=1, description="Model asked for.")
    draft_api_key: SecretStr = Field(default=SecretStr(""), description="Key of the endpoint.")
    draft_timeout: float = Field(default=120.0, gt=0, description="Seconds before the endpoint counts as away.")
    draft_chars: int = Field(default=4000, ge=200, description="Longest draft accepted, in characters.")
    draft_source_chars: int = Field(
        default=60_000, ge=200, description="Most characters of material sent to the endpoint."
    )

    shop_endpoint: str = Field(
        default="", validation_alias="SHOP_ENDPOINT", description="Where the shop of order_saga answers, with scheme."
    )
    shop_api_key: SecretStr = Field(default=SecretStr(""), description="Bearer key of the shop, when it wants one.")
    shop_timeout: float = Field(default=10.0, gt=0, description="Seconds before the shop counts as away.")

    notice_sender: SenderName = Field(
        default="outbox", description="How notices leave: outbox, json, dingtalk, wecom, feishu."
    )
    notice_url: SecretStr = Field(default=SecretStr(""), description="Address of the webhook (it holds a secret).")
    notice_secret: SecretStr = Field(
        default=SecretStr(""), description="Signing secret of the webhook, when it has one."
    )
    notice_timeout: float = Field(default=10.0, gt=0, description="Seconds before the webhook counts as away.")
    outbox: str = Field(default="/tmp/stepkeeper-outbox", min_length=1, description="Folder of the outbox sender.")  # noqa: S108
    answer_hint: str = Field(
        default="python -m scripts.review {command} {task_id}",
        description="How people answer from a terminal, as shown in notices; {task_id} and {command} are filled in.",
    )

    review_keys: SecretStr = Field(
        default=SecretStr(""),
        description="Keys for links and tokens, 32 characters or more each, commas between, the newest first.",
    )
    review_base_url: str = Field(
        default="",
        pattern=r"^(https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?)?$",
        description="Where the review page answers, as reviewers' browsers see it; no links are sent without it.",
    )
    review_reviewers: str = Field(
        default="", description="Names of the reviewers, commas between; a flow may name others."
    )
    review_escalate_to: str = Field(default="", description="Who is told when a review is about to expire.")
    review_remind_before: int = Field(
        default=86400, ge=0, description="Seconds before its end that a review is reminded of; 0 for never."
    )
    review_escalate_before: int = Field(
        default=21600, ge=0, description="Seconds before its end that a review is escalated; 0 for never."
    )


def current() -> Settings:
    """The settings as the environment says now. Raises `SystemFault` naming each bad variable."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"{_variable(problem['loc'])}: {problem['msg']}" for problem in error.errors())
        raise SystemFault(f"bad settings in the environment: {wrong}", effect_applied=False) from None


def _variable(location: tuple[int | str, ...]) -> str:
    name = str(location[0]) if location else "?"
    return name if name.isupper() else f"STEPKEEPER_{name.upper()}"
