"""Files with the bytes of objects and parts. Their names are random, so no bucket or key ever reaches the file system.

A file is written under `incoming/`, flushed, renamed into `blobs/`, and that directory flushed, before any row may
name it. A file no row names is rubbish of a crash and swept at the next start.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from io import BufferedWriter
from pathlib import Path

from local_sim.services.durability import flush_directory
from local_sim.services.oss.checksums import Digests
from local_sim.services.oss.model import Segment, Written

CHUNK = 256 * 1024
SMALL = 16 * 1024
_FANOUT = "0123456789abcdef"


class BlobFolder:
    """The files below `folder`, with pins: a file that is being read is unlinked only after its last reader."""

    def __init__(self, folder: Path) -> None:
        self._incoming, self._blobs = folder / "incoming", folder / "blobs"
        self._incoming.mkdir(parents=True, exist_ok=True)
        for digit in _FANOUT:
            (self._blobs / digit).mkdir(parents=True, exist_ok=True)
        for directory in (folder, self._blobs):
            flush_directory(directory)
        self._lock = threading.Lock()
        self._pins: Counter[str] = Counter()
        self._doomed: set[str] = set()

    def sweep(self, live: Collection[str]) -> int:
        """Unlink every unfinished file and every file not in `live`; return how many."""
        rubbish = list(self._incoming.iterdir())
        for digit in _FANOUT:
            rubbish += [entry for entry in (self._blobs / digit).iterdir() if entry.name not in live]
        for entry in rubbish:
            entry.unlink()
        return len(rubbish)

    def write(self) -> BlobWriter:
        """Return a writer of a new file."""
        name = uuid.uuid4().hex
        return BlobWriter(self._incoming / name, self._path(name))

    def link(self, segment: Segment) -> Segment:
        """Return the same bytes under a new name; the file must be pinned. Copies nothing if the system can link."""
        if segment.data is not None:
            return segment
        name = uuid.uuid4().hex
        source, target = self._path(segment.blob), self._path(name)
        try:
            os.link(source, target)
        except OSError:  # a file system without hard links
            unfinished = self._incoming / name
            shutil.copyfile(source, unfinished)
            with open(unfinished, "rb+") as file:
                os.fsync(file.fileno())
            unfinished.replace(target)
        flush_directory(target.parent)
        return Segment(name, segment.size)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Hold back every unlinking, so that what a row names in here can still be pinned."""
        with self._lock:
            yield

    def pin(self, segments: Iterable[Segment]) -> None:
        """Keep these files until `unpin`; call inside `reading()`, with the row that names them read inside it too."""
        self._pins.update(segment.blob for segment in segments if segment.blob)

    def unpin(self, segments: Iterable[Segment]) -> None:
        """Give the files back; those that were to be unlinked meanwhile are now."""
        free = []
        with self._lock:
            for blob in [segment.blob for segment in segments if segment.blob]:
                self._pins[blob] -= 1
                if not self._pins[blob]:
                    del self._pins[blob]
                    if blob in self._doomed:
                        self._doomed.discard(blob)
                        free.append(blob)
        self._unlink(free)

    def discard(self, blobs: Iterable[str]) -> None:
        """Unlink files that no row names any more, now or after their last reader."""
        free = []
        with self._lock:
            for blob in filter(None, blobs):
                if blob in self._pins:
                    self._doomed.add(blob)
                else:
                    free.append(blob)
        self._unlink(free)

    def chunks(self, segments: Iterable[Segment], start: int, stop: int) -> Iterator[bytes]:
        """Yield bytes `start` up to `stop` of the segments joined, in pieces of at most 256 KiB."""
        offset = 0
        for segment in segments:
            first, last = max(start - offset, 0), min(stop - offset, segment.size)
            if first < last:
                if segment.data is not None:
                    yield segment.data[first:last]
                else:
                    yield from _read(self._path(segment.blob), first, last)
            offset += segment.size

    def _unlink(self, blobs: Iterable[str]) -> None:
        for blob in blobs:
            self._path(blob).unlink(missing_ok=True)

    def _path(self, blob: str) -> Path:
        return self._blobs / blob[0] / blob


class BlobWriter:
    """Takes the bytes of one run. Up to 16 KiB stay in memory for the row, which spares two flushes; more get a file.

    End with `seal()` or `abandon()`.
    """

    def __init__(self, unfinished: Path, final: Path) -> None:
        self._unfinished, self._final = unfinished, final
        self._small = bytearray()
        self._file: BufferedWriter | None = None
        self._digests = Digests()

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._digests.size

    @property
    def in_memory(self) -> bool:
        """Whether there is no file, so that `seal()` does not block."""
        return self._file is None

    def write(self, data: bytes) -> None:
        """Append `data`."""
        self._digests.update(data)
        if self._file is None and self.size <= SMALL:
            self._small += data
            return
        if self._file is None:
            self._file = open(self._unfinished, "wb")  # noqa: SIM115 - closed by seal() or abandon()
            self._file.write(self._small)
        self._file.write(data)

    def md5(self) -> bytes:
        """Return the MD5 digest of the bytes so far."""
        return self._digests.md5()

    def seal(self) -> Written:
        """Flush the file, give it its name, flush the directory; return what was written. Blocks on the disk."""
        if self._file is None:
            return Written("", self.size, self.md5(), self._digests.crc64, bytes(self._small))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._unfinished.replace(self._final)
        flush_directory(self._final.parent)
        return Written(self._final.name, self.size, self.md5(), self._digests.crc64)

    def abandon(self) -> None:
        """Close and unlink the unfinished file; nothing happens when it is sealed already."""
        if self._file is not None:
            self._file.close()
            self._unfinished.unlink(missing_ok=True)


def _read(path: Path, first: int, last: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        file.seek(first)
        left = last - first
        while left and (data := file.read(min(CHUNK, left))):
            left -= len(data)
            yield data
