"""Does it work from that folder alone? Every handler is imported, and everything a handler imports late, by an
interpreter of the target's version that sees nothing else (case C52).
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from scripts.building.errors import Unusable
from scripts.building.model import Problem, Target
from scripts.building.tree import OWN

__all__ = ["find_interpreter", "late_imports", "preflight"]

_SECONDS = 120
# Runs in the target's interpreter with -I -S -B: no site-packages, no user folder, no PYTHON* variables, no caches.
_PROBE = """
import importlib, json, sys
job = json.loads(sys.argv[1])
sys.path.insert(0, job["folder"])
def reason(error):
    if isinstance(error, SyntaxError):
        return f"syntax error at {error.filename}:{error.lineno}: {error.msg}"
    if isinstance(error, ModuleNotFoundError):
        return f"module {error.name!r} is missing"
    return f"{type(error).__name__}: {error}"
found = []
for function, handler in job["handlers"].items():
    module, _, name = handler.rpartition(".")
    try:
        loaded = importlib.import_module(module.replace("/", "."))
        if not callable(getattr(loaded, name, None)):
            found.append([handler, f"{name!r} is not defined in {module}.py", function])
    except BaseException as error:
        found.append([handler, reason(error), function])
for module, where in job["late"].items():
    try:
        importlib.import_module(module)
    except BaseException as error:
        found.append([module, f"{reason(error)} (wanted by {where})", ""])
print("\\n" + json.dumps(found))
"""


def find_interpreter(target: Target) -> str | None:
    """An interpreter of the target's version: this one, one on PATH, or one of pyenv's; None when there is none."""
    name = f"python{target.python}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    installed = sorted(str(path) for path in pyenv.glob(f"{target.python}.*/bin/{name}"))
    for candidate in [sys.executable, shutil.which(name), *installed]:
        if candidate and _version(candidate) == target.version:
            return candidate
    return None


def _version(interpreter: str) -> tuple[int, ...]:
    command = [interpreter, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(int(part) for part in done.stdout.split()) if done.returncode == 0 else ()


def preflight(folder: Path, handlers: Mapping[str, str], target: Target, interpreter: str | None) -> list[Problem]:
    """What of the folder does not work; nothing means all does. `handlers` are named by function.

    Without an interpreter it only looks: is every module there, and does every file of ours parse?
    """
    own = _own_files(folder, handlers)
    late = late_imports(folder, own)
    if interpreter is None:
        return [*_unparsed(folder, own, target), *_looked(folder, handlers, late)]
    job = json.dumps({"folder": str(folder.resolve()), "handlers": dict(handlers), "late": late})
    command = [interpreter, "-I", "-S", "-B", "-W", "ignore", "-c", _PROBE, job]
    try:
        done = subprocess.run(  # noqa: S603 (an interpreter this machine has)
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=folder, env={"HOME": "/nowhere"}
        )
    except subprocess.TimeoutExpired:
        return [Problem("preflight", f"importing everything took more than {_SECONDS} s")]
    if done.returncode != 0:
        return [Problem("preflight", f"the interpreter ended with {done.returncode}: {done.stderr.strip()[-500:]}")]
    return [Problem(*one) for one in json.loads(done.stdout.rsplit("\n", 2)[-2])]


def late_imports(folder: Path, files: Sequence[Path]) -> dict[str, str]:
    """Every module that the files import, at the top or inside a function, and one place that does (file:line)."""
    found: dict[str, str] = {}
    for file in files:
        tree = _parsed(file)
        for node, module in _imports(tree) if isinstance(tree, ast.Module) else ():
            found.setdefault(module, f"{file.relative_to(folder).as_posix()}:{node.lineno}")
    return dict(sorted(found.items()))


def _imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    unseen = {id(inner) for node in ast.walk(tree) if _for_type_checkers(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node, node.module


def _for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _own_files(folder: Path, handlers: Mapping[str, str]) -> list[Path]:
    entries = {folder / f"{handler.replace('.', '/').rpartition('/')[0]}.py" for handler in handlers.values()}
    packages = [path for name in OWN for path in (folder / name).rglob("*.py")]
    return sorted([*(entry for entry in entries if entry.is_file()), *packages])


def _parsed(file: Path, version: tuple[int, int] | None = None) -> ast.Module | SyntaxError:
    try:
        return ast.parse(file.read_bytes(), str(file), feature_version=version)
    except SyntaxError as error:
        return error


def _unparsed(folder: Path, files: Sequence[Path], target: Target) -> Iterator[Problem]:
    if sys.version_info[:2] < target.version:
        raise Unusable(f"python{target.python}", "not found here, and this Python is older and cannot stand in for it")
    for file in files:
        error = _parsed(file, target.version)
        if isinstance(error, SyntaxError):
            name = file.relative_to(folder).as_posix()
            yield Problem(name, f"syntax error at {name}:{error.lineno}: {error.msg}")


def _looked(folder: Path, handlers: Mapping[str, str], late: Mapping[str, str]) -> Iterator[Problem]:
    for function, handler in handlers.items():
        module, _, name = handler.replace("/", ".").rpartition(".")
        file = folder / f"{module.replace('.', '/')}.py"
        if not file.is_file():
            yield Problem(handler, f"module {module!r} is missing", function)
        elif name not in _names(file):
            yield Problem(handler, f"{name!r} is not defined in {module}.py", function)
    for module, where in late.items():
        top = module.split(".")[0]
        if top not in sys.stdlib_module_names and PathFinder.find_spec(top, [str(folder)]) is None:
            yield Problem(module, f"module {top!r} is missing (wanted by {where})")


def _names(file: Path) -> set[str]:
    tree = _parsed(file)
    if isinstance(tree, SyntaxError):
        return set()
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names
