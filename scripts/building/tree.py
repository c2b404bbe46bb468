"""The code folder: our own packages, the wheels unpacked, and nothing that no function needs."""

from __future__ import annotations

import fnmatch
import re
import shutil
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from scripts.building.errors import Unusable

__all__ = ["OWN", "lay_out", "needless"]

OWN = ("functions", "ledger")
"""Our own packages."""
ENTRY = PurePosixPath("functions/entry")
"""What lies here belongs at the root of the package: FC wants a handler's file there (assumption K02)."""

_FOLDERS = frozenset({"__pycache__", "tests", "test", "testing_data", "docs", "doc", "examples", "benchmarks"})
_SUFFIXES = (".pyc", ".pyo", ".pyi", ".pyx", ".pxd", ".pxi", ".c", ".h", ".cc", ".cpp", ".hpp", ".rst", ".lock")
_NAMES = frozenset({"py.typed", ".DS_Store"})
# Of a .dist-info only what programs read (METADATA, entry points) and what must go along (licences) stays.
_NOTES = frozenset({"RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json", "top_level.txt", "zip-safe"})
_LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|authors)")


def lay_out(root: Path, wheels: Iterable[Path], folder: Path, prune: Sequence[str] = ()) -> int:
    """Fill `folder` (made anew) with the project's own code and the wheels; returns how many wheels went in.

    `prune` are patterns of paths from the root of the code. Raises `Unusable` for a pattern that matches nothing, and
    when two packages bring different files of one name.
    """
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    left = set(prune)
    number = 0
    for wheel in wheels:
        number += 1
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = _place(entry.filename)
                if path is None or entry.is_dir():
                    continue
                patterns = [pattern for pattern in prune if fnmatch.fnmatchcase(str(path), pattern)]
                left.difference_update(patterns)
                if not patterns and not needless(path):
                    _put(folder, path, archive.read(entry), wheel.name)
    if left:
        raise Unusable("pyproject.toml", f"[tool.stepkeeper.build] prune: nothing matches {', '.join(sorted(left))}")
    for path, source in _own(root):
        _put(folder, path, source.read_bytes(), "the project")
    return number


def needless(path: PurePosixPath) -> bool:
    """Whether no program reads this file: tests, stubs, sources of compiled parts, an installer's notes."""
    if path.name in _NAMES or (path.suffix in _SUFFIXES and not _LICENCE.search(path.name)):
        return True
    if ".dist-info" in path.parts[0]:
        return path.name in _NOTES
    # The first part is the package itself, which may be called as it likes.
    return bool(_FOLDERS.intersection(path.parts[1:-1])) or path.parts[0] in ("tests", "test", "docs", "examples")


def _place(name: str) -> PurePosixPath | None:
    """Where a wheel's file goes: `x.data/purelib/y` is `y`; scripts and headers go nowhere."""
    path = PurePosixPath(name)
    if ".." in path.parts or path.is_absolute():
        raise Unusable(name, "a wheel's file outside its package")
    if len(path.parts) > 1 and path.parts[0].endswith(".data"):
        return PurePosixPath(*path.parts[2:]) if path.parts[1] in ("purelib", "platlib") else None
    return path


def _own(root: Path) -> Iterable[tuple[PurePosixPath, Path]]:
    for package in OWN:
        if not (root / package).is_dir():
            raise Unusable(package, "there is no such folder")
        for source in sorted((root / package).rglob("*")):
            path = PurePosixPath(source.relative_to(root).as_posix())
            if source.is_file() and not needless(path):
                entry = path.is_relative_to(ENTRY)
                if not entry:
                    yield path, source
                elif path.name != "__init__.py":
                    yield path.relative_to(ENTRY), source


def _put(folder: Path, path: PurePosixPath, data: bytes, whose: str) -> None:
    target = folder / path
    if target.exists() and target.read_bytes() != data:
        raise Unusable(str(path), f"{whose} brings it, and so does another package, with other content")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
