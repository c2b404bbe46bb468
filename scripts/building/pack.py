"""The ZIP: the same bytes for the same files, whoever builds it and when; and what takes the room in it."""

from __future__ import annotations

import os
import zipfile
from collections import defaultdict
from pathlib import Path

from scripts.building.model import Size

__all__ = ["make_zip", "settle_times", "sizes"]

MOMENT = (1980, 1, 1, 0, 0, 0)
"""The earliest time a ZIP can tell."""
_MOMENT_SECONDS = 315_532_800
IGNORE = "__pycache__\n*.pyc\n.fcignore\n"
"""Content of .fcignore: a run from the folder leaves caches there, and they must not be deployed."""


def make_zip(folder: Path, archive: Path) -> None:
    """Pack what lies in `folder`, in the order of names, with one time and one mode for all files."""
    partial = archive.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in _files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            packed.writestr(entry, path.read_bytes(), compresslevel=9)
    os.replace(partial, archive)


def settle_times(folder: Path) -> None:
    """Write .fcignore, and give every file one time and one mode, so that a ZIP that `s` makes is the same too."""
    (folder / ".fcignore").write_text(IGNORE, encoding="utf-8")
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (_MOMENT_SECONDS, _MOMENT_SECONDS))


def sizes(archive: Path) -> list[Size]:
    """Each top-level name's share of the ZIP, the largest zipped first; what belongs to a name (`x`, `x.libs`) counts
    with it, an installer's notes under `.dist-info`.
    """
    plain: dict[str, int] = defaultdict(int)
    zipped: dict[str, int] = defaultdict(int)
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            head = entry.filename.split("/", 1)[0]
            name = ".dist-info" if head.endswith(".dist-info") else head.removesuffix(".libs")
            plain[name] += entry.file_size
            zipped[name] += entry.compress_size
    return sorted((Size(name, plain[name], zipped[name]) for name in plain), key=lambda one: (-one.zipped, one.package))


def _files(folder: Path) -> list[Path]:
    found = [
        path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc" and path.name != ".fcignore"
    ]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())
