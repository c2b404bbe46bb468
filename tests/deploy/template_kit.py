"""Writes small templates and checks them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from scripts.checking import Finding, check

GOOD = """\
edition: 3.0.0
name: demo
access: default
vars:
  region: cn-hangzhou
template:
  function:
    region: ${vars.region}
    runtime: python3.12
    code: ./code
    cpu: 0.5
    memorySize: 512
    timeout: 10
    environmentVariables:
      GREETING: hello
resources:
  one:
    component: fc3
    extend:
      name: function
    props:
      functionName: demo-one
      handler: index.one
"""


def write(folder: Path, text: str = GOOD, handlers: str = "def one(event, context):\n    return '{}'\n") -> Path:
    (folder / "code").mkdir(exist_ok=True)
    (folder / "code" / "index.py").write_text(handlers, encoding="utf-8")
    file = folder / "s.yaml"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file


def found(
    folder: Path, text: str = GOOD, *, code: bool = False, flows: bool = False, env: Mapping[str, str] | None = None
) -> list[Finding]:
    return check(write(folder, text), env or {}, code=code, flows=flows)


def with_props(lines: str) -> str:
    """The good template with more props for `one`."""
    return GOOD + textwrap.indent(textwrap.dedent(lines).strip("\n"), "      ") + "\n"


def place_of(finding: Finding) -> tuple[int, int]:
    return finding.place.line, finding.place.column
