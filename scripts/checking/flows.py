"""The flows that go along: present, valid by `local-sim check`, and calling functions that the template has (C51)."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from scripts.checking.model import Findings, nearest
from scripts.template import Node, Place, Template, TemplateError
from scripts.template.parsing import parse

__all__ = ["check_flows", "flow_files", "flow_problems"]

_FUNCTION = re.compile(r"acs:fc:[a-z0-9-]*:[0-9]*:functions/([A-Za-z_][A-Za-z0-9_-]*)")
_SUFFIXES = (".yaml", ".yml", ".json")
_SECONDS = 120


def check_flows(template: Template, findings: Findings) -> None:
    """Report flows that cannot be deployed: those of the flows folder, and those that a flow component names."""
    root = template.file.parent
    props = [resource.props.fields for resource in template.functions()]
    names = tuple(fields["functionName"].text for fields in props if "functionName" in fields)
    files = flow_files(root / "flows") if (root / "flows").is_dir() else []
    files += [file for file in _named(template, findings) if file not in files]
    for file in files:
        _check_text(file, names, findings)
    for place, problem in flow_problems(files, root):
        findings.error("SD20", problem, place)


def flow_files(folder: Path) -> list[Path]:
    """The flow files directly in a folder, by name."""
    return sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES)


def flow_problems(files: list[Path], root: Path) -> list[tuple[Place, str]]:
    """What `local-sim check --strict` says about the files. Without local-sim they are only parsed.

    The checker is another program on purpose: nothing that runs in the cloud may import the local one.
    """
    if not files:
        return []
    if importlib.util.find_spec("local_sim") is None:
        return _parse_problems(files)
    command = [sys.executable, "-m", "local_sim.cli", "check", "--strict", "--format", "json", "--project", str(root)]
    done = subprocess.run(  # noqa: S603 (this interpreter, our own module)
        [*command, *map(str, files)], capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    try:
        reports = json.loads(done.stdout)["flows"]
    except (ValueError, KeyError):
        return [(Place(str(files[0])), f"local-sim check failed: {(done.stderr or done.stdout).strip()[-300:]}")]
    return [_problem(report["source"], finding) for report in reports for finding in report["findings"]]


def _problem(source: str, finding: Mapping[str, object]) -> tuple[Place, str]:
    place = Place(_shown(Path(source)), _number(finding.get("line")), _number(finding.get("column")))
    return place, f"{finding.get('code', '')}: {finding.get('message', '')}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 1


def _parse_problems(files: list[Path]) -> list[tuple[Place, str]]:
    return [problem for problem in map(_parse_problem, files) if problem is not None]


def _parse_problem(file: Path) -> tuple[Place, str] | None:
    try:
        root, _ = parse(file.read_text(encoding="utf-8-sig"), _shown(file))
    except (OSError, UnicodeDecodeError) as error:
        return Place(_shown(file)), str(error)
    except TemplateError as error:
        return error.place, error.problem
    return None if root.kind == "map" else (root.place, f"a flow must be a map, not a {root.kind}")


def _named(template: Template, findings: Findings) -> list[Path]:
    files = []
    for resource in template.resources:
        definition = resource.props.fields.get("definition")
        if resource.component not in ("fnf", "flow") or definition is None or definition.open:
            continue
        file = _definition_file(definition, template.file.parent, findings)
        if file is not None:
            files.append(file)
    return files


def _definition_file(definition: Node, root: Path, findings: Findings) -> Path | None:
    if definition.kind == "map":  # an inline definition: sent as JSON text
        for key in ("Type", "StartAt", "States"):
            if key not in definition.fields and "steps" not in definition.fields:
                findings.error("SD20", f"the inline definition lacks {key}", definition.place)
        return None
    if definition.kind != "text":
        findings.error("SD07", f"definition must be a text or map, not a {definition.kind}", definition.place)
        return None
    file = (root / definition.text).resolve()
    if not file.is_file():
        findings.error("SD20", f"definition: there is no file {definition.text}", definition.place)
        return None
    if not file.is_relative_to(root.resolve()):
        findings.error("SD20", f"definition: {definition.text} lies outside the project", definition.place)
    return file


def _check_text(file: Path, names: tuple[str, ...], findings: Findings) -> None:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if "${" in line and not line.lstrip().startswith("#"):
            place = Place(_shown(file), number, line.index("${") + 1)
            findings.error("SD21", "a flow must not hold ${...}: s renders it and knows no way to escape it", place)
        for match in _FUNCTION.finditer(line):
            if match[1] not in names:
                near = nearest(match[1], names)
                mean = f"; did you mean {near!r}?" if near else ""
                place = Place(_shown(file), number, match.start(1) + 1)
                findings.error("SD20", f"the flow calls {match[1]!r}, which no resource makes{mean}", place)


def _shown(file: Path) -> str:
    try:
        return file.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(file)
