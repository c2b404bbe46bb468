"""Explores the broken variants and their twins: one project for each kind, one warm process for all of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from local_sim.explore import Answer, Plan, Report
from local_sim.explore.report import gather

HERE = Path(__file__).resolve().parent
PROJECT, LEDGER = HERE / "project", HERE.parents[2] / "ledger"
HERE_MARK = "# <- "
_ORDER = {"order": "o-1", "amount": 50, "ship": 0}

_SETTINGS = {
    "plain": '[tool.local-sim]\ninvariants = ["rules.promises"]\n',
    "objects": '[tool.local-sim]\nsetup = "world.made:bucket"\ninvariants = ["rules.objects"]\n',
    "rows": '[tool.local-sim]\nsetup = "world.made:rows"\ninvariants = ["rules.rows"]\n',
    "ledger": '[tool.local-sim]\nsetup = "world.made:ledger"\ninvariants = ["ledger.invariants"]\n',
}
"""What is set up and which rules are asked, by the kind of case: the less, the faster."""

FEW = ("crash_after", "throttled", "slow_timeout", "error")
"""Enough faults to see a mistake, and fewer runs than with all."""

Functions = Mapping[str, str]
Edits = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Case:
    """A mistake and its mended twin.

    `flow` is the shape both run in; `broken` and `mended` say which function stands for each name in it, and `edits`
    make the broken flow, `both` are made in either. `rule` is what has to be reported, `line` where: the mark in the
    broken function, or in the broken flow. The twin meets every fault there is, or those of `limits`.
    """

    name: str
    rule: str
    broken: Functions
    mended: Functions
    flow: str = "one"
    kind: str = "plain"
    edits: Edits = ()
    both: Edits = ()
    line: str = "here"
    faults: tuple[str, ...] = FEW
    limits: tuple[str, ...] = ()
    given: Mapping[str, object] = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()

    def text(self, which: str) -> str:
        """Return the flow of one of the two; its functions filled in."""
        text = (PROJECT / "flows" / f"{self.flow}.yaml").read_text(encoding="utf-8")
        for old, new in (*self.both, *(self.edits if which == "broken" else ())):
            assert text.count(old) == 1, f"{self.flow} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        for name, function in (self.broken if which == "broken" else self.mended).items():
            text = text.replace(f"<{name}>", function.replace(".", "-"))
        return text.replace("<name>", self.flow_name(which))

    def flow_name(self, which: str) -> str:
        """Return the name of one of the two flows."""
        return f"{self.name.replace(' ', '_')}_{which}"


class Bench:
    """Where cases are explored. Its projects lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Report] = {}

    @cached_property
    def _server(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(HERE / "server.py")]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=self._folder
        )

    def close(self) -> None:
        """End the process."""
        if "_server" in vars(self):
            self._server.communicate()

    def root(self, kind: str) -> Path:
        """Return the project of a kind of cases, made at its first use."""
        root = self._folder / kind
        if root.exists():
            return root
        shutil.copytree(PROJECT, root, ignore=shutil.ignore_patterns("__pycache__", "flows"))
        if kind == "ledger":
            shutil.copytree(LEDGER, root / "code" / "ledger")  # compiled files too: they are valid where they lie
        (root / "flows").mkdir()
        (root / "s.yaml").write_text(_template(root), encoding="utf-8")
        settings = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
        (root / "pyproject.toml").write_text(f"{_SETTINGS[kind]}\n{settings}", encoding="utf-8")
        return root

    def explored(self, case: Case, which: str) -> Report:
        """Explore one of the two variants of a case."""
        root, text, name = self.root(case.kind), case.text(which), case.flow_name(which)
        (root / "flows" / f"{name}.yaml").write_text(text, encoding="utf-8")
        faults = case.faults if which == "broken" else case.limits
        plan = Plan(root, name, {**_ORDER, **case.given}, faults=faults, answers=case.answers)
        same = json.dumps([text.replace(name, ""), plan.input, plan.faults, case.kind])
        if same not in self._known:  # some mistakes have the same mended twin
            self._known[same] = self._ask(plan, name)
        return self._known[same]

    def _ask(self, plan: Plan, name: str) -> Report:
        runs, said = self._folder / f"{name}.runs", self._folder / f"{name}.said"
        given = {"plan": {**asdict(plan), "root": str(plan.root)}, "mine": 0, "of": 1}
        server = self._server
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps({"given": given, "runs": str(runs), "said": str(said)}) + "\n")
        server.stdin.flush()
        status = server.stdout.readline().strip()
        assert status == "0", f"{name}: {status}: {said.read_text(encoding='utf-8')[-3000:]}"
        return gather(plan, [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()])


def _template(root: Path) -> str:
    """Every function of every handler file becomes a function of the project."""
    lines = ["edition: 3.0.0", "name: broken", "resources:"]
    for file in sorted((root / "code").glob("*.py")):
        for name in re.findall(r"^def (\w+)\(event, context\)", file.read_text(encoding="utf-8"), re.M):
            props = f"functionName: {file.stem}-{name}, handler: {file.stem}.{name}, code: ./code"
            more = "runtime: python3.10, timeout: 120"
            lines.append(
                f"  {file.stem}-{name}: {{ component: fc3, props: {{ region: cn-hangzhou, {props}, {more} }} }}"
            )
    return "\n".join(lines) + "\n"


def marked(case: Case, root: Path) -> set[str]:
    """Return the lines that the explorer has to name: those with the case's mark in the broken functions or flow."""
    mark, found = f"{HERE_MARK}{case.line}", set()
    flow = root / "flows" / f"{case.flow_name('broken')}.yaml"
    found |= {f"flows/{flow.name}:{number}" for number, line in _lines(flow) if line.endswith(mark)}
    for function in case.broken.values():
        module, _, name = function.partition(".")
        inside = False
        for number, line in _lines(root / "code" / f"{module}.py"):
            if line and not line[0].isspace():
                inside = line.startswith(f"def {name}(")
            if inside and line.endswith(mark):
                found.add(f"code/{module}.py:{number}")
    assert found, f"{case.name} has no line marked {mark!r}"
    return found


def _lines(file: Path) -> enumerate[str]:
    return enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
