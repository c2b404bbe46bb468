"""The files of a world as values, so that they can be put back after a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def read_tree(folder: Path) -> dict[str, bytes | None]:
    """Return the files below a folder with their bytes, and its folders with None."""
    found: dict[str, bytes | None] = {}
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    found[entry.path] = None
                    waiting.append(entry.path)
                else:
                    with open(entry.path, "rb") as file:
                        found[entry.path] = file.read()
    return found


def write_tree(folder: Path, tree: Mapping[str, bytes | None]) -> None:
    """Make a folder hold exactly `tree`."""
    now = read_tree(folder)
    for path in sorted(now.keys() - tree.keys(), reverse=True):
        (os.rmdir if now[path] is None else os.unlink)(path)
    for path in sorted(tree.keys()):
        data = tree[path]
        if path in now and now[path] == data:
            continue
        if data is None:
            os.makedirs(path, exist_ok=True)
        else:
            Path(path).write_bytes(data)
