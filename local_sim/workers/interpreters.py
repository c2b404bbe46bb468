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
_SKIPPED = frozenset({"__pycache__", "node_modules", "python", "site-packages"})


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
    return found if _has_all(found, folders, variables.get("PYTHONPATH", "")) else sys.executable


@lru_cache(maxsize=256)
def _has_all(interpreter: str, folders: tuple[Path, ...], python_path: str) -> bool:
    modules = sorted(imported_modules(folders))
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


def imported_modules(folders: Iterable[Path]) -> set[str]:
    """Return the top-level modules that the code imports and that are neither the standard library's nor its own."""
    found: set[str] = set()
    own: set[str] = set()
    for folder in folders:
        own |= {path.stem for path in folder.glob("*")}
        for parent, names, files in os.walk(folder):
            names[:] = [name for name in names if name not in _SKIPPED and not name.startswith(".")]
            for file in files:
                if file.endswith(".py"):
                    found |= _imports(Path(parent, file))
    return found - own - set(sys.stdlib_module_names)


def _imports(path: Path) -> set[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names
