"""The `${...}` variables of s.yaml (serverless-devs reference, section 6.2), rendered without a network.

What only the cloud knows, `${config('AccountID')}` or `${resources.R.output.p}`, stays in the text as it was
written; the reason is kept beside it and becomes an error when the value is used (R01).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Place, TemplateError, Unresolvable
from .nodes import Node

_INNERMOST = re.compile(r"\$\{([^${}]*)\}")
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)")\s*(?:,|$)""")


class _NoValue(Exception):
    """A variable has no value offline; the text says why."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A plain JSON-like value with what could not be resolved in it, by the place of the text it stands in."""

    value: object
    unresolved: tuple[Unresolvable, ...] = ()


@dataclass(frozen=True)
class Renderer:
    """Renders nodes of one template. `environment` is what `${env('X')}` reads."""

    root: Node
    folder: Path
    environment: Mapping[str, str]
    _busy: set[str] = field(default_factory=set)

    def render(self, node: Node, resource: str | None = None) -> Rendered:
        """Render a node and everything below it; `resource` is what `${this}` means.

        Raises TemplateError for variables that can never have a value: a missing `vars.x`, a file that is not there, a
        circle, an unknown function.
        """
        if isinstance(node.value, Mapping):
            parts = {key: self.render(value, resource) for key, value in node.value.items()}
            left = tuple(item for part in parts.values() for item in part.unresolved)
            return Rendered({key: part.value for key, part in parts.items()}, left)
        if isinstance(node.value, tuple):
            items = [self.render(value, resource) for value in node.value]
            return Rendered([item.value for item in items], tuple(u for item in items for u in item.unresolved))
        if isinstance(node.value, str) and "${" in node.value:
            return self._text(node.value, node.place, resource)
        return Rendered(node.value)

    def _text(self, text: str, place: Place, resource: str | None) -> Rendered:
        unresolved: list[Unresolvable] = []
        kept: dict[str, str] = {}
        while match := _INNERMOST.search(text):
            try:
                value = self._evaluate(match[1].strip(), place, resource)
            except _NoValue as reason:
                # A mark no YAML text holds keeps the variable out of the next round of the search.
                mark = f"\0{len(kept)}\0"
                kept[mark] = match[0]
                unresolved.append(Unresolvable(match[0], str(reason), place))
                text = text[: match.start()] + mark + text[match.end() :]
                continue
            if match.span() == (0, len(text)):
                if not isinstance(value, str):
                    return Rendered(value, tuple(unresolved))
                text = value
            else:
                text = text[: match.start()] + _as_text(value) + text[match.end() :]
        for mark, original in reversed(kept.items()):
            text = text.replace(mark, original)
        return Rendered(text, tuple(unresolved))

    def _evaluate(self, source: str, place: Place, resource: str | None) -> object:
        call = _CALL.fullmatch(source)
        if call:
            return self._call(call[1], call[2], place, resource)
        head, *path = source.split(".")
        if head == "vars":
            return self._at(self.root.fields.get("vars"), path, source, place, None)
        if head == "this":
            return self._this(path, source, place, resource)
        if head == "resources" and len(path) >= 2:
            return self._resource(path[0], path[1:], source, place)
        raise TemplateError(f"unknown variable ${{{source}}}", place)

    def _call(self, name: str, inner: str, place: Place, resource: str | None) -> object:
        if name == "json":
            text = self._evaluate(inner.strip(), place, resource)
            try:
                return json.loads(str(text))
            except ValueError as error:
                raise TemplateError(f"${{json({inner})}}: not JSON: {error}", place) from None
        arguments = _arguments(inner)
        if not arguments:
            raise TemplateError(f"${{{name}({inner})}}: expected quoted text between the parentheses", place)
        if name == "env":
            return self._env(arguments)
        if name == "path":
            return str((self.folder / arguments[0]).resolve())
        if name == "file":
            return self._file(arguments[0], place)
        if name == "config":
            raise _NoValue("it is known only with cloud credentials")
        raise TemplateError(f"unknown function {name}() in ${{...}}; known: config, env, file, json, path", place)

    def _env(self, arguments: list[str]) -> str:
        value = self.environment.get(arguments[0])
        if value is not None:
            return value
        if len(arguments) > 1:
            return arguments[1]
        raise _NoValue(f"the environment variable {arguments[0]} is not set")

    def _file(self, name: str, place: Place) -> str:
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateError(f"${{file('{name}')}}: {getattr(error, 'strerror', None) or error}", place) from None

    def _this(self, path: list[str], source: str, place: Place, resource: str | None) -> object:
        if resource is None:
            raise TemplateError(f"${{{source}}} is only known inside a resource", place)
        if path == ["name"]:
            return resource
        if path == ["access"]:
            own = self.root.fields["resources"].fields[resource].fields.get("access")
            return self._at(own or self.root.fields.get("access"), [], source, place, resource)
        return self._resource(resource, path, source, place)

    def _resource(self, name: str, path: list[str], source: str, place: Place) -> object:
        resources = self.root.fields.get("resources")
        found = resources.fields.get(name) if resources else None
        if found is None:
            raise TemplateError(f"${{{source}}}: there is no resource {name!r}", place)
        if path[:1] == ["output"] or path[:1] == ["info"]:
            raise _NoValue("it is known only after a deploy")
        return self._at(found, path, source, place, name)

    def _at(self, node: Node | None, path: list[str], source: str, place: Place, resource: str | None) -> object:
        for key in path:
            node = node.fields.get(key) if node else None
        if node is None:
            raise TemplateError(f"${{{source}}}: not found in the template", place)
        if source in self._busy:
            raise TemplateError(f"${{{source}}} refers to itself", place)
        self._busy.add(source)
        try:
            rendered = self.render(node, resource)
        finally:
            self._busy.discard(source)
        if rendered.unresolved:
            raise _NoValue(rendered.unresolved[0].reason)
        return rendered.value


def _arguments(inner: str) -> list[str]:
    arguments, position = [], 0
    while position < len(inner):
        match = _ARGUMENT.match(inner, position)
        if not match:
            return []
        arguments.append(match[1] if match[1] is not None else match[2])
        position = match.end()
    return arguments


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
