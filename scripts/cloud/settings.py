"""Where the cloud is and what the deployment is called, from the environment; docs/operations.md lists it all."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from scripts.cloud.errors import NotConfigured

__all__ = ["CloudSettings", "Keys", "current_keys"]


class CloudSettings(BaseSettings):
    """Settings of the cloud-side jobs; a field's variable is its alias. Endpoints default to the public ones."""

    model_config = SettingsConfigDict(frozen=True, populate_by_name=True, extra="ignore", env_ignore_empty=True)

    region: str = Field(
        default="cn-hangzhou", validation_alias=AliasChoices("ALIBABA_CLOUD_REGION", "FC_REGION"), pattern=r"[a-z0-9-]+"
    )
    fnf_endpoint: str = Field(default="", validation_alias="FNF_ENDPOINT", description="CloudFlow.")
    fc_endpoint: str = Field(default="", validation_alias="FC_ENDPOINT", description="Function Compute.")
    account: str = Field(
        default="",
        validation_alias=AliasChoices("ALIBABA_CLOUD_ACCOUNT_ID", "FC_ACCOUNT_ID", "AccountID"),
        pattern=r"\d*",
        description="The account's number; needed only for roles given by a bare name.",
    )
    ram_endpoint: str = Field(default="ram.aliyuncs.com", validation_alias="STEPKEEPER_RAM_ENDPOINT")
    template: Path = Field(default=Path("s.yaml"), validation_alias="STEPKEEPER_TEMPLATE")
    flows: Path = Field(default=Path("flows"), validation_alias="STEPKEEPER_FLOWS")
    archive: Path = Field(default=Path("build/code.zip"), validation_alias="STEPKEEPER_CODE_ZIP")
    alias: str = Field(default="live", validation_alias="STEPKEEPER_ALIAS", pattern=r"[A-Za-z_][A-Za-z0-9_-]{0,127}")
    flow_role: str = Field(
        default="stepkeeper-flows", validation_alias="STEPKEEPER_FLOW_ROLE", description="A name or an ARN."
    )

    @property
    def fnf(self) -> str:
        """The endpoint of CloudFlow (cloudflow-api page, 3.6)."""
        return self.fnf_endpoint or f"{self.region}.fnf.aliyuncs.com"

    @property
    def fc(self) -> str:
        """The endpoint of Function Compute (function-compute page, 10.1)."""
        return self.fc_endpoint or f"fcv3.{self.region}.aliyuncs.com"


@dataclass(frozen=True)
class Keys:
    """An access key pair and, for a role, its security token ("" without one)."""

    key_id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)


def current_keys() -> Keys:
    """The credentials of this moment: ALIBABA_CLOUD_ACCESS_KEY_*, else the pair that `s` reads. Raises `NotConfigured`.

    `s` hands its hooks no credentials (serverless-devs page, section 7), so a hook has to find its own.
    """
    for id_name, secret_name, token_name in (
        ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "ALIBABA_CLOUD_SECURITY_TOKEN"),
        ("AccessKeyID", "AccessKeySecret", "SecurityToken"),
    ):
        key_id, secret = os.environ.get(id_name, ""), os.environ.get(secret_name, "")
        if key_id and secret:
            return Keys(key_id, secret, os.environ.get(token_name, ""))
    raise NotConfigured(
        "ALIBABA_CLOUD_ACCESS_KEY_ID", "set it and ALIBABA_CLOUD_ACCESS_KEY_SECRET (what `s config` keeps is not read)"
    )
