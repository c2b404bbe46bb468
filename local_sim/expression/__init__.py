"""Constructors, paths, conditions and built-in functions: compiled once, run many times. Does no I/O.

    template = compile_template({"order.$": "$Input.order", "kind": "new"}, name="Parameters")
    template.evaluate(Scope(ExecutionInfo("run-1", {}), input={"order": 7}))     # {"order": 7, "kind": "new"}

Values are shared, never copied: nobody may change an evaluated value in place.
"""

from .compiled import (
    ITEM_ROOTS,
    OUTPUT_ROOTS,
    PLAIN_ROOTS,
    Condition,
    Expression,
    compile_condition,
    compile_expression,
)
from .errors import (
    ArityError,
    EvaluationError,
    ExpressionError,
    ExpressionSyntaxError,
    NotAllowedHereError,
    TooDeepError,
    UnknownNameError,
)
from .evaluators import call_function
from .nodes import Call, Compare, Literal, Logic, Node, Path, Unary, walk
from .parser import parse_condition, parse_expression
from .position import Position
from .scope import MISSING, ExecutionInfo, RandomSource, Scope, SeededRandom
from .signatures import ALIASES, HASH_ALGORITHMS, SIGNATURES, Signature
from .template import Template, compile_template
from .unparse import unparse

__all__ = [
    "ALIASES",
    "HASH_ALGORITHMS",
    "ITEM_ROOTS",
    "MISSING",
    "OUTPUT_ROOTS",
    "PLAIN_ROOTS",
    "SIGNATURES",
    "ArityError",
    "Call",
    "Compare",
    "Condition",
    "EvaluationError",
    "ExecutionInfo",
    "Expression",
    "ExpressionError",
    "ExpressionSyntaxError",
    "Literal",
    "Logic",
    "Node",
    "NotAllowedHereError",
    "Path",
    "Position",
    "RandomSource",
    "Scope",
    "SeededRandom",
    "Signature",
    "Template",
    "TooDeepError",
    "Unary",
    "UnknownNameError",
    "call_function",
    "compile_condition",
    "compile_expression",
    "compile_template",
    "parse_condition",
    "parse_expression",
    "unparse",
    "walk",
]
