"""What a project is: its functions, its flows, and the settings local_sim needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .arn import parse_function_arn
from .errors import Place, UnknownFunction, Unresolvable


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A trigger of a function; `config` is its triggerConfig."""

    name: str
    type: str
    config: Mapping[str, Any]
    qualifier: str = "LATEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One fc3 function of s.yaml. `timeout` and those of the hooks are seconds, `memory` is MB, `code` an
    absolute path; `version` is the published one it is, or LATEST.

    `beside` are further folders whose content lies at the root of the code: source folders that stand in for a built
    one ([tool.local-sim] code). `unresolved` holds the environment variables whose value is known only in the cloud.
    """

    name: str
    handler: str
    runtime: str
    code: Path
    place: Place
    handler_place: Place
    resource: str = ""
    region: str = ""
    timeout: int = 3
    memory: int = 512
    environment: Mapping[str, str] = field(default_factory=dict)
    unresolved: Mapping[str, Unresolvable] = field(default_factory=dict)
    initializer: str | None = None
    initializer_timeout: int = 3
    pre_stop: str | None = None
    pre_stop_timeout: int = 3
    version: str = "LATEST"
    max_async_retries: int = 3
    beside: tuple[Path, ...] = ()
    triggers: tuple[Trigger, ...] = ()


@dataclass(frozen=True, slots=True)
class OutsideService:
    """A service that the functions call and that is no part of the cloud: an ASGI app that stands for it offline.

    `app` is `module:function`; the function is given a folder for its files and returns the app. `variable` is the
    environment variable that tells functions its address; in the cloud the same variable names the real service.
    """

    name: str
    app: str
    variable: str


@dataclass(frozen=True, slots=True)
class Settings:
    """`[tool.local-sim]` of pyproject.toml. `environment` is set for handlers offline only: `{data}` is
    the data folder, `{secret}` a random text that belongs to it, `{fc}` the server's address (the whole value is empty
    where no server runs); `errors` names the typed errors each function may raise, for the checker; `code` names the
    source folders that stand in for a built code folder of s.yaml, so that offline runs need no build; `services` are
    the outside services to be played beside the cloud's own; `panels` names modules that have something to show in the
    console.
    """

    flows: str = "flows"
    template: str = "s.yaml"
    setup: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    services: tuple[OutsideService, ...] = ()
    panels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk."""

    root: Path
    settings: Settings = Settings()
    functions: Mapping[str, Function] = field(default_factory=dict)

    @property
    def flows(self) -> Path:
        """The folder with the flow definitions."""
        return self.root / self.settings.flows

    @property
    def default_data(self) -> Path:
        """Where runs and local services keep their files unless told otherwise."""
        return self.root / ".local-sim"

    def function(self, name: str) -> Function:
        """Return a function by its name. Raises UnknownFunction."""
        try:
            return self.functions[name]
        except KeyError:
            raise UnknownFunction(name, tuple(self.functions), self.settings.template) from None

    def function_of(self, arn: object) -> Function:
        """Return the function an ARN names; the 2.0 form also finds `service$name`. Raises InvalidArn,
        UnknownFunction.
        """
        parsed = parse_function_arn(arn)
        if parsed.service and f"{parsed.service}${parsed.name}" in self.functions:
            return self.functions[f"{parsed.service}${parsed.name}"]
        return self.function(parsed.name)

    def find_flow(self, name: str) -> Path | None:
        """Return the file of a flow by its name, `<flows>/<name>.yaml` (or .yml, .json); None when there is none."""
        for suffix in (".yaml", ".yml", ".json"):
            path = self.flows / f"{name}{suffix}"
            if path.is_file():
                return path
        return None
