"""Paths of the older dialect: `$input.a[0]`, `$local[*].x`, `$context.task.token`, `$.x` (legacy page, section 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from local_sim.expression import EvaluationError, ExpressionSyntaxError, Scope, UnknownNameError
from local_sim.expression.paths import Evaluator
from local_sim.expression.spelling import nearest
from local_sim.expression.values import Json, type_name

STAR: Final = -1
"""The step `[*]` in a path: everything behind it is read from each item."""
MAPPING_ROOTS: Final = ("$input", "$local", "$context")
SERVICE_ROOTS: Final = ("$", "$context")
CONTEXT_PATHS: Final = {
    ("flow", "name"): "the flow's name",
    ("execution", "name"): "the execution's name",
    ("step", "eventId"): "the step's event id",
    ("task", "token"): "the callback token",
}

_ROOT = re.compile(r"\$\w*")
_KEY = re.compile(r"\.(\w+(?:-\w+)*)")
_INDEX = re.compile(r"\[(?:(\d{1,9})|(\*)|\"([^\"\\]*)\"|'([^'\\]*)')\]")


@dataclass(frozen=True, slots=True)
class LegacyPath:
    """A parsed path: keys are str, indices int, `[*]` is STAR. `text` is how it was written."""

    root: str
    steps: tuple[str | int, ...]
    text: str


def scan_path(text: str, start: int = 0) -> tuple[LegacyPath, int]:
    """Read the path that begins at `start`; return it and where it ends. Raises ExpressionSyntaxError."""
    root = _ROOT.match(text, start)
    if root is None:
        raise ExpressionSyntaxError("a path starts with '$'", text, start + 1)
    steps: list[str | int] = []
    at = root.end()
    while text[at : at + 1] in (".", "["):
        key = _KEY.match(text, at)
        index = None if key else _INDEX.match(text, at)
        found = key or index
        if found is None:
            fix = 'write .key, [0], [*] or ["key"]'
            raise ExpressionSyntaxError(f"{text[at : at + 20]!r} is no step of a path", text, at + 1, fix)
        steps.append(key[1] if key else _bracket(found))
        at = found.end()
    return LegacyPath(root.group(), tuple(steps), text[start:at]), at


def _bracket(match: re.Match[str]) -> str | int:
    if match[1] is not None:
        return int(match[1])
    if match[2]:
        return STAR
    return match[3] if match[3] is not None else match[4]


def parse_path(text: str, roots: tuple[str, ...]) -> LegacyPath:
    """Parse a text that is one path. Raises ExpressionSyntaxError, UnknownNameError for a root that is not offered."""
    path, end = scan_path(text)
    if end < len(text):
        raise ExpressionSyntaxError(f"the path goes on with {text[end : end + 20]!r}", text, end + 1)
    if path.root not in roots:
        near = nearest(path.root, roots, 0.5)
        fix = f"did you mean {near}?" if near else f"the roots are {', '.join(roots)}"
        raise UnknownNameError(f"unknown root {path.root}", text, 1, fix)
    if path.root == "$context" and path.steps not in CONTEXT_PATHS:
        known = ", ".join("$context." + ".".join(steps) for steps in CONTEXT_PATHS)
        raise UnknownNameError(f"unknown path {path.text}", text, 1, f"there are {known}")
    return path


def compile_path(path: LegacyPath) -> Evaluator:
    """Return what reads the path from a scope: `$input` and `$` its input, `$local` its output, `$context` the rest."""
    if path.root == "$context":
        return _CONTEXT[path.steps]
    local = path.root == "$local"
    steps = path.steps

    def read(scope: Scope) -> Json:
        return _walk(scope.output if local else scope.input, steps, path)

    return read


def _walk(value: Json, steps: tuple[str | int, ...], path: LegacyPath) -> Json:
    for number, step in enumerate(steps):
        if step == STAR:
            if type(value) is not list:
                raise EvaluationError(f"{path.text}: '[*]' wants an array, not {type_name(value)}")
            return [_walk(item, steps[number + 1 :], path) for item in value]
        if not _has(value, step):
            wanted = f"item {step}" if type(step) is int else repr(step)
            raise EvaluationError(f"{path.text}: there is no {wanted} in {_described(value)}")
        value = value[step]
    return value


def _has(value: Json, step: str | int) -> bool:
    if isinstance(step, str):
        return type(value) is dict and step in value
    return type(value) is list and step < len(value)


def _described(value: Json) -> str:
    if type(value) is dict:
        names = ", ".join(map(repr, list(value)[:8]))
        return f"an object with {names}" if names else "an empty object"
    return f"an array of {len(value)}" if type(value) is list else type_name(value)


def _token(scope: Scope) -> Json:
    if scope.task_token is None:
        raise EvaluationError("there is no task token here; only a task with pattern waitForCallback or sync has one")
    return scope.task_token


_CONTEXT: dict[tuple[str | int, ...], Evaluator] = {
    ("flow", "name"): lambda scope: scope.globals["flow"],
    ("execution", "name"): lambda scope: scope.execution.name,
    ("step", "eventId"): lambda scope: scope.globals["eventId"],
    ("task", "token"): _token,
}
