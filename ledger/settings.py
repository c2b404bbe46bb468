"""Settings of the ledger, read from the environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from ledger.errors import LedgerMisconfigured


class LedgerSettings(BaseSettings):
    """Where the ledger lies and how patient it is. Field names work as keywords; the environment's names are aliases.

    - `table`: the ledger table; the time-bucketed table of tasks is `<table>_tasks`.
    - `lease_seconds`: how long a claim holds unless renewed.
    - `busy_wait_seconds`: how long a call waits for another worker; None: the lease + 5.
    - `store_deadline_seconds`: how long one operation may retry; it has to stay below the lease.
    - `max_clock_skew_seconds`: the most two workers' clocks may be apart (assumption L05).
    - `inline_limit_bytes`: results above this many bytes of UTF-8 go to the blob store.
    """

    model_config = SettingsConfigDict(frozen=True, populate_by_name=True, extra="ignore")

    tablestore_endpoint: str = Field(default="", validation_alias="TABLESTORE_ENDPOINT")
    tablestore_instance: str = Field(default="", validation_alias="TABLESTORE_INSTANCE")
    table: str = Field(
        default="stepkeeper_ledger", validation_alias="STEPKEEPER_LEDGER_TABLE", pattern=r"^[A-Za-z_]\w{0,200}$"
    )
    lease_seconds: float = Field(default=30, validation_alias="STEPKEEPER_LEASE_SECONDS", gt=0, le=86400)
    busy_wait_seconds: float | None = Field(default=None, validation_alias="STEPKEEPER_BUSY_WAIT_SECONDS", ge=0)
    store_deadline_seconds: float = Field(default=10, validation_alias="STEPKEEPER_STORE_DEADLINE_SECONDS", gt=0)
    socket_timeout_seconds: float = Field(default=3, validation_alias="STEPKEEPER_SOCKET_TIMEOUT_SECONDS", gt=0)
    max_clock_skew_seconds: float = Field(default=3600, validation_alias="STEPKEEPER_MAX_CLOCK_SKEW_SECONDS", ge=0)
    inline_limit_bytes: int = Field(default=16384, validation_alias="STEPKEEPER_INLINE_LIMIT_BYTES", ge=0, le=1_048_576)
    oss_endpoint: str = Field(default="", validation_alias="OSS_ENDPOINT")
    oss_bucket: str = Field(default="", validation_alias="OSS_BUCKET")

    @property
    def tasks_table(self) -> str:
        """Name of the time-bucketed table of tasks."""
        return f"{self.table}_tasks"

    @property
    def busy_wait(self) -> float:
        """Seconds a call waits for another worker."""
        return self.lease_seconds + 5 if self.busy_wait_seconds is None else self.busy_wait_seconds


@dataclass(frozen=True)
class Credentials:
    """An access key pair and, for a role, its security token."""

    access_key_id: str
    access_key_secret: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


CredentialsSource = Callable[[], Credentials]


def environment_credentials() -> Credentials:
    """Read the credentials from the environment, anew at each call: they are renewed without a restart (case C59).

    Raises `LedgerMisconfigured` naming the missing variable.
    """
    return Credentials(
        access_key_id=_required("ALIBABA_CLOUD_ACCESS_KEY_ID"),
        access_key_secret=_required("ALIBABA_CLOUD_ACCESS_KEY_SECRET"),
        security_token=os.environ.get("ALIBABA_CLOUD_SECURITY_TOKEN") or None,
    )


def _required(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise LedgerMisconfigured(f"the environment variable {name} is not set")
    return value
