"""What a child process prints, cut by request."""

from __future__ import annotations

import os
import threading

from .child import LOG_END

_SECONDS = 5


class LogReader:
    """Drains a child's output, so that it never blocks, and cuts it by request."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._text = bytearray()
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._read, name="local-sim-logs", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._descriptor, 1 << 16)
            except OSError:
                part = b""
            with self._news:
                self._text += part
                self._ended = not part
                self._news.notify_all()
            if not part:
                return

    def until(self, request_id: str) -> str:
        """Return what was printed up to the end of a request."""
        mark = f"{LOG_END}{request_id}\n".encode()
        with self._news:
            self._news.wait_for(lambda: mark in self._text or self._ended, timeout=_SECONDS)
            text, _, rest = bytes(self._text).partition(mark)
            self._text = bytearray(rest)
        return text.decode(errors="replace")

    def rest(self) -> str:
        """Return everything printed until the child's end."""
        with self._news:
            self._news.wait_for(lambda: self._ended, timeout=_SECONDS)
            text = bytes(self._text)
            self._text.clear()
        return text.decode(errors="replace")

    def join(self) -> None:
        """Wait for the reader to see the end of the pipe; a grandchild may hold it open, so not for ever."""
        self._thread.join(timeout=1)
