"""Credentials from the environment, read at each use.

FC renews them there without a restart (function-compute.md section 3: on 3.12 the context has none). Nothing is kept,
so no client outlives its credentials (case C59) and no refresh can be missed or doubled (case C58).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from functions.errors import SystemFault

__all__ = ["Credentials", "region"]


@dataclass(frozen=True)
class Credentials:
    """An access key pair and, for a role, its security token ("" without one)."""

    key_id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    def now(cls) -> Credentials:
        """The credentials of this moment. Raises `SystemFault` when there are none."""
        key_id = os.environ.get("ALIBABA_CLOUD_ACCESS_KEY_ID", "")
        secret = os.environ.get("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "")
        if not key_id or not secret:
            raise SystemFault(
                "no credentials: ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET are not both set "
                "(does the function have a role?)",
                effect_applied=False,
            )
        return cls(key_id, secret, os.environ.get("ALIBABA_CLOUD_SECURITY_TOKEN", ""))


def region() -> str:
    """The region this process runs in, or "" when the environment does not say."""
    return os.environ.get("ALIBABA_CLOUD_REGION") or os.environ.get("FC_REGION") or ""
