"""Constructors: maps whose `.$` keys are expressions (language page 4.2, A40)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .compiled import PLAIN_ROOTS, Expression, compile_expression
from .errors import EvaluationError, ExpressionSyntaxError, TooDeepError
from .paths import Evaluator
from .position import Position
from .scope import Scope
from .values import Json

KeyPath: TypeAlias = tuple[str | int, ...]
Locate: TypeAlias = Callable[[KeyPath], "Position | None"]
OnError: TypeAlias = Callable[[KeyPath, ExpressionSyntaxError], None]

MAX_TEMPLATE_DEPTH = 100
"""How deep maps and lists may nest inside one constructor (A42)."""


class Template:
    """A compiled constructor. `name` is its field, `expressions` what it evaluates, each with its place in the map.

    `constant` holds the constant parts, with null where expressions stand. Without expressions `is_constant` is true
    and `constant` is the value itself, the same object each time.
    """

    __slots__ = ("_run", "constant", "expressions", "is_constant", "name")

    def __init__(
        self, name: str, run: Evaluator | None, constant: Json, expressions: tuple[tuple[KeyPath, Expression], ...]
    ) -> None:
        self.name = name
        self.is_constant = run is None
        self.constant = constant
        self.expressions = expressions
        self._run: Evaluator = run or (lambda scope: constant)

    def evaluate(self, scope: Scope) -> dict[str, Json]:
        """Return the constructed object; it shares structure with scope and constants: never change it in place.

        Raises EvaluationError naming field, key, expression and position.
        """
        try:
            return self._run(scope)  # type: ignore[no-any-return]
        except EvaluationError as error:
            error.prefix(self.name)
            raise

    def __repr__(self) -> str:
        return f"Template({self.name!r}, {self.constant if self.is_constant else dict(self.expressions)!r})"


def compile_template(
    value: dict[str, Json],
    *,
    name: str = "",
    roots: frozenset[str] = PLAIN_ROOTS,
    locate: Locate | None = None,
    on_error: OnError | None = None,
) -> Template:
    """Compile a constructor given as plain JSON values. `locate` tells the position of the value at a key path.

    Raises the first ExpressionSyntaxError, with key and position; with `on_error` each is handed there instead, and the
    template returned has null in those places.
    """
    compiler = _Compiler(name, roots, locate, on_error)
    run, constant = compiler.compile(value, ())
    return Template(name, run, constant, tuple(compiler.found))


class _Compiler:
    def __init__(self, name: str, roots: frozenset[str], locate: Locate | None, on_error: OnError | None) -> None:
        self.found: list[tuple[KeyPath, Expression]] = []
        self._name = name
        self._roots = roots
        self._locate = locate or (lambda path: None)
        self._on_error = on_error

    def compile(self, value: Json, path: KeyPath) -> tuple[Evaluator | None, Json]:
        """Return an evaluator, or None and the constant."""
        if type(value) not in (dict, list):
            return None, value
        if len(path) > MAX_TEMPLATE_DEPTH:
            self._refuse(
                path, TooDeepError(f"maps and lists nested deeper than {MAX_TEMPLATE_DEPTH} levels", self._name, 1)
            )
            return None, None
        return self._map(value, path) if type(value) is dict else self._list(value, path)

    def _list(self, items: list[Json], path: KeyPath) -> tuple[Evaluator | None, Json]:
        parts = [self.compile(item, (*path, index)) for index, item in enumerate(items)]
        base = [constant for _, constant in parts]
        dynamic = tuple((index, run) for index, (run, _) in enumerate(parts) if run is not None)
        return (_fill(base, dynamic) if dynamic else None), base

    def _map(self, entries: dict[str, Json], path: KeyPath) -> tuple[Evaluator | None, Json]:
        base: dict[str, Json] = {}
        dynamic: list[tuple[str, Evaluator]] = []
        for written, value in entries.items():
            here = (*path, written)
            key, run, constant = self._entry(written, value, here)
            if key in base:
                fix = f"keep either {key!r} or {key + '.$'!r}"
                self._refuse(here, ExpressionSyntaxError(f"key {key!r} twice, with and without '.$'", written, 1, fix))
            base[key] = constant
            if run is not None:
                dynamic.append((key, run))
        return (_fill(base, tuple(dynamic)) if dynamic else None), base

    def _entry(self, written: str, value: Json, here: KeyPath) -> tuple[str, Evaluator | None, Json]:
        if not written.endswith(".$"):
            return written, *self.compile(value, here)
        key = written[:-2]
        if not key:
            self._refuse(
                here, ExpressionSyntaxError("'.$' alone is no key", written, 1, "put the key's name before '.$'")
            )
        return key, self._expression(written, value, here), None

    def _expression(self, written: str, value: Json, here: KeyPath) -> Evaluator | None:
        if type(value) is not str:
            self._refuse(here, _not_text(written, value))
            return None
        try:
            expression = compile_expression(value, position=self._locate(here), roots=self._roots)
        except ExpressionSyntaxError as error:
            self._refuse(here, error)
            return None
        self.found.append((here, expression))
        return expression.evaluate

    def _refuse(self, path: KeyPath, error: ExpressionSyntaxError) -> None:
        error.key = ".".join((self._name, *map(str, path))) if self._name else ".".join(map(str, path))
        error.position = self._locate(path)
        if self._on_error is None:
            raise error
        self._on_error(path, error)


def _not_text(written: str, value: Json) -> ExpressionSyntaxError:
    key = written[:-2]
    if type(value) in (dict, list):
        fix = f"write {key!r} here and put '.$' on the keys inside whose values are expressions (A47)"
    else:
        fix = f"write {key!r} without '.$' for a constant"
    return ExpressionSyntaxError(f"{written!r} needs an expression as text", str(value)[:80], 1, fix)


def _fill(base: Json, dynamic: tuple[tuple[Json, Evaluator], ...]) -> Evaluator:
    """Copy the constants, then put the computed values at their keys or indices; keys keep the definition's order."""
    if len(dynamic) == 1:
        ((only, run_only),) = dynamic

        def build_one(scope: Scope) -> Json:
            result = base.copy()
            try:
                result[only] = run_only(scope)
            except EvaluationError as error:
                error.prefix(str(only))
                raise
            return result

        return build_one

    def build(scope: Scope) -> Json:
        result = base.copy()
        key = None
        try:
            for key, run in dynamic:
                result[key] = run(scope)
        except EvaluationError as error:
            error.prefix(str(key))
            raise
        return result

    return build
