"""SQLite: executions with their flow's text and secret, and every event, durable before the engine sees it."""

from __future__ import annotations

from .errors import ExecutionNotFound, ExecutionStored, JournalError, JournalInUse, JournalUnusable, JournalVersionError
from .store import SCHEMA_VERSION, BackgroundCall, ExecutionRecord, Journal

__all__ = [
    "SCHEMA_VERSION",
    "BackgroundCall",
    "ExecutionNotFound",
    "ExecutionRecord",
    "ExecutionStored",
    "Journal",
    "JournalError",
    "JournalInUse",
    "JournalUnusable",
    "JournalVersionError",
]
