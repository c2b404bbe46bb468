"""From tokens to a tree. Recursion is bounded: 10 nested calls (STATED), 64 of anything else (A42)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from .errors import ArityError, ExpressionSyntaxError, TooDeepError, UnknownNameError
from .lexer import Lexer, Token
from .nodes import Call, Compare, Literal, Logic, Node, Path, Unary
from .signatures import ALIASES, SIGNATURES
from .spelling import nearest
from .values import Json

MAX_CALL_DEPTH = 10
MAX_DEPTH = 64
ROOTS = ("$Input", "$Output", "$Context", "$Global", "$Item")
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_OPERATOR_WORDS = {"and": "&&", "or": "||", "not": "!", "is": "==", "eq": "=="}


@lru_cache(maxsize=2_048)
def parse_expression(text: str) -> Node:
    """Parse what may stand behind a `.$` key: a path, a call or a literal. Raises ExpressionSyntaxError.

    Trees are shared between equal texts; nobody changes one.
    """
    return _Parser(text, in_condition=False).whole()


def parse_condition(text: str, lexer: Callable[[str], Lexer] = Lexer) -> Node:
    """Parse a Choice branch's Condition (language page 5.3, A10, A11). Raises ExpressionSyntaxError.

    `lexer` is another one for the older dialect, which writes its paths differently.
    """
    return _Parser(text, in_condition=True, lexer=lexer).whole()


class _Parser:
    def __init__(self, text: str, *, in_condition: bool, lexer: Callable[[str], Lexer] = Lexer) -> None:
        self._text = text
        self._in_condition = in_condition
        self._tokens = lexer(text).tokens()
        self._next = 0
        self._depth = 0
        self._calls = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _fail(self, message: str, token: Token, fix: str = "") -> ExpressionSyntaxError:
        return ExpressionSyntaxError(message, self._text, token.column, fix)

    def _expect(self, kind: str, after: str) -> Token:
        if self._token.kind != kind:
            raise self._fail(f"{kind!r} expected {after}, found {_seen(self._token)}", self._token)
        return self._take()

    def _deeper(self, token: Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            fix = "split the expression over several states"
            raise TooDeepError(f"nested deeper than {MAX_DEPTH} levels", self._text, token.column, fix)

    def whole(self) -> Node:
        node = self._disjunction() if self._in_condition else self._primary()
        if self._token.kind != "end":
            raise self._fail(f"the expression goes on with {_seen(self._token)}", self._token, self._mend())
        return node

    def _mend(self) -> str:
        """Propose what to do about what is left over after a complete expression (C03)."""
        token = self._token
        if token.kind == ")":
            return "this bracket closes nothing; remove it"
        if not self._in_condition:
            return "operators may be used in a Condition only"
        if token.kind == "name" and token.value in _OPERATOR_WORDS:
            return f'write "{_OPERATOR_WORDS[token.value]}"'
        if token.kind in _COMPARISONS or token.value == "in":
            return 'comparisons cannot be chained; write "a < b && b < c"'
        return "join conditions with && or ||"

    def _disjunction(self) -> Node:
        return self._logic("||", self._conjunction)

    def _conjunction(self) -> Node:
        return self._logic("&&", self._comparison)

    def _logic(self, operator: str, part: Callable[[], Node]) -> Node:
        column = self._token.column
        operands = [part()]
        while self._token.kind == operator:
            self._take()
            operands.append(part())
        return operands[0] if len(operands) == 1 else Logic(operator, tuple(operands), column)

    def _comparison(self) -> Node:
        left = self._prefixed()
        token = self._token
        operator = "in" if token.kind == "name" and token.value == "in" else token.kind
        if operator != "in" and operator not in _COMPARISONS:
            return left
        self._take()
        return Compare(operator, left, self._prefixed(), token.column)

    def _prefixed(self) -> Node:
        token = self._token
        if token.kind not in ("!", "-") or self._at_negative_number():
            return self._primary()
        self._take()
        self._deeper(token)
        node = Unary(token.kind, self._prefixed(), token.column)
        self._depth -= 1
        return node

    def _at_negative_number(self) -> bool:
        return self._token.kind == "-" and self._tokens[self._next + 1].kind == "number"

    def _primary(self) -> Node:
        token = self._token
        if token.kind == "path":
            return self._path(self._take())
        if token.kind == "name" and token.value not in _WORDS:
            return self._call(self._take())
        if token.kind == "(" and self._in_condition:
            return self._parenthesis(self._take())
        quote = token.detail if token.kind == "text" else token.kind if token.kind in ("[", "{") else ""
        return Literal(self._literal(), token.column, quote)

    def _path(self, token: Token) -> Node:
        root, steps = token.value
        if root not in ROOTS:
            near = nearest(root, ROOTS, 0.5)
            fix = f"did you mean {near}?" if near else f"the roots are {', '.join(ROOTS)}"
            raise UnknownNameError(f"unknown root {root}", self._text, token.column, fix)
        return Path(root, steps, token.column, token.detail)

    def _parenthesis(self, opening: Token) -> Node:
        self._deeper(opening)
        node = self._disjunction()
        self._expect(")", f"to close the bracket of column {opening.column}")
        self._depth -= 1
        return replace(node, grouped=True) if isinstance(node, Logic) else node

    def _call(self, token: Token) -> Node:
        written: str = token.value
        name = ALIASES.get(written, written)
        if self._token.kind != "(":
            fix = "put text in double quotes" if name not in SIGNATURES else f"write {SIGNATURES[name].usage}"
            raise self._fail(f"{written!r} is no expression", token, fix)
        if name not in SIGNATURES:
            near = nearest(name, [*SIGNATURES, *ALIASES])
            fix = f"did you mean {near}?" if near else f"the functions are {', '.join(SIGNATURES)}"
            raise UnknownNameError(f"unknown function {written}", self._text, token.column, fix)
        self._calls += 1
        if self._calls > MAX_CALL_DEPTH:
            message = f"function calls nested deeper than {MAX_CALL_DEPTH} levels"
            raise TooDeepError(message, self._text, token.column, "compute a part in an earlier state")
        arguments = self._list(")", self._argument, f"after an argument of {written}")
        self._calls -= 1
        self._check_arity(name, len(arguments), token)
        return Call(name, tuple(arguments), token.column)

    def _argument(self) -> Node:
        return self._disjunction() if self._in_condition else self._primary()

    def _check_arity(self, name: str, count: int, token: Token) -> None:
        signature = SIGNATURES[name]
        if count < signature.minimum or (signature.maximum is not None and count > signature.maximum):
            wanted = "at least " if signature.maximum is None else ""
            message = f"{token.value} takes {wanted}{signature.minimum} argument(s), {count} given"
            raise ArityError(message, self._text, token.column, f"write {signature.usage}")

    def _list(self, closing: str, item: Callable[[], Json], after: str) -> list[Json]:
        """Parse items up to `closing`; the opening bracket is the next token."""
        self._deeper(self._take())
        items: list[Json] = []
        if self._token.kind != closing:
            items.append(item())
            while self._token.kind == ",":
                self._take()
                items.append(item())
        self._expect(closing, after)
        self._depth -= 1
        return items

    def _literal(self) -> Json:
        token = self._token
        if token.kind == "[":
            return self._list("]", self._literal, "after an item of the array")
        if token.kind == "{":
            return self._object()
        if token.kind == "-" and self._at_negative_number():
            self._take()
            return -self._take().value
        if token.kind in ("number", "text"):
            return self._take().value
        if token.kind == "name" and token.value in _WORDS:
            return _WORDS[self._take().value]
        fix = (
            "inside [...] and {...} only constants may stand; use toArray(...)"
            if token.kind in ("path", "name")
            else ""
        )
        raise self._fail(f"a path, a function or a constant expected, found {_seen(token)}", token, fix)

    def _object(self) -> Json:
        result: dict[str, Json] = {}

        def pair() -> None:
            key = self._expect("text", "as a key of the object")
            if key.value in result:
                raise self._fail(f"key {key.value!r} twice", key)
            self._expect(":", "after a key of the object")
            result[key.value] = self._literal()

        self._list("}", pair, "after a value of the object")
        return result


def _seen(token: Token) -> str:
    if token.kind == "end":
        return "the end"
    if token.kind == "path":
        return str(token.value[0])
    if token.kind in ("name", "number"):
        return str(token.value)[:40]
    return f"the text {token.value[:40]!r}" if token.kind == "text" else f"'{token.kind}'"
