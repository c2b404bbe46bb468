"""s.yaml as the deploying scripts see it: every value with its place, variables filled in, bases merged."""

from __future__ import annotations

from scripts.template.errors import TemplateError, VariableError
from scripts.template.nodes import Node, Place, plain
from scripts.template.parsing import Repeated
from scripts.template.reading import Resource, Template, read_template

__all__ = [
    "Node",
    "Place",
    "Repeated",
    "Resource",
    "Template",
    "TemplateError",
    "VariableError",
    "plain",
    "read_template",
]
