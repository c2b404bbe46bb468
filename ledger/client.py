"""The published SDK's client: one per process and settings, with its own retries off."""

from __future__ import annotations

import os
import threading
from typing import Any

from ledger.errors import LedgerMisconfigured
from ledger.settings import CredentialsSource, LedgerSettings

_clients: dict[tuple[int, str, str, float, CredentialsSource], Any] = {}
_lock = threading.Lock()
_MAX_CONNECTIONS = 64


class _SdkCredentials:
    """The SDK's credentials provider over a `CredentialsSource`; asked at each request."""

    def __init__(self, source: CredentialsSource) -> None:
        self._source = source

    def get_credentials(self) -> Any:
        from tablestore.credentials import Credentials as SdkCredentials

        found = self._source()
        return SdkCredentials(found.access_key_id, found.access_key_secret, found.security_token)


def tablestore_client(settings: LedgerSettings, credentials: CredentialsSource) -> Any:
    """Return this process's thread-safe `OTSClient` for these settings.

    Raises `LedgerMisconfigured` when endpoint or instance is not set. A forked child gets its own client: sockets must
    not be shared.
    """
    if not settings.tablestore_endpoint or not settings.tablestore_instance:
        raise LedgerMisconfigured("TABLESTORE_ENDPOINT and TABLESTORE_INSTANCE must both be set")
    key = (
        os.getpid(),
        settings.tablestore_endpoint,
        settings.tablestore_instance,
        settings.socket_timeout_seconds,
        credentials,
    )
    with _lock:
        if key not in _clients:
            _clients[key] = _new_client(settings, credentials)
        return _clients[key]


def _new_client(settings: LedgerSettings, credentials: CredentialsSource) -> Any:
    _quiet_sdk()
    from tablestore import OTSClient
    from tablestore.error import OTSClientError
    from tablestore.retry import NoRetryPolicy

    try:
        return OTSClient(
            settings.tablestore_endpoint,
            instance_name=settings.tablestore_instance,
            credentials_provider=_SdkCredentials(credentials),
            socket_timeout=settings.socket_timeout_seconds,
            max_connection=_MAX_CONNECTIONS,
            # The SDK resends writes that may have been applied (tablestore.md 8.1); the ledger reads back instead.
            retry_policy=NoRetryPolicy(),
            # The pure Python codec behaves the same on every Python; the native one exists for one version only.
            enable_native=False,
        )
    except OTSClientError as error:
        raise LedgerMisconfigured(f"TABLESTORE_ENDPOINT cannot be used: {error}") from error


def _quiet_sdk() -> None:
    """Keep the SDK from logging each lost race as an error, and from announcing its missing native codec."""
    import logging

    logging.getLogger("tablestore-client").setLevel(logging.CRITICAL)
    with _muted_root():
        import tablestore  # noqa: F401


class _muted_root:  # noqa: N801
    """While the SDK is imported: it warns on the root logger that its native codec is missing."""

    def __enter__(self) -> None:
        import logging

        self._before = logging.root.manager.disable
        logging.disable(logging.WARNING)

    def __exit__(self, *_: object) -> None:
        import logging

        logging.disable(self._before)
