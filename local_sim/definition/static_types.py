"""What can be known of an expression's type without running it."""

from __future__ import annotations

from local_sim.expression import Call, Literal, Node, Path, Unary

_RESULTS = {
    "arrayContains": "boolean",
    "arrayUnique": "array",
    "format": "text",
    "fromBase64": "text",
    "hash": "text",
    "intAdd": "number",
    "jsonMerge": "object",
    "length": "number",
    "mapKeys": "array",
    "mapValues": "array",
    "randomInt": "number",
    "regexMatchString": "boolean",
    "split": "array",
    "toArray": "array",
    "uuid": "text",
}
_PATHS: dict[tuple[str | int, ...], str] = {
    ("Execution", "Name"): "text",
    ("Execution", "RoleArn"): "text",
    ("Execution", "Input"): "object",
    ("Current", "Name"): "text",
    ("Current", "TaskToken"): "text",
    ("Current", "RetryCount"): "number",
    ("Current", "Error", "Code"): "text",
    ("Current", "Error", "Detail"): "text",
}
_ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "arrayContains": (("array",),),
    "arrayUnique": (("array",),),
    "format": (("text",),),
    "fromBase64": (("text",),),
    "get": (("array", "object"), ("number", "text")),
    "hash": (("text",), ("text",)),
    "intAdd": (("number",), ("number",)),
    "jsonMerge": (("object",), ("object",)),
    "length": (("array", "object", "text"),),
    "mapKeys": (("object",),),
    "mapValues": (("object",),),
    "randomInt": (("number",), ("number",)),
    "regexMatchString": (("text",), ("text",)),
    "split": (("text",), ("text",)),
    "stringToJson": (("text",),),
}
_JSON = {bool: "boolean", int: "number", float: "number", str: "text", list: "array", dict: "object"}


def type_of(node: Node) -> str:
    """Return the JSON type an expression always has, or an empty text when it depends on data."""
    if isinstance(node, Literal):
        return _JSON.get(type(node.value), "null")
    if isinstance(node, Call):
        return _RESULTS.get(node.name, "")
    if isinstance(node, Path):
        return _PATHS.get(node.steps, "") if node.root == "$Context" else ""
    return "number" if isinstance(node, Unary) and node.operator == "-" else "boolean"


def wrong_arguments(call: Call) -> list[str]:
    """Return what is wrong with arguments whose type is known."""
    wrong = []
    for index, (argument, kinds) in enumerate(zip(call.arguments, _ARGUMENTS.get(call.name, ()), strict=False)):
        kind = type_of(argument)
        if kind and kind not in kinds:
            wrong.append(f"argument {index + 1} of {call.name} is {kind}, not {' or '.join(kinds)}")
    return wrong
