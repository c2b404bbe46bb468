"""From a file to a `Template`: what it extends merged in, variables filled in, the props of each resource whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.template.errors import TemplateError
from scripts.template.nodes import Node, Place, merged
from scripts.template.parsing import Repeated, parse
from scripts.template.variables import Renderer

__all__ = ["Resource", "Template", "read_template"]


@dataclass(frozen=True)
class Resource:
    """One resource: `own` as it is written, `props` with what it extends merged in and the variables filled in."""

    name: str
    own: Node
    props: Node

    @property
    def component(self) -> str:
        """The component without its version; empty when it is missing or no text."""
        node = self.own.fields.get("component")
        return node.text.split("@")[0] if node else ""


@dataclass(frozen=True)
class Template:
    """A template as `s` sees it. `faults` are about variables and `extend`, `repeated` are doubled keys."""

    file: Path
    root: Node
    resources: tuple[Resource, ...]
    faults: tuple[TemplateError, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    shown: str = field(default="s.yaml")

    def functions(self) -> tuple[Resource, ...]:
        """The resources of component fc3."""
        return tuple(resource for resource in self.resources if resource.component == "fc3")


def read_template(file: Path, environment: Mapping[str, str]) -> Template:
    """Read a template and what it extends. Raises `TemplateError` for a file that is missing or no YAML map."""
    repeated: list[Repeated] = []
    faults: list[TemplateError] = []
    root = _extended(file, repeated, [])
    renderer = Renderer(root, file.parent, {**_dotenv(file.parent / ".env"), **environment}, faults.append)
    resources = root.fields.get("resources")
    found = tuple(
        Resource(name, node, renderer.render(_props(node, root, faults), name))
        for name, node in (resources.fields if resources else {}).items()
    )
    rendered = Node({**root.fields, **_others(root, renderer)}, root.place, root.keys)
    return Template(file, rendered, found, tuple(faults), tuple(repeated), _shown(file))


def _others(root: Node, renderer: Renderer) -> dict[str, Node]:
    wanted = ("name", "vars", "flow")
    return {key: renderer.render(node) for key, node in root.fields.items() if key in wanted}


def _extended(file: Path, repeated: list[Repeated], chain: list[Path]) -> Node:
    root, again = parse(_text(file), _shown(file))
    repeated += again
    if root.kind != "map":
        raise TemplateError(f"the template must be a map, not a {root.kind}", root.place)
    base = root.fields.get("extend")
    if base is None or not base.text:
        return root
    target = (file.parent / base.text).resolve()
    if target in [*chain, file.resolve()]:
        raise TemplateError(f"{base.text} is extended in a circle", base.place)
    if not target.is_file():
        raise TemplateError(f"extend: there is no file {base.text}", base.place)
    return merged(_extended(target, repeated, [*chain, file.resolve()]), root)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TemplateError(f"cannot be read: {reason}", Place(_shown(file))) from None


def _props(node: Node, root: Node, faults: list[TemplateError]) -> Node:
    own = node.fields.get("props", Node({}, node.place))
    extend = node.fields.get("extend")
    if extend is None:
        return own
    name = extend.fields.get("name")
    known = root.fields["template"].fields if "template" in root.fields else {}
    if name is None or name.text not in known:
        problem = f"extend names no entry of the top-level template: {', '.join(known)}"
        faults.append(TemplateError(problem, extend.place))
        return own
    base = known[name.text]
    ignored = {item.text for item in extend.fields["ignore"].items} if "ignore" in extend.fields else set()
    kept = {key: value for key, value in base.fields.items() if key not in ignored}
    return merged(Node(kept, base.place, base.keys), own)


def _dotenv(file: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return values
    for line in lines:
        key, found, value = line.partition("=")
        if found and not key.lstrip().startswith("#"):
            values[key.strip().removeprefix("export ")] = value.strip().strip("'\"")
    return values


def _shown(file: Path) -> str:
    try:
        return file.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(file)
