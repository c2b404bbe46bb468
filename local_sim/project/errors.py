"""What can be wrong with a project.

ProjectError                catch it for: anything wrong with the project's files
├── ProjectNotFound         no pyproject.toml with [tool.local-sim] and no s.yaml upwards of a folder
├── TemplateError           s.yaml is malformed; carries the place
│   └── Unresolvable        a ${...} that has no value offline was needed
├── UnknownFunction         a name or ARN that s.yaml does not have
└── InvalidArn              text that is no function or flow ARN
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from local_sim.errors import LocalSimError


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ProjectError(LocalSimError):
    """Something is wrong with the project's files."""


class ProjectNotFound(ProjectError):
    """No project was found at or above `start`."""

    def __init__(self, start: Path) -> None:
        self.start = start
        super().__init__(
            f"no project found at or above {start}: expected an s.yaml, or a pyproject.toml with [tool.local-sim]"
        )


class TemplateError(ProjectError):
    """s.yaml cannot be used as it stands; `place` says where."""

    def __init__(self, message: str, place: Place) -> None:
        self.message = message
        self.place = place
        super().__init__(f"{place}: {message}")


class Unresolvable(TemplateError):
    """A variable was needed that has no value offline; `expression` is its text with the braces."""

    def __init__(self, expression: str, reason: str, place: Place) -> None:
        self.expression = expression
        self.reason = reason
        super().__init__(f"{expression} has no value offline: {reason}", place)


class UnknownFunction(ProjectError):
    """`name` is not among the functions of the template."""

    def __init__(self, name: str, known: Sequence[str], template: str) -> None:
        self.name = name
        self.known = tuple(known)
        there = f"{template} has {listing(name, known)}" if known else f"no {template} with functions was found"
        super().__init__(f"unknown function {name!r}: {there}")


class InvalidArn(ProjectError):
    """`arn` does not have the form of a `kind` ARN."""

    def __init__(self, arn: object, kind: str, example: str) -> None:
        self.arn = arn
        self.kind = kind
        super().__init__(f"{arn!r} is not a {kind} ARN; expected the form {example}")


def listing(name: str, known: Sequence[str]) -> str:
    """Say what there is instead of `name`: the nearest spelling when there is one, else the list."""
    if not known:
        return "none"
    near = get_close_matches(name, known, n=1)
    return f"{', '.join(sorted(known))}" + (f" (did you mean {near[0]!r}?)" if near else "")
