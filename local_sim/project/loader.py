"""From a folder to a Project: finds the root, reads pyproject.toml and s.yaml."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from . import rules
from .declared import declared_errors
from .errors import Place, ProjectError, ProjectNotFound, TemplateError, Unresolvable
from .model import Function, Project, Settings
from .nodes import Node
from .outside import read_services
from .triggers import read_triggers
from .variables import Renderer


def find_project(start: Path | None = None) -> Path:
    """Return the nearest folder at or above `start` (default: the working folder) that holds a project.

    A project is a folder with an s.yaml or with a pyproject.toml that has a `[tool.local-sim]` table. Raises
    ProjectNotFound.
    """
    begin = (start or Path.cwd()).resolve()
    for folder in (begin, *begin.parents):
        if (folder / "s.yaml").is_file() or settings_table(folder) is not None:
            return folder
    raise ProjectNotFound(begin)


def load_project(root: Path | None = None, *, environment: Mapping[str, str] | None = None) -> Project:
    """Load the project at `root` (default: the nearest one above the working folder).

    `environment` is what `${env('X')}` reads; the process's own by default. A project without a template has no
    functions. Raises ProjectNotFound, ProjectError, and TemplateError with file, line and column.
    """
    folder = find_project() if root is None else root.resolve()
    settings = read_settings(folder)
    template = folder / settings.template
    if not template.is_file():
        return Project(folder, settings)
    functions = load_template(template, os.environ if environment is None else environment)
    functions = {name: _stood_in(function, folder, settings) for name, function in functions.items()}
    return Project(folder, replace(settings, errors=declared_errors(settings, functions, folder)), functions)


def read_settings(folder: Path) -> Settings:
    """Read `[tool.local-sim]` of the folder's pyproject.toml; all defaults when there is none. Raises ProjectError."""
    table = settings_table(folder) or {}
    file = folder / "pyproject.toml"
    known = {"flows", "template", "setup", "environment", "errors", "code"}
    for key in ("flows", "template", "setup"):
        if not isinstance(table.get(key, ""), str):
            raise ProjectError(f"{file}: [tool.local-sim] {key} must be text, not {table[key]!r}")
    extra = table.get("environment", {})
    if not isinstance(extra, dict) or not all(isinstance(value, str) for value in extra.values()):
        raise ProjectError(f"{file}: [tool.local-sim] environment must be a table of texts")
    chosen = {key: value for key, value in table.items() if key in known and isinstance(value, str)}
    errors = _lists(table.get("errors", {}), file, "errors", "error names")
    code = _lists(table.get("code", {}), file, "code", "source folders")
    services = read_services(table.get("services", {}), file)
    panels = table.get("panels", [])
    if not isinstance(panels, list) or not all(isinstance(name, str) for name in panels):
        raise ProjectError(f"{file}: [tool.local-sim] panels must be a list of module names")
    return Settings(**chosen, environment=extra, errors=errors, code=code, services=services, panels=tuple(panels))


def _lists(table: object, file: Path, key: str, what: str) -> dict[str, tuple[str, ...]]:
    """Return `[tool.local-sim.<key>]`, a table of lists of texts."""
    if not isinstance(table, dict):
        raise ProjectError(f"{file}: [tool.local-sim] {key} must be a table of lists of {what}")
    for name, texts in table.items():
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ProjectError(f"{file}: [tool.local-sim.{key}] {name} must be a list of {what}")
    return {name: tuple(texts) for name, texts in table.items()}


def _stood_in(function: Function, root: Path, settings: Settings) -> Function:
    """Return the function with the source folders that stand in for its code folder, if any are named for it."""
    for built, sources in settings.code.items():
        if (root / built).resolve() == function.code:
            code, *beside = [(root / source).resolve() for source in sources]
            return replace(function, code=code, beside=tuple(beside))
    return function


def settings_table(folder: Path) -> dict[str, object] | None:
    """Return `[tool.local-sim]` of a folder, None when there is none. Raises ProjectError when the file is not TOML."""
    file = folder / "pyproject.toml"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return None
    if "[tool.local-sim" not in text:
        return None
    return _toml_table(text, file)


def _toml_table(text: str, file: Path) -> dict[str, object] | None:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document = toml.loads(text)
    except ValueError as error:
        raise ProjectError(f"{file}: not TOML: {error}") from None
    table = document.get("tool", {}).get("local-sim")
    return table if isinstance(table, dict) else None


def load_template(file: Path, environment: Mapping[str, str]) -> dict[str, Function]:
    """Read the fc3 functions of an s.yaml (edition 3), by function name. Raises TemplateError."""
    name = _shown(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateError(f"cannot be read: {getattr(error, 'strerror', None) or error}", Place(name, 1, 1)) from None
    from .yaml_nodes import parse  # brings the reader of flows along, which a worker's process does not need

    root = parse(text, name)
    resources = _resources(root)
    dotenv = _dotenv(file.parent / ".env")
    renderer = Renderer(root, file.parent, {**dotenv, **environment})
    functions: dict[str, Function] = {}
    for key, node in resources.fields.items():
        function = _function(key, node, renderer)
        if function is None:
            continue
        if function.name in functions:
            first = functions[function.name].place
            raise TemplateError(
                f"function {function.name!r} is given twice, first at line {first.line}", function.place
            )
        functions[function.name] = function
    return functions


def _resources(root: Node) -> Node:
    if not isinstance(root.value, Mapping):
        raise TemplateError(f"the template must be a map, not a {root.kind}", root.place)
    rules.check_keys(root, rules.TOP_KEYS, "the template")
    edition = root.fields.get("edition")
    if edition is None or str(edition.value) != "3.0.0":
        place = edition.place if edition else root.place
        raise TemplateError("edition must be 3.0.0", place)
    resources = root.fields.get("resources")
    if resources is None or not isinstance(resources.value, Mapping):
        raise TemplateError("resources must be a map of resources", resources.place if resources else root.place)
    return resources


def _function(resource: str, node: Node, renderer: Renderer) -> Function | None:
    place = node.place
    if not isinstance(node.value, Mapping):
        raise TemplateError(f"resource {resource!r} must be a map, not a {node.kind}", place)
    rules.check_keys(node, rules.RESOURCE_KEYS, f"resource {resource!r}")
    component = node.fields.get("component")
    if component is None:
        raise TemplateError(f"resource {resource!r} lacks its component", place)
    if not isinstance(component.value, str) or not component.value:
        raise TemplateError(f"component of resource {resource!r} must be text", component.place)
    if component.value.split("@")[0] != "fc3":
        return None
    props = _props(resource, node, renderer)
    return _read_function(resource, props, renderer)


def _props(resource: str, node: Node, renderer: Renderer) -> Node:
    own = node.fields.get("props")
    base = _extended(node, renderer)
    if own is None and base is None:
        raise TemplateError(f"resource {resource!r} lacks its props", node.place)
    if own is not None and not isinstance(own.value, Mapping):
        raise TemplateError(f"props of resource {resource!r} must be a map, not a {own.kind}", own.place)
    props = own if base is None else base if own is None else merge(base, own)
    assert props is not None
    rules.check_keys(props, tuple(rules.KINDS), f"props of resource {resource!r}")
    rules.check_kinds(props, resource)
    for key in ("functionName", "runtime", "region"):
        if key not in props.fields:
            raise TemplateError(f"props of resource {resource!r} lack {key}", props.place)
    return props


def _extended(node: Node, renderer: Renderer) -> Node | None:
    extend = node.fields.get("extend")
    if extend is None:
        return None
    name = extend.fields.get("name")
    template = renderer.root.fields.get("template")
    base = template.fields.get(str(name.value)) if template and name else None
    if base is None:
        raise TemplateError("extend must name an entry of the top-level template", extend.place)
    return base


def merge(base: Node, own: Node) -> Node:
    """Merge two maps as `extend` does: deep for maps, `own` wins for everything else."""
    if not isinstance(base.value, Mapping) or not isinstance(own.value, Mapping):
        return own
    fields = dict(base.value)
    for key, value in own.value.items():
        fields[key] = merge(fields[key], value) if key in fields else value
    return Node(fields, own.place, {**(base.keys or {}), **(own.keys or {})})


def _read_function(resource: str, props: Node, renderer: Renderer) -> Function:
    fields = props.fields
    place = fields["functionName"].place

    def text(key: str, default: str = "") -> str:
        node = fields.get(key)
        return default if node is None else str(renderer.render(node, resource).value)

    def number(key: str, default: int, low: int, high: int) -> int:
        node = fields.get(key)
        return (
            default if node is None else rules.whole(renderer.render(node, resource).value, low, high, key, node.place)
        )

    name, runtime = text("functionName"), text("runtime")
    rules.check_function_name(name, place)
    if runtime.startswith("python") and runtime not in rules.RUNTIMES:
        known = ", ".join(rules.RUNTIMES)
        raise TemplateError(f"runtime {runtime!r} does not exist; FC has {known}", fields["runtime"].place)
    if "handler" not in fields and not runtime.startswith("custom"):
        raise TemplateError(f"props of resource {resource!r} lack handler", props.place)
    variables, unresolved = _environment(resource, fields.get("environmentVariables"), renderer)
    hooks = fields.get("instanceLifecycleConfig")
    initializer, initializer_timeout = _hook(resource, hooks, "initializer", renderer)
    pre_stop, pre_stop_timeout = _hook(resource, hooks, "preStop", renderer)
    return Function(
        name=name,
        handler=text("handler"),
        runtime=runtime,
        code=_code(resource, fields.get("code"), props, renderer),
        place=place,
        handler_place=fields["handler"].place if "handler" in fields else place,
        resource=resource,
        region=text("region"),
        timeout=number("timeout", 3, 1, 86400),
        memory=number("memorySize", 512, 128, 32768),
        environment=variables,
        unresolved=unresolved,
        initializer=initializer,
        initializer_timeout=initializer_timeout,
        pre_stop=pre_stop,
        pre_stop_timeout=pre_stop_timeout,
        max_async_retries=_async_retries(resource, fields.get("asyncInvokeConfig"), renderer),
        triggers=read_triggers(resource, fields.get("triggers"), renderer),
    )


def _code(resource: str, node: Node | None, props: Node, renderer: Renderer) -> Path:
    if node is None:
        raise TemplateError(f"props of resource {resource!r} lack code", props.place)
    value = renderer.render(node, resource).value
    source = value.get("src") if isinstance(value, dict) else value
    if not isinstance(source, str):
        raise TemplateError(f"code of resource {resource!r} names no folder", node.place)
    return (renderer.folder / source).resolve()


def _environment(
    resource: str, node: Node | None, renderer: Renderer
) -> tuple[dict[str, str], dict[str, Unresolvable]]:
    values: dict[str, str] = {}
    unresolved: dict[str, Unresolvable] = {}
    if node is None:
        return values, unresolved
    rules.check_environment(node, resource)
    for key, value in node.fields.items():
        rendered = renderer.render(value, resource)
        if rendered.unresolved:
            unresolved[key] = rendered.unresolved[0]
        else:
            values[key] = rendered.value if isinstance(rendered.value, str) else str(rendered.value)
    return values, unresolved


def _hook(resource: str, node: Node | None, name: str, renderer: Renderer) -> tuple[str | None, int]:
    hook = node.fields.get(name) if node else None
    handler = hook.fields.get("handler") if hook else None
    if hook is None or handler is None:
        return None, 3
    timeout = hook.fields.get("timeout")
    seconds = 3 if timeout is None else rules.whole(timeout.value, 1, 86400, f"{name} timeout", timeout.place)
    return str(renderer.render(handler, resource).value), seconds


def _async_retries(resource: str, node: Node | None, renderer: Renderer) -> int:
    attempts = node.fields.get("maxAsyncRetryAttempts") if node else None
    if attempts is None:
        return 3
    value = renderer.render(attempts, resource).value
    return rules.whole(value, 0, 8, "maxAsyncRetryAttempts", attempts.place)


def _dotenv(file: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return values
    for line in lines:
        key, found, value = line.partition("=")
        if found and key.strip() and not key.lstrip().startswith("#"):
            values[key.strip().removeprefix("export ")] = value.strip().strip("'\"")
    return values


def _shown(file: Path) -> str:
    try:
        return str(file.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(file)
