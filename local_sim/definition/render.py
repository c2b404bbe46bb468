"""Reports as text, JSON and SARIF 2.1.0. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .findings import Finding, Report
from .rules import RULES, Rule

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_text(reports: Sequence[Report]) -> str:
    """Return one paragraph a finding, as file:line:column, and a last line that counts them."""
    findings = [finding for report in reports for finding in report.findings]
    lines = [line for finding in findings for line in _text_lines(finding)]
    return "\n".join([*lines, _summary(findings, len(reports))]) + "\n"


def _text_lines(finding: Finding) -> list[str]:
    leans = f" ({finding.assumption})" if finding.assumption else ""
    lines = [f"{finding.place}: {finding.severity.value} {finding.code} [{finding.slug}] {finding.message}{leans}"]
    if finding.fix:
        lines.append(f"    fix: {finding.fix}")
    return lines


def _summary(findings: Sequence[Finding], flows: int) -> str:
    counted = [
        (kind, sum(finding.severity.value == kind for finding in findings)) for kind in ("error", "warning", "note")
    ]
    said = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counted if count)
    return f"{flows} flow{'s' if flows != 1 else ''} checked: {said or 'nothing found'}"


def render_json(reports: Sequence[Report]) -> str:
    """Return `{"flows": [{"source", "ok", "findings": [...]}]}`."""
    flows = [
        {"source": report.source, "ok": report.ok, "findings": [_json_finding(one) for one in report.findings]}
        for report in reports
    ]
    return json.dumps({"flows": flows}, ensure_ascii=False, indent=2) + "\n"


def _json_finding(finding: Finding) -> dict[str, Any]:
    values: dict[str, Any] = {
        "code": finding.code,
        "rule": finding.slug,
        "severity": finding.severity.value,
        "line": finding.position.line,
        "column": finding.position.column,
        "message": finding.message,
        "text": finding.text,
        "fix": finding.fix,
        "assumption": finding.assumption,
    }
    if finding.related is not None:
        values["related"] = {"line": finding.related.line, "column": finding.related.column}
    return values


def render_sarif(reports: Sequence[Report]) -> str:
    """Return a SARIF 2.1.0 log with one run, as code hosts read it."""
    findings = [finding for report in reports for finding in report.findings]
    used = sorted({finding.code for finding in findings})
    driver = {
        "name": "local-sim check",
        "informationUri": "docs/findings.md",
        "rules": [_sarif_rule(RULES[code]) for code in used],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding, used.index(finding.code)) for finding in findings],
    }
    return (
        json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2) + "\n"
    )


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.slug.split("-")),
        "shortDescription": {"text": rule.summary},
        "helpUri": f"docs/findings.md#{rule.code.lower()}-{rule.slug}",
        "defaultConfiguration": {"level": rule.severity},
    }


def _sarif_result(finding: Finding, index: int) -> dict[str, Any]:
    fix = f" Fix: {finding.fix}." if finding.fix else ""
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}.{fix}"},
        "locations": [_sarif_location(finding)],
    }


def _sarif_location(finding: Finding) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": finding.position.line, "startColumn": finding.position.column}
    if finding.text:
        region["snippet"] = {"text": finding.text}
    uri = finding.source.replace("\\", "/")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
