"""What can be wrong with a template.

::

    TemplateError           catch it for: s.yaml cannot be read; `place` says where
    └── VariableError       a `${...}` that can never have a value
"""

from __future__ import annotations

from scripts.template.nodes import Place

__all__ = ["TemplateError", "VariableError"]


class TemplateError(Exception):
    """The template cannot be used as it stands; `place` is a `Place`, `problem` says what is wrong there."""

    def __init__(self, problem: str, place: Place) -> None:
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.place = place


class VariableError(TemplateError):
    """A variable that can never have a value."""
