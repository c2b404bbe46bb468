"""An object that is being read."""

from __future__ import annotations

from collections.abc import Iterator

from local_sim.services.oss.blobs import BlobFolder
from local_sim.services.oss.model import ObjectInfo, Segment


class ObjectReader:
    """One version of an object, kept readable until `close()` even when it is replaced or deleted.

    Also a context manager.
    """

    def __init__(self, blobs: BlobFolder, info: ObjectInfo, segments: tuple[Segment, ...]) -> None:
        self._blobs = blobs
        self._open = True
        self.info = info
        self.segments = segments

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield bytes `start` up to `stop` (to the end when None), in pieces of at most 256 KiB."""
        return self._blobs.chunks(self.segments, start, self.info.size if stop is None else stop)

    def close(self) -> None:
        """Let go of the bytes. Safe to call twice."""
        if self._open:
            self._open = False
            self._blobs.unpin(self.segments)

    def __enter__(self) -> ObjectReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
