"""From a flow's text to a typed definition with line and column, and the findings of the checker.

flow = load_flow_file("flows/review.yaml")          # raises DefinitionError with findings
report = check_flow(text, "flows/review.yaml")      # never raises: report.findings, report.ok
"""

from .errors import DefinitionError, InvalidFlowError, UnreadableFlowError
from .findings import Finding, Report, Severity
from .loader import check_flow, load_flow, load_flow_file, read_file
from .model import Flow
from .render import render_json, render_sarif, render_text
from .rules import RULES, Rule

__all__ = [
    "RULES",
    "DefinitionError",
    "Finding",
    "Flow",
    "InvalidFlowError",
    "Report",
    "Rule",
    "Severity",
    "UnreadableFlowError",
    "check_flow",
    "load_flow",
    "load_flow_file",
    "read_file",
    "render_json",
    "render_sarif",
    "render_text",
]
