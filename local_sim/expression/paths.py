"""Compiles paths to closures; says precisely what was missing when one matches nothing (A08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from .errors import EvaluationError, NotAllowedHereError, UnknownNameError
from .nodes import Path
from .scope import MISSING, Scope
from .spelling import nearest
from .unparse import unparse
from .values import Json, type_name

Evaluator: TypeAlias = Callable[[Scope], Json]

CONTEXT_PATHS = (
    "$Context.Execution.Name",
    "$Context.Execution.Input",
    "$Context.Execution.RoleArn",
    "$Context.Current.Name",
    "$Context.Current.Input",
    "$Context.Current.Output",
    "$Context.Current.Error.Code",
    "$Context.Current.Error.Detail",
    "$Context.Current.RetryCount",
    "$Context.Current.TaskToken",
)
"""Every documented path of the context object (language page 4.1)."""

_OUTPUT_ONLY = "$Output can be read in OutputConstructor and GlobalConstructor only"
_OUTPUT_FIX = "the result of an earlier state arrives as $Input; $Context.Execution.Input is the execution's input"


def compile_path(path: Path, text: str, roots: frozenset[str]) -> Evaluator:
    """Return what reads the path; `roots` are the roots that can be read here.

    Raises UnknownNameError for a `$Context` path nobody documents, NotAllowedHereError for a root outside `roots`.
    """
    if path.root == "$Context":
        return _compile_context(path, text, roots)
    _check_root(path.root, path, text, roots)
    return _walk(_ROOTS[path.root], path.steps, path)


def _check_root(root: str, path: Path, text: str, roots: frozenset[str]) -> None:
    if root in roots:
        return
    if root == "$Output":
        raise NotAllowedHereError(_OUTPUT_ONLY, text, path.column, _OUTPUT_FIX)
    fix = "each item arrives as $Input of the first state of the Processor"
    raise NotAllowedHereError(f"{root} can be read in a Map's ItemConstructor only", text, path.column, fix)


def _input(scope: Scope) -> Json:
    if scope.input is MISSING:
        raise EvaluationError("$Input has no value here")
    return scope.input


def _output(scope: Scope) -> Json:
    if scope.output is MISSING:
        raise EvaluationError("$Output has no value here")
    return scope.output


def _item(scope: Scope) -> Json:
    if scope.item is MISSING:
        raise EvaluationError("$Item has no value here")
    return scope.item


def _globals(scope: Scope) -> Json:
    return scope.globals


def _token(scope: Scope) -> Json:
    if scope.task_token is None:
        raise EvaluationError("there is no task token here; only a Task in a callback mode has one")
    return scope.task_token


_ROOTS: dict[str, Evaluator] = {"$Input": _input, "$Output": _output, "$Global": _globals, "$Item": _item}

_CONTEXT: dict[str, dict[str, Evaluator]] = {
    "Execution": {
        "Name": lambda scope: scope.execution.name,
        "Input": lambda scope: scope.execution.input,
        "RoleArn": lambda scope: scope.execution.role_arn,
    },
    "Current": {
        "Name": lambda scope: scope.state,
        "Input": _input,
        "Output": _output,
        "Error": Scope.error,
        "RetryCount": lambda scope: scope.retry_count,
        "TaskToken": _token,
    },
}


def _whole_context(scope: Scope) -> Json:
    return {"Execution": scope.execution_values(), "Current": scope.current()}


_GROUPS: dict[str, Evaluator] = {"Execution": Scope.execution_values, "Current": Scope.current}


def _compile_context(path: Path, text: str, roots: frozenset[str]) -> Evaluator:
    steps = path.steps
    if not steps:
        return _whole_context
    group, *rest = steps
    if group not in _CONTEXT:
        raise _unknown(path, text)
    if not rest:
        return _GROUPS[str(group)]
    name, *deeper = rest
    if name not in _CONTEXT[str(group)]:
        raise _unknown(path, text)
    if (group, name) == ("Current", "Output"):
        _check_root("$Output", path, text, roots)
    if name not in ("Input", "Output", "Error") and deeper:
        raise _unknown(path, text)
    if name == "Error" and deeper and (len(deeper) > 1 or deeper[0] not in ("Code", "Detail")):
        raise _unknown(path, text)
    return _walk(_CONTEXT[str(group)][str(name)], tuple(deeper), path)


def _unknown(path: Path, text: str) -> UnknownNameError:
    written = unparse(path)
    near = nearest(written, CONTEXT_PATHS, 0.7)
    fix = f"did you mean {near}?" if near else f"there are {', '.join(CONTEXT_PATHS)}"
    return UnknownNameError(f"unknown path {written}", text, path.column, fix)


def _walk(root: Evaluator, steps: tuple[str | int, ...], path: Path) -> Evaluator:
    """Specialised by shape: most paths are a root and one or two keys, and they are what a flow spends its time on."""
    if not steps:
        return root
    if any(isinstance(step, int) for step in steps):
        return _walk_mixed(root, steps, path)
    if len(steps) == 1:
        return _walk_one(root, str(steps[0]), path)

    def read(scope: Scope) -> Json:
        value = found = root(scope)
        try:
            for step in steps:
                value = value[step]
        except (KeyError, TypeError):
            raise _nothing(found, path, steps) from None
        return value

    return read


def _walk_one(root: Evaluator, key: str, path: Path) -> Evaluator:
    if path.root == "$Input" and len(path.steps) == 1:

        def read_input(scope: Scope) -> Json:
            try:
                return scope.input[key]
            except (KeyError, TypeError):
                raise _nothing(_input(scope), path, (key,)) from None

        return read_input

    def read(scope: Scope) -> Json:
        value = root(scope)
        try:
            return value[key]
        except (KeyError, TypeError):
            raise _nothing(value, path, (key,)) from None

    return read


def _walk_mixed(root: Evaluator, steps: tuple[str | int, ...], path: Path) -> Evaluator:
    wanted = tuple((step, list if isinstance(step, int) else dict) for step in steps)

    def read(scope: Scope) -> Json:
        value = found = root(scope)
        try:
            step: Any
            for step, kind in wanted:
                if type(value) is not kind:
                    raise _nothing(found, path, steps)
                value = value[step]
        except (KeyError, IndexError):
            raise _nothing(found, path, steps) from None
        return value

    return read


def _nothing(value: Json, path: Path, steps: tuple[str | int, ...]) -> EvaluationError:
    """Walk again, slowly, and say which step failed."""
    offset = len(path.steps) - len(steps)
    for index, step in enumerate(steps):
        so_far = unparse(Path(path.root, path.steps[: offset + index]))
        kind, wanted = type_name(value), "array" if isinstance(step, int) else "object"
        if kind != wanted:
            return EvaluationError(f"the path matches nothing: {so_far} is {_article(kind)}, not {_article(wanted)}")
        if isinstance(step, int):
            if step >= len(value):
                return EvaluationError(
                    f"the path matches nothing: {so_far} has {len(value)} item(s), there is no [{step}]"
                )
        elif step not in value:
            return EvaluationError(f"the path matches nothing: {so_far} has no key {step!r}{_keys(value, step)}")
        value = value[step]
    return EvaluationError("the path matches nothing")


def _article(kind: str) -> str:
    return kind if kind in ("null", "text") else f"an {kind}" if kind[0] in "ao" else f"a {kind}"


def _keys(value: dict[str, Json], wanted: str) -> str:
    if not value:
        return "; it is empty"
    if near := nearest(wanted, list(value)[:1_000], 0.7):
        return f"; did you mean {near!r}?"
    names = sorted(value)
    more = ", ..." if len(names) > 8 else ""
    return f"; it has {', '.join(map(repr, names[:8]))}{more}"
