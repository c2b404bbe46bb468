"""The measurement of cold starts: shares of the SDKs' time, without byte code of the packages."""

from __future__ import annotations

import importlib.util
import py_compile
from pathlib import Path

import pytest

from scripts.bench import coldstart

HEAVY = "total = sum(range(3_000_000))\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    handlers = tmp_path / "functions" / "handlers"
    handlers.mkdir(parents=True)
    (tmp_path / "sdk.py").write_text(HEAVY)
    (tmp_path / "entry.py").write_text("def a(event, context): ...\n")
    (handlers / "a.py").write_text("blob = bytearray(30 * 2**20)\n")
    return tmp_path


def test_each_import_is_measured_beside_all_sdks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coldstart, "SDKS", ("sdk",))
    sdks, entry, handler = coldstart.measure(folder, ["entry.a"], 1)
    assert (sdks.what, sdks.share) == ("all four SDKs", 1.0)
    assert (entry.what, handler.what) == ("entry", "functions.handlers.a")
    assert entry.share == entry.seconds / sdks.seconds < 1
    assert 25 < handler.mebibytes < 60
    assert not list(folder.rglob("__pycache__"))


def test_byte_code_of_packages_is_not_used(folder: Path) -> None:
    cache = folder / "__pycache__"
    cache.mkdir()

    (folder / "entry.py").write_text("raise RuntimeError('from the byte code')\n")
    py_compile.compile(
        str(folder / "entry.py"),
        importlib.util.cache_from_source(str(folder / "entry.py")),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    (folder / "entry.py").write_text("from_source = True\n")
    seconds, _ = coldstart._imported([str(folder)], ("entry",), 1)
    assert seconds >= 0
