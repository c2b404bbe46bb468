"""Which Python runs a function: the one of its runtime when it is installed and has what the code imports, else the
running one (C04).
"""

from __future__ import annotations

import ast
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from local_sim.project import Function

_logger = logging.getLogger(__name__)
_RUNNING = f"python{sys.version_info.major}.{sys.version_info.minor}"
_PROBE = "import sys, importlib.util as u; sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"
_PROBE_SECONDS = 20


def interpreter_of(function: Function, variables: Mapping[str, str]) -> str:
    """Return the path of the interpreter for a function.

    `LOCAL_SIM_PYTHON3_12` (or `..._10`) names one and is taken as it is; one found on PATH must have every module that
    the code imports.
    """
    if function.runtime == _RUNNING:
        return sys.executable
    named = os.environ.get("LOCAL_SIM_" + function.runtime.upper().replace(".", "_"))
    if named:
        return named
    found = shutil.which(function.runtime) if function.runtime.startswith("python3.") else None
    if found is None:
        return sys.executable
    folders = (function.code, *function.beside)
    module = function.handler.rpartition(".")[0].replace("/", ".")
    return found if _has_all(found, folders, module, variables.get("PYTHONPATH", "")) else sys.executable


@lru_cache(maxsize=256)
def _has_all(interpreter: str, folders: tuple[Path, ...], module: str, python_path: str) -> bool:
    modules = sorted(imported_modules(folders, module))
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": python_path}
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter from PATH and our own text
            [interpreter, "-c", _PROBE, *modules],
            env=environment,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    if done.returncode:
        _logger.info("%s lacks modules that %s imports; %s runs it", interpreter, folders[0], sys.executable)
    return done.returncode == 0


def imported_modules(folders: Iterable[Path], module: str) -> set[str]:
    """Return the top-level modules outside the code and the standard library that a module imports, itself or through
    others of the code. Only what is reached is read: a code folder may hold thousands of files.
    """
    places = list(folders)
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        file = _file_of(places, name)
        if file is not None:
            waiting += _imports(file, name)
        elif name.partition(".")[0] == name:
            found.add(name)
    own = {path.stem for place in places for path in place.glob("*")}
    return found - own - set(sys.stdlib_module_names)


def _file_of(folders: Iterable[Path], module: str) -> Path | None:
    for folder in folders:
        base = folder.joinpath(*module.split("."))
        for file in (base / "__init__.py", base.with_suffix(".py")):
            if file.is_file():
                return file
    return None


def _imports(path: Path, module: str) -> set[str]:
    """Return all modules a file names in imports, wherever they stand, with the packages around them."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return {part for name in names for part in _with_packages(name) if part}


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
