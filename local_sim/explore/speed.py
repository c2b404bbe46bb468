"""What is dear and comes out the same every time is made once a process: a tree of runs makes it thousands of times.

Nothing here changes what a handler sees. A TLS context depends on its arguments alone, and settings read from the
environment on nothing but the environment.
"""

from __future__ import annotations

import copy
import functools
import os
import ssl
from typing import Any


def install() -> None:
    """Remember TLS contexts and what pydantic-settings read from an environment."""
    context: Any = ssl
    context.create_default_context = functools.lru_cache(maxsize=8)(ssl.create_default_context)
    _remember_settings()


def _remember_settings() -> None:
    try:
        from pydantic_settings import BaseSettings
    except ImportError:  # a project without it
        return
    settings: Any = BaseSettings
    real = settings.__init__
    known: dict[Any, Any] = {}

    def init(self: Any, /, *args: Any, **values: Any) -> None:
        config = self.model_config
        if args or config.get("env_file") or config.get("secrets_dir") or any(name[:1] == "_" for name in values):
            real(self, *args, **values)
            return
        environ: Any = os.environ
        mark = type(self), tuple(environ._data.items()), repr(values)
        if mark not in known:
            real(self, **values)
            known[mark] = _copied(self.__getstate__())
        else:
            self.__setstate__(_copied(known[mark]))

    settings.__init__ = init


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """Return a copy that shares nothing a handler could change."""
    values = state["__dict__"]
    try:
        hash(tuple(values.values()))
    except TypeError:
        return copy.deepcopy(state)
    return {**state, "__dict__": dict(values), "__pydantic_fields_set__": set(state["__pydantic_fields_set__"])}
