"""What the project's files say about its package: pyproject.toml and s.yaml."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from scripts.building.errors import Unusable
from scripts.building.model import BuildSettings

__all__ = ["handlers_of", "read_build_settings"]

_KEYS = ("drop", "pure", "prune")


def read_build_settings(file: Path) -> BuildSettings:
    """`[tool.stepkeeper.build]` of pyproject.toml; nothing is dropped without it. Raises `Unusable`."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("stepkeeper", {}).get("build", {})
    except (OSError, ValueError) as error:
        raise Unusable(file.name, str(error)) from error
    for key, value in table.items():
        if key not in _KEYS or not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise Unusable(file.name, f"[tool.stepkeeper.build] {key}: known are lists of texts {', '.join(_KEYS)}")
    return BuildSettings(**{key: tuple(value) for key, value in table.items()})


def handlers_of(file: Path) -> dict[str, str]:
    """Handler by function name, of every fc3 function of an s.yaml. Raises `Unusable` naming what is missing."""
    import yaml

    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise Unusable(file.name, str(error)) from error
    resources = document.get("resources") if isinstance(document, dict) else None
    if not isinstance(resources, dict):
        raise Unusable(file.name, "it has no map of resources")
    found: dict[str, str] = {}
    for name, resource in resources.items():
        if str(resource.get("component", "")).split("@")[0] == "fc3":
            props = _props(document, resource)
            if not isinstance(props.get("handler"), str):
                raise Unusable(file.name, f"resource {name} names no handler")
            found[str(props.get("functionName", name))] = props["handler"]
    if not found:
        raise Unusable(file.name, "it has no fc3 function")
    return found


def _props(document: dict[str, Any], resource: dict[str, Any]) -> dict[str, Any]:
    base = document.get("template", {}).get((resource.get("extend") or {}).get("name"), {})
    return {**base, **(resource.get("props") or {})}
