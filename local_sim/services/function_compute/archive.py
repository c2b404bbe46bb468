"""Code packages: ZIPs in, folders on the disk, safely. Nothing in a ZIP may leave its folder or fill the disk."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from local_sim.services.oss.checksums import crc64

from .errors import EntityTooLarge, InvalidArgument
from .records import CodePackage

ZIP_BYTES = 500 * 1024 * 1024
"""The largest of the published figures (function-compute page, section 6)."""
UNPACKED_BYTES = 2 * 1024 * 1024 * 1024
UNPACKED_FILES = 100_000
_CHUNK = 1 << 20
_SKIPPED = frozenset({"__pycache__", "node_modules"})
_SKIPPED_AT_TOP = frozenset({"build", "dist"})


class CodeStore:
    """Keeps each package once, under the SHA-256 of its ZIP."""

    def __init__(self, folder: Path, *, zip_limit: int = ZIP_BYTES, unpacked_limit: int = UNPACKED_BYTES) -> None:
        self._folder = folder
        self._zip_limit = zip_limit
        self._unpacked_limit = unpacked_limit

    def add(self, archive: bytes) -> CodePackage:
        """Unpack a ZIP. Raises EntityTooLarge, or InvalidArgument for a ZIP that is broken or unsafe."""
        if len(archive) > self._zip_limit:
            raise EntityTooLarge("the code package", len(archive), self._zip_limit)
        digest = hashlib.sha256(archive).hexdigest()
        target = self._folder / digest
        package = CodePackage(target / "code", str(crc64(archive)), len(archive))
        if not package.folder.is_dir():
            self._unpack(archive, target)
        return package

    def zip_of(self, package: CodePackage) -> bytes:
        """Return the package's ZIP; a folder that came without one, such as a project's, is packed."""
        kept = package.folder.parent / "code.zip"
        if kept.is_file() and self._folder in package.folder.parents:
            return kept.read_bytes()
        return pack_folder(package.folder)

    def snapshot(self, package: CodePackage, beside: Sequence[Path] = ()) -> CodePackage:
        """Return a package that later changes of a project's folders do not reach."""
        if self._folder in package.folder.parents:
            return package
        return self.add(pack_folder(package.folder, *beside))

    def _unpack(self, archive: bytes, target: Path) -> None:
        staging = target.with_name(f"{target.name}.{os.getpid()}.new")
        shutil.rmtree(staging, ignore_errors=True)
        (staging / "code").mkdir(parents=True)
        try:
            _extract(archive, staging / "code", self._unpacked_limit)
            (staging / "code.zip").write_bytes(archive)
            os.replace(staging, target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def pack_folder(*folders: Path) -> bytes:
    """Return a ZIP of what lies in the folders, the same bytes for the same files; where two hold a file of one name
    the first counts. Hidden folders, caches and, at the top, what builds made are left out.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner, path in sorted(_files(folders).items()):
            # A fixed date: the checksum must say whether the code changed, nothing else.
            entry = zipfile.ZipInfo(inner.as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (path.stat().st_mode & 0xFFFF) << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _files(folders: Sequence[Path]) -> dict[Path, Path]:
    found: dict[Path, Path] = {}
    for folder in folders:
        for parent, folders_inside, names in os.walk(folder):
            skipped = _SKIPPED | _SKIPPED_AT_TOP if Path(parent) == folder else _SKIPPED
            folders_inside[:] = [name for name in folders_inside if name[0] != "." and name not in skipped]
            for path in (Path(parent, name) for name in names):
                if path.is_file() and not path.is_symlink():
                    found.setdefault(path.relative_to(folder), path)
    return found


def _extract(data: bytes, folder: Path, limit: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > UNPACKED_FILES:
                raise InvalidArgument(f"code.zipFile: more than {UNPACKED_FILES} entries", "code.zipFile")
            left = limit
            for entry in entries:
                left -= _extract_one(archive, entry, folder, left, limit)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise InvalidArgument(f"code.zipFile: the ZIP cannot be unpacked: {error}", "code.zipFile") from error


def _extract_one(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, left: int, limit: int) -> int:
    target = _safe_target(entry, folder)
    if entry.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    # The size in the directory may lie: what counts is what comes out.
    with archive.open(entry) as source, target.open("wb") as sink:
        while chunk := source.read(_CHUNK):
            written += len(chunk)
            if written > left:
                raise EntityTooLarge("the unpacked code", limit - left + written, limit)
            sink.write(chunk)
    target.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)
    return written


def _safe_target(entry: zipfile.ZipInfo, folder: Path) -> Path:
    name = entry.filename.replace("\\", "/")
    parts = PurePosixPath(name).parts
    unsafe = not parts or name.startswith("/") or ".." in parts or ":" in parts[0] or "\0" in name
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if unsafe or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a link or device" if not unsafe else "a path outside the package"
        raise InvalidArgument(f"code.zipFile: entry {entry.filename!r} is {what}", "code.zipFile")
    return folder.joinpath(*parts)
