"""Reads `[tool.local-sim.services]`: the outside services a project calls."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import ProjectError
from .model import OutsideService

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_APP = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def read_services(table: object, file: Path) -> tuple[OutsideService, ...]:
    """Return the services of a table `name = {app = "module:function", variable = "NAME"}`. Raises ProjectError."""
    if not isinstance(table, dict):
        raise ProjectError(f"{file}: [tool.local-sim] services must be a table")
    found = tuple(_service(str(name), entry, file) for name, entry in table.items())
    variables = [service.variable for service in found]
    for variable in variables:
        if variables.count(variable) > 1:
            raise ProjectError(f"{file}: [tool.local-sim.services] two services have the variable {variable}")
    return found


def _service(name: str, entry: object, file: Path) -> OutsideService:
    where = f"{file}: [tool.local-sim.services] {name}"
    if not _NAME.fullmatch(name):
        raise ProjectError(f"{where}: a letter first, then letters, digits, _ and -")
    if not isinstance(entry, dict) or set(entry) != {"app", "variable"}:
        raise ProjectError(f'{where} must be {{app = "module:function", variable = "NAME"}}')
    app, variable = entry["app"], entry["variable"]
    if not isinstance(app, str) or not _APP.fullmatch(app):
        raise ProjectError(f"{where}: app must be written module:function, not {app!r}")
    if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
        raise ProjectError(f"{where}: {variable!r} is no name of an environment variable")
    return OutsideService(name, app, variable)
