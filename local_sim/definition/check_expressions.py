"""Looks into parsed expressions: what always fails, and what leans on undocumented grammar."""

from __future__ import annotations

from collections.abc import Sequence

from local_sim.expression import (
    HASH_ALGORITHMS,
    SIGNATURES,
    Call,
    Compare,
    EvaluationError,
    ExecutionInfo,
    Literal,
    Logic,
    Node,
    Path,
    Position,
    Scope,
    Unary,
    call_function,
    unparse,
    walk,
)

from .collector import Collector
from .model import TaskMode, TaskState
from .scopes import ScopeInfo, StateInfo
from .static_types import type_of, wrong_arguments
from .uses import Use, expressions_of

_DRAWING = ("uuid", "randomInt")


def check_expressions(scopes: Sequence[ScopeInfo], collector: Collector) -> None:
    """Report SK309 to SK319 and SK510."""
    for scope in scopes:
        for info in scope.states.values():
            for use in expressions_of(info):
                _Check(info, use, collector).run()


class _Check:
    """The checks of one expression."""

    def __init__(self, info: StateInfo, use: Use, collector: Collector) -> None:
        self._info = info
        self._use = use
        self._collector = collector
        self._is_condition = use.field == "Condition"
        self._tree = use.expression.tree

    def run(self) -> None:
        """Check every node of the tree."""
        tree = self._tree
        if isinstance(tree, Path):  # most expressions are a bare path
            self._path(tree)
            if self._is_condition:
                self._boolean(tree)
            return
        if self._is_condition:
            self._condition()
        elif isinstance(tree, Literal):
            self._add("SK318", tree, f"{unparse(tree)[:60]} is a constant", "write it without '.$'")
        for node in walk(tree):
            if isinstance(node, Path):
                self._path(node)
            elif isinstance(node, Call):
                self._call(node)
            elif isinstance(node, Literal):
                self._literal(node)
            elif isinstance(node, Compare):
                self._compare(node)

    def _add(self, code: str, node: Node, message: str, fix: str = "") -> None:
        place = self._use.expression.position or self._info.position
        where = f"{self._use.where} of {self._info.what}"
        column = place.column + (node.column - 1 if "\n" not in self._use.expression.text else 0)
        text = self._use.expression.text[:200]
        self._collector.add(code, Position(place.line, column), f"{where}: {message}", fix=fix, text=text)

    def _path(self, path: Path) -> None:
        if path.spelling:
            fix = "hand the value over under a plain name, or read it by get(container, key)"
            self._add("SK316", path, f"{unparse(path)[:80]} uses a {path.spelling}ed key", fix)
        if path.root != "$Context" or path.steps[:1] != ("Current",):
            return
        if path.steps[1:2] == ("Error",) and self._use.field != "Catch":
            fix = "read it in the OutputConstructor of a Catch rule"
            self._add("SK309", path, "no error is being handled here, so the path matches nothing", fix)
        if path.steps[1:2] == ("TaskToken",) and not _has_token(self._info):
            self._add(
                "SK310", path, "there is a task token in the callback modes only", "set TaskMode: WaitForCustomCallback"
            )

    def _call(self, call: Call) -> None:
        if call.name == "randomInt":
            self._add(
                "SK317",
                call,
                "whether randomInt includes its bounds is not documented",
                "compute the number in a function",
            )
        if call.name == "length" and _is_wide(call.arguments[0]):
            self._add(
                "SK317", call, "whether length counts bytes or characters is not documented", "compute it in a function"
            )
        if call.name == "stringToJson" and _reads_detail(call.arguments[0]):
            self._add("SK510", call, "the content of Error.Detail is not documented", "hand it to a function as it is")
        for problem in _argument_problems(call):
            self._add("SK319", call, problem, f"write {SIGNATURES[call.name].usage}")

    def _literal(self, node: Literal) -> None:
        odd = ("'", "[", "{") if self._is_condition else ("`",)
        if node.quote in odd:
            kind = {"'": "single quotes", "`": "back-quotes"}.get(node.quote, "an array or object")
            self._add("SK315", node, f"{kind} are not among the constants listed here", "use double quotes, or a path")
        elif node.value is None and self._is_condition:
            self._add(
                "SK315",
                node,
                "null is not among the constants listed for a Condition",
                'test for a key with "key" in ...',
            )

    def _compare(self, node: Compare) -> None:
        left, right = type_of(node.left), type_of(node.right)
        if node.operator == "in":
            if right and right not in ("array", "object"):
                self._add(
                    "SK311", node, f"'in' wants an array or an object on its right, not {right}", "swap the sides?"
                )
            return
        if left and right and left != right:
            fix = "compare values of one type"
            self._add("SK311", node, f"{unparse(node)[:80]} compares {left} with {right} and always fails", fix)
        elif node.operator not in ("==", "!=") and {left, right} & {"boolean", "null", "array", "object"}:
            self._add("SK311", node, f"{left or right} has no order", "compare texts or numbers")

    def _condition(self) -> None:
        self._boolean(self._tree)
        nodes = walk(self._tree)
        if any(isinstance(node, Call) for node in nodes):
            fix = "compute the value in the InputConstructor of a state before"
            self._add("SK313", self._tree, "whether a Condition may call functions is not documented", fix)
        for node in nodes:
            if isinstance(node, Logic):
                self._logic(node)
            elif isinstance(node, Unary) and node.operator == "!":
                self._boolean(node.operand)

    def _logic(self, node: Logic) -> None:
        for operand in node.operands:
            self._boolean(operand)
            if isinstance(operand, Logic) and operand.operator != node.operator and not operand.grouped:
                self._add(
                    "SK312", operand, "&& and || are mixed without parentheses", f"write ({unparse(operand)[:80]})"
                )

    def _boolean(self, node: Node) -> None:
        kind = type_of(node)
        if kind and kind != "boolean":
            self._add(
                "SK314",
                node,
                f"{unparse(node)[:60]} is always {kind}, never true or false",
                "compare it with something",
            )


def _has_token(info: StateInfo) -> bool:
    return isinstance(info.state, TaskState) and info.state.mode is not TaskMode.REQUEST_COMPLETE


def _is_wide(node: Node) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, str) and not node.value.isascii()


def _reads_detail(node: Node) -> bool:
    return isinstance(node, Path) and node.steps[:3] == ("Current", "Error", "Detail")


def _argument_problems(call: Call) -> list[str]:
    if problems := wrong_arguments(call):
        return problems
    if call.arguments and call.name not in _DRAWING and all(isinstance(part, Literal) for part in call.arguments):
        return _failure_of(call)
    if (
        call.name == "hash"
        and isinstance(call.arguments[1], Literal)
        and call.arguments[1].value not in HASH_ALGORITHMS
    ):
        return [f"there is no hash algorithm {call.arguments[1].value!r}; there are {', '.join(HASH_ALGORITHMS)}"]
    if call.name == "regexMatchString" and isinstance(call.arguments[1], Literal):
        return _failure_of(Call(call.name, (Literal(""), call.arguments[1])))
    if call.name == "split" and isinstance(call.arguments[1], Literal):
        return _failure_of(Call(call.name, (Literal(""), call.arguments[1])))
    if call.name == "format" and isinstance(call.arguments[0], Literal):
        return _failure_of(Call(call.name, (call.arguments[0], *(Literal("") for _ in call.arguments[1:]))))
    return []


def _failure_of(call: Call) -> list[str]:
    """Run a call whose arguments are constants and return why it fails."""
    values = [part.value for part in call.arguments if isinstance(part, Literal)]
    try:
        call_function(call.name, Scope(ExecutionInfo("", {})), values)
    except EvaluationError as error:
        return [error.reason]
    return []
