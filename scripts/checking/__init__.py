"""The offline check of a deployment: s.yaml against the rules of `s`, fc3 and the service, handlers, flows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scripts.checking.code import check_code
from scripts.checking.flows import check_flows, flow_files, flow_problems
from scripts.checking.functions import check_function, check_names
from scripts.checking.layout import check_layout
from scripts.checking.model import Finding, Findings
from scripts.template import read_template

__all__ = ["Finding", "check", "flow_files", "flow_problems"]


def check(file: Path, environment: Mapping[str, str], *, code: bool = True, flows: bool = True) -> list[Finding]:
    """Return what is wrong with the template `file` and what it deploys, in the order of the files.

    `environment` is what `${env('X')}` reads. `code` False leaves the handlers alone, `flows` False the flows. Raises
    `TemplateError` for a template that cannot be read at all.
    """
    findings = Findings()
    template = read_template(file, environment)
    check_layout(template, findings)
    for resource in template.functions():
        check_function(resource, findings)
    check_names(template.functions(), findings)
    if code:
        check_code(template, findings)
    if flows:
        check_flows(template, findings)
    return sorted(findings.found)
