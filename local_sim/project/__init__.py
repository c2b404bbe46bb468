"""The project on disk: s.yaml and [tool.local-sim] to functions, flows and settings."""

from __future__ import annotations

from .arn import FunctionArn, parse_flow_arn, parse_function_arn
from .errors import InvalidArn, Place, ProjectError, ProjectNotFound, TemplateError, UnknownFunction, Unresolvable
from .loader import find_project, load_project
from .model import Function, OutsideService, Project, Settings, Trigger
from .triggers import TRIGGER_TYPES

__all__ = [
    "TRIGGER_TYPES",
    "Function",
    "FunctionArn",
    "InvalidArn",
    "OutsideService",
    "Place",
    "Project",
    "ProjectError",
    "ProjectNotFound",
    "Settings",
    "TemplateError",
    "Trigger",
    "UnknownFunction",
    "Unresolvable",
    "find_project",
    "load_project",
    "parse_flow_arn",
    "parse_function_arn",
]
