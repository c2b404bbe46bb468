"""What the modules of a project remember, kept apart for each process that runs them.

All instances of a world share one interpreter, so a dictionary at the top of a module would be shared by workers that
in the cloud cannot see each other - and would outlive a crash. So what a module can remember is exchanged whenever
another instance's fiber goes on: dictionaries, lists and sets at the top of modules and classes, names that a function
declares `global`, and the caches of `functools.lru_cache`. Modules of installed packages are not touched.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from .fibers import Hub, Instance

_CONTAINERS = (dict, list, set, deque, bytearray)


class ModuleState:
    """The memory of the modules below `folders`, except those in `others`."""

    def __init__(self, folders: Iterable[Path], others: frozenset[str]) -> None:
        self._prefixes = tuple(f"{folder.resolve()}/" for folder in folders)
        self._others = others
        self._seen: set[str] = set()
        self._containers: list[tuple[Any, Any]] = []
        self._globals: list[tuple[dict[str, Any], str, Any]] = []
        self._active: Instance | None = None

    def mine(self, module: ModuleType) -> bool:
        """Say whether a module is code of the project's functions."""
        file = getattr(module, "__file__", None) or ""
        name = module.__name__
        if not file.startswith(self._prefixes) or "site-packages" in file:
            return False
        return name.partition(".")[0] != "local_sim" and name not in self._others

    def learn(self) -> None:
        """Look at the modules imported since the last time. What they hold now is what every new instance finds."""
        modules: dict[str, Any] = dict(sys.modules)  # some packages put things there that are none
        for name, module in modules.items():
            if name not in self._seen and isinstance(module, ModuleType) and self.mine(module):
                self._look(module)
        self._seen.update(sys.modules)

    def enter(self, instance: Instance) -> None:
        """Make the modules remember what they remember in `instance`."""
        if instance is self._active:
            return
        if len(sys.modules) != len(self._seen):
            self.learn()
        if self._active is not None and not self._active.dead:
            self._active.state = self._memory()
        self._restore(instance.state)
        self._active = instance

    def _look(self, module: ModuleType) -> None:
        names = _declared_global(module)
        values = vars(module)
        for name, value in list(values.items()):
            if name.startswith("__"):
                continue
            if name in names:
                self._globals.append((values, name, value))
            self._keep(value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, inner in vars(value).items():
                    if not attribute.startswith(("__", "model_", "_abc_")):
                        self._keep(inner)

    def _keep(self, value: Any) -> None:
        if type(value) in _CONTAINERS and all(value is not known for known, _ in self._containers):
            self._containers.append((value, value.copy()))

    def _memory(self) -> dict[int, Any]:
        """What differs from the beginning, by place."""
        kept: dict[int, Any] = {}
        for place, (container, first) in enumerate(self._containers):
            if container != first:
                kept[place] = container.copy()
        for place, (values, name, first) in enumerate(self._globals):
            if values.get(name) is not first:
                kept[-1 - place] = values.get(name)
        return kept

    def _restore(self, state: dict[int, Any] | None) -> None:
        memory = state or {}
        for place, (container, first) in enumerate(self._containers):
            wanted = memory.get(place, first)
            if container != wanted:
                _fill(container, wanted)
        for place, (values, name, first) in enumerate(self._globals):
            values[name] = memory.get(-1 - place, first)


def _fill(container: Any, wanted: Any) -> None:
    container.clear()
    if isinstance(container, dict | set):
        container.update(wanted)
    else:
        container.extend(wanted)


def _declared_global(module: ModuleType) -> frozenset[str]:
    """Return the names that functions of a module assign with `global`."""
    try:
        tree = ast.parse(Path(module.__file__ or "").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)


def patch_caches(hub: Hub, mine: Callable[[str], bool]) -> None:
    """Let `functools.lru_cache` and `cache` remember per instance what functions of files that are `mine` returned."""
    module: Any = functools
    real = functools.lru_cache

    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        if callable(maxsize):
            return lru_cache()(maxsize)

        def decorate(function: Any) -> Any:
            code = getattr(function, "__code__", None)
            if code is None or not mine(code.co_filename):
                return real(maxsize, typed)(function)
            return _Cache(hub, function, lambda work: real(maxsize, typed)(work))

        return decorate

    module.lru_cache = lru_cache
    module.cache = lambda function: lru_cache(maxsize=None)(function)


class _Cache:
    """A function with one cache an instance."""

    def __init__(self, hub: Hub, function: Any, make: Callable[[Any], Any]) -> None:
        functools.update_wrapper(self, function)
        self._hub, self._function, self._make = hub, function, make
        self._caches: dict[int, Any] = {}

    def _own(self) -> Any:
        fiber = self._hub.current
        owner = fiber.instance.id if fiber is not None else 0
        if owner not in self._caches:
            self._caches[owner] = self._make(self._function)
        return self._caches[owner]

    def __call__(self, *args: Any, **more: Any) -> Any:
        return self._own()(*args, **more)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def cache_clear(self) -> None:
        """Forget what this instance remembers."""
        self._own().cache_clear()

    def cache_info(self) -> Any:
        """What this instance's cache says of itself."""
        return self._own().cache_info()
