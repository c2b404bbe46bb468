"""The `${...}` of s.yaml (serverless-devs page, 6.2), rendered without a network.

What only the cloud knows, `${config('AccountID')}` or `${resources.R.output.p}`, stays as it is written: `Node.open`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from scripts.template.errors import VariableError
from scripts.template.nodes import Node, Place, plain

__all__ = ["Renderer"]

_INNERMOST = re.compile(r"\$\{([^${}]*)\}")
_NESTED = re.compile(r"\$\{[^}]*\$\{")
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_ARGUMENTS = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)")\s*(?:,\s*(?:'([^']*)'|"([^"]*)")\s*)?""")


class _LaterOnly(Exception):
    """Only a deploy knows the value."""


@dataclass(frozen=True)
class Renderer:
    """Renders nodes of one template. `environment` is what `${env('X')}` reads; `complain` is told what cannot be."""

    root: Node
    folder: Path
    environment: Mapping[str, str]
    complain: Callable[[VariableError], None]
    _busy: list[str] = field(default_factory=list)

    def render(self, node: Node, resource: str | None = None) -> Node:
        """Return the node with its variables filled in; `resource` is what `${this}` means."""
        if isinstance(node.value, Mapping):
            return replace(node, value={key: self.render(value, resource) for key, value in node.value.items()})
        if isinstance(node.value, tuple):
            return replace(node, value=tuple(self.render(value, resource) for value in node.value))
        if not node.open:
            return node
        if _NESTED.search(node.text):
            # OBSERVED with s 3.1.10: rendering ends with a syntax error.
            self.complain(
                VariableError("a ${...} inside a ${...}: s cannot render it; use a variable of vars", node.place)
            )
            return node
        try:
            return self._text(node.text, node.place, resource)
        except VariableError as error:
            self.complain(error)
            return node

    def _text(self, text: str, place: Place, resource: str | None) -> Node:
        kept: list[str] = []
        while match := _INNERMOST.search(text):
            try:
                value = self._value(match[1].strip(), place, resource)
            except _LaterOnly:
                # A mark that no YAML text holds keeps the variable out of the next round of the search.
                kept.append(match[0])
                text = f"{text[: match.start()]}\0{len(kept) - 1}\0{text[match.end() :]}"
                continue
            if match.span() == (0, len(text)) and not isinstance(value, str):
                return _node(value, place)
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = text[: match.start()] + shown + text[match.end() :]
        for number, original in reversed(list(enumerate(kept))):
            text = text.replace(f"\0{number}\0", original)
        return Node(text, place, rendered=True)

    def _value(self, source: str, place: Place, resource: str | None) -> object:
        call = _CALL.fullmatch(source)
        if call:
            return self._called(call[1], call[2], place, resource)
        head, *path = source.split(".")
        if head == "vars":
            return self._at(self.root.fields.get("vars"), path, source, place, resource)
        if head == "this" and resource is None:
            raise VariableError(f"${{{source}}} has a meaning inside a resource only", place)
        if head == "this" and path == ["name"]:
            return resource
        if head == "this" and resource is not None:
            return self._of_resource(resource, path, source, place)
        if head == "resources" and len(path) >= 2:
            return self._of_resource(path[0], path[1:], source, place)
        raise VariableError(f"unknown variable ${{{source}}}", place)

    def _called(self, name: str, inner: str, place: Place, resource: str | None) -> object:
        if name == "json":
            try:
                return json.loads(str(self._value(inner.strip(), place, resource)))
            except ValueError as error:
                raise VariableError(f"${{json({inner})}}: not JSON: {error}", place) from None
        match = _ARGUMENTS.fullmatch(inner)
        if match is None:
            raise VariableError(f"${{{name}({inner})}}: quoted text belongs between the parentheses", place)
        first, default = match[1] or match[2] or "", match[3] if match[3] is not None else match[4]
        if name == "config":
            raise _LaterOnly
        if name == "env":
            return self._env(first, default, place)
        if name == "path":
            return str((self.folder / first).resolve())
        if name == "file":
            return self._file(first, place)
        raise VariableError(f"unknown function {name}() in ${{...}}; known: config, env, file, json, path", place)

    def _env(self, name: str, default: str | None, place: Place) -> str:
        value = self.environment.get(name, default)
        if value is None:
            raise VariableError(f"{name} is not set in the environment and has no default: deploying fails", place)
        return value

    def _file(self, name: str, place: Place) -> str:
        try:
            text = (self.folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise VariableError(f"${{file('{name}')}}: {getattr(error, 'strerror', None) or error}", place) from None
        if "${" in text:
            # OBSERVED (serverless-devs page, 6.3): such text is rendered once more, and there is no way to escape it.
            raise VariableError(f"${{file('{name}')}}: the file holds a ${{...}} that s renders again", place)
        return text

    def _of_resource(self, name: str, path: list[str], source: str, place: Place) -> object:
        if path[:1] == ["access"]:
            return self._at(self.root.fields.get("access"), [], source, place, name)
        resources = self.root.fields.get("resources")
        found = resources.fields.get(name) if resources else None
        if found is None:
            raise VariableError(f"${{{source}}}: there is no resource {name!r}", place)
        if path[:1] in (["output"], ["info"]):
            raise _LaterOnly
        return self._at(found, path, source, place, name)

    def _at(self, node: Node | None, path: list[str], source: str, place: Place, resource: str | None) -> object:
        for key in path:
            node = node.fields.get(key) if node else None
        if node is None:
            raise VariableError(f"${{{source}}}: not found in the template", place)
        if source in self._busy:
            raise VariableError(f"${{{source}}} refers to itself", place)
        self._busy.append(source)
        try:
            rendered = self.render(node, resource)
        finally:
            self._busy.remove(source)
        if rendered.open:
            raise _LaterOnly
        return plain(rendered)


def _node(value: object, place: Place) -> Node:
    if isinstance(value, Mapping):
        return Node({str(key): _node(item, place) for key, item in value.items()}, place)
    if isinstance(value, list):
        return Node(tuple(_node(item, place) for item in value), place)
    return Node(value if isinstance(value, str | int | float | bool) else None, place)
