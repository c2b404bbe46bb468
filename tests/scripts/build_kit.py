"""Small projects and wheels for the tests of scripts/build.py."""

from __future__ import annotations

import zipfile
from pathlib import Path

S_YAML = """\
edition: 3.0.0
name: demo
template:
  base: {runtime: python3.12, code: ./build/code}
resources:
  pay:
    component: fc3
    extend: {name: base}
    props: {functionName: shop-pay, handler: fc_handlers.pay}
"""


def wheel(folder: Path, name: str, files: dict[str, str], version: str = "1.0") -> Path:
    """A wheel with these files and the usual notes."""
    info = f"{name}-{version}.dist-info"
    notes = {f"{info}/METADATA": f"Name: {name}\n", f"{info}/RECORD": "", f"{info}/WHEEL": "Wheel-Version: 1.0\n"}
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in {**files, **notes}.items():
            archive.writestr(inner, text)
    return path


def project(folder: Path, handlers: str = "def pay(event, context): return '{}'\n", **modules: str) -> Path:
    """A project with functions/entry/fc_handlers.py, an s.yaml, and modules `functions/<name>.py`."""
    (folder / "functions/entry").mkdir(parents=True)
    (folder / "ledger").mkdir()
    for package in ("functions", "functions/entry", "ledger"):
        (folder / package / "__init__.py").write_text("", encoding="utf-8")
    (folder / "functions/entry/fc_handlers.py").write_text(handlers, encoding="utf-8")
    for name, text in modules.items():
        (folder / f"functions/{name}.py").write_text(text, encoding="utf-8")
    (folder / "s.yaml").write_text(S_YAML, encoding="utf-8")
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    (folder / "functions/requirements.lock").write_text("", encoding="utf-8")
    return folder


def found(folder: Path) -> dict[str, str]:
    """Text of every file below `folder`, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
