"""What a callback of a flow wants to be told, read from the flow itself: the field it decides on, its choices, other
fields.

A report is free in form, but a flow that asks for a decision shows what it expects: the state's constructors read
fields of `$Output`, and a Choice behind it compares one of them with literals (R08).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from local_sim.definition.model import (
    ChoiceState,
    Flow,
    PassState,
    Scope,
    State,
    TaskMode,
    TaskState,
)
from local_sim.definition.walk import scopes_of

_OUTPUT_FIELD = re.compile(r"\$Output\.(\w+)")
_COMPARISON = re.compile(r"""\$(?:Input|Global)\.([\w.]+)\s*==\s*(?:"([^"]*)"|'([^']*)')""")
_FLIPPED = re.compile(r"""(?:"([^"]*)"|'([^']*)')\s*==\s*\$(?:Input|Global)\.([\w.]+)""")
_FURTHEST_CHOICE = 3


@dataclass(frozen=True, slots=True)
class Form:
    """`field` is the report's field that decides, `choices` the texts it is compared with, `others` further fields
    read.
    """

    field: str = "decision"
    choices: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def fill(self, value: object) -> dict[str, object]:
        """Return the report for a decision: an object as it is, a word under the field with the others empty.

        A word may be followed by further fields: `more_info note="which law?"`.
        """
        if isinstance(value, dict):
            return value
        if not isinstance(value, str):
            return {self.field: value, **dict.fromkeys(self.others, "")}
        word, extra = split_answer(value)
        return {self.field: word, **dict.fromkeys(self.others, ""), **extra}


def split_answer(text: str) -> tuple[str, dict[str, str]]:
    """Take `word key=value ...` apart, quotes as in a shell; text of any other form is the word itself."""
    try:
        word, *rest = shlex.split(text)
    except ValueError:
        return text, {}
    if not all(re.fullmatch(r"\w+=.*", part, re.DOTALL) for part in rest):
        return text, {}
    return word, dict(part.split("=", 1) for part in rest)


def callbacks(flow: Flow) -> dict[str, Form]:
    """Return the forms of all custom-callback states of the flow, by state name."""
    found: dict[str, Form] = {}
    for scope in scopes_of(flow.root):
        for state in scope.states.values():
            if isinstance(state, TaskState) and state.mode is TaskMode.CUSTOM_CALLBACK:
                found[state.name] = form_of(scope, state)
    return found


def form_of(scope: Scope, state: TaskState) -> Form:
    """Return the form of one state of a scope."""
    made = _constructed(state)
    read = tuple(dict.fromkeys(field for fields in made.values() for field in fields))
    compared = _comparisons(scope, state)
    if not compared:
        return Form(others=()) if len(read) != 1 else Form(field=read[0])
    source, choices = next(iter(compared.items()))
    fields = made.get(source)
    field = fields[0] if fields else source
    return Form(field, choices, tuple(other for other in read if other != field))


def _constructed(state: State) -> dict[str, tuple[str, ...]]:
    """Return which fields of `$Output` each constructed key reads, by the key's name."""
    made: dict[str, tuple[str, ...]] = {}
    for template in (state.output_constructor, state.global_constructor):
        for path, expression in template.expressions if template else ():
            fields = tuple(_OUTPUT_FIELD.findall(expression.text))
            if fields:
                key = ".".join(str(part).removesuffix(".$") for part in path)
                made[key] = made.get(key, ()) + fields
    return made


def _comparisons(scope: Scope, state: State) -> dict[str, tuple[str, ...]]:
    """Return the literals that the nearest Choice behind a state compares each field with."""
    following = scope.states.get(state.next or "")
    for _ in range(_FURTHEST_CHOICE):
        if not isinstance(following, PassState):
            break
        following = scope.states.get(following.next or "")
    found: dict[str, list[str]] = {}
    if isinstance(following, ChoiceState):
        for branch in following.branches:
            for field, double, single in _COMPARISON.findall(branch.condition.text):
                found.setdefault(field, []).append(double or single)
            for double, single, field in _FLIPPED.findall(branch.condition.text):
                found.setdefault(field, []).append(double or single)
    return {field: tuple(dict.fromkeys(values)) for field, values in found.items()}
