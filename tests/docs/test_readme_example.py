"""The README's "Your own flow", followed to the letter in a copy of the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from loopback import Answer, loopback

ROOT = Path(__file__).resolve().parents[2]
INPUT = '{"customer": "c-7", "cents": 4800}'


def blocks(readme: str, heading: str) -> list[str]:
    section = (ROOT / readme).read_text(encoding="utf-8").split(heading, 1)[1].split("\n## ", 1)[0]
    return [textwrap.dedent(text) for text in re.findall(r" *```(?:python|yaml)\n(.*?) *```\n", section, re.S)]


def copied(folder: Path, handler: str, resource: str, flow: str) -> Path:
    for room in ("functions", "ledger", "scripts", "flows"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "bench"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    template = (ROOT / "s.yaml").read_text(encoding="utf-8").rstrip("\n")
    (folder / "s.yaml").write_text(f"{template}\n\n{textwrap.indent(resource, '  ')}", encoding="utf-8")
    (folder / "functions/handlers/send_invoice.py").write_text(handler, encoding="utf-8")
    with (folder / "functions/entry/fc_handlers.py").open("a", encoding="utf-8") as entry:
        entry.write("from functions.handlers.send_invoice import handler as send_invoice\n")
    (folder / "flows/invoice.yaml").write_text(flow, encoding="utf-8")
    return folder


def local_sim(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.path.append(sys.argv.pop(1)); from local_sim.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", "-c", program, str(ROOT), *arguments]
    environment = {**os.environ, **variables, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("readme", "heading"), [("README.md", "## Your own flow"), ("README.zh-CN.md", "## 编写自己的流程")]
)
def test_the_own_flow_of_the_readme_runs_as_printed(tmp_path: Path, readme: str, heading: str) -> None:
    folder = copied(tmp_path, *blocks(readme, heading))
    checked = local_sim(folder, "check", "flows/invoice.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with loopback() as billing:
        billing.answers = [Answer(503), Answer.of({"number": "R-1"})]
        ran = local_sim(
            folder,
            "run",
            "flows/invoice.yaml",
            "--input",
            INPUT,
            "--json",
            "--virtual-time",
            BILLING_ENDPOINT=billing.url,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads(ran.stdout)["output"] == {"number": "R-1"}
    assert [asked.json for asked in billing.asked] == [{"customer": "c-7", "cents": 4800}] * 2
    assert len({asked.headers["idempotency-key"] for asked in billing.asked}) == 1


def test_both_languages_print_the_same_example() -> None:
    assert blocks("README.md", "## Your own flow") == blocks("README.zh-CN.md", "## 编写自己的流程")
