"""The real `s` from npm on the shipped templates and the local cloud; a component given as a path stands for fc3.

Long, and wants Node and a package index: asked for by --soak.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from life_kit import ROOT, Deployed, code_archive, empty_cloud

from scripts.checking import check

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("npm") is None, reason="Node is not here"),
]
PACKAGE = "@serverless-devs/s@3.1.10"
COMPONENT = Path(__file__).parent / "component"


@dataclass
class Tool:
    """`s` in a project folder of its own that links to the real one."""

    command: Path
    folder: Path
    home: Path

    def run(self, *arguments: str, status: int = 0) -> str:
        environment = {
            **os.environ,
            "HOME": str(self.home),
            "serverless_devs_config_home": str(self.home),
            "AccountID": "123456789012",
            "AccessKeyID": "local-key-id-of-the-test",
            "AccessKeySecret": "local-key-secret-of-the-test",
            "TEST_PYTHON": sys.executable,
            "TEST_ROOT": str(ROOT),
        }
        done = subprocess.run(
            ["node", str(self.command), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        assert done.returncode == status, output
        return output


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("s")
    (folder / "package.json").write_text('{"name": "s-for-tests", "private": true}')
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", PACKAGE], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"{PACKAGE} cannot be installed: {done.stderr[-300:]}")
    return folder / "node_modules" / ".bin" / "s"


def _environment(folder: Path) -> None:
    """An environment that scripts/venv takes for its own and up to date: through a link it would install into ours."""
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    lock = "requirements.lock"
    stamp = subprocess.run(["cksum"], stdin=(ROOT / lock).open("rb"), capture_output=True, text=True, check=True).stdout
    (folder / ".venv" / f".{lock}").write_text(stamp, encoding="utf-8")


@pytest.fixture
def tool(command: Path, tmp_path: Path) -> Tool:
    folder, home = tmp_path / "linked", tmp_path / "home"
    home.mkdir()
    folder.mkdir()
    for name in (
        "scripts",
        "functions",
        "ledger",
        "flows",
        "local_sim",
        "requirements.lock",
        "pyproject.toml",
    ):
        (folder / name).symlink_to(ROOT / name)
    for name in ("s.yaml", "s.dev.yaml", "s.prod.yaml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        text = text.replace("component: fc3", f"component: {COMPONENT}").replace(
            "run: ./scripts/build", "run: echo built"
        )
        (folder / name).write_text(text, encoding="utf-8")
    _environment(folder)
    made = Tool(command, folder, home)
    made.run("set", "analysis", "disable")
    return made


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with empty_cloud(tmp_path, code_archive(tmp_path), monkeypatch) as running:
        yield running


@pytest.mark.parametrize(
    ("template", "bucket"),
    [
        ("s.yaml", "stepkeeper-payloads"),
        ("s.dev.yaml", "stepkeeper-dev-payloads"),
        ("s.prod.yaml", "stepkeeper-payloads"),
    ],
)
def test_s_renders_the_shipped_templates(template: str, bucket: str, tool: Tool) -> None:
    shown = tool.run("preview", "-t", template)
    assert re.search(rf"OSS_BUCKET: +{bucket}\n", shown)
    assert "${" not in shown
    assert shown.count("functionName:") == (ROOT / "s.yaml").read_text(encoding="utf-8").count("functionName:")


def test_what_s_cannot_render_is_what_the_check_refuses(tool: Tool) -> None:
    text = (tool.folder / "s.yaml").read_text(encoding="utf-8")
    nested = text.replace('role: "${vars.role}"', "role: \"${env('X','${vars.role}')}\"")
    assert nested != text
    (tool.folder / "s.yaml").write_text(nested, encoding="utf-8")
    assert "vars" in tool.run("preview", status=1)
    messages = [finding.message for finding in check(tool.folder / "s.yaml", {}, code=False, flows=False)]
    assert any("s cannot render it" in message for message in messages)


def test_s_deploys_looks_invokes_and_removes(tool: Tool, cloud: Deployed) -> None:
    cloud.run("provision")  # fc3 has a bucket of its own for code; this component uses ours
    told = tool.run("deploy", "-y")
    assert "Global success-action completed" in told
    names = cloud.functions.names("stepkeeper-")
    assert len(names) >= 15
    alias = cloud.flows.alias("content_review", "live")
    assert alias is not None
    assert [route.version for route in alias.routes] == ["1"]
    assert "there:" in tool.run("validate_input", "info")
    answered = tool.run("check_existing_result", "invoke", "-e", "no json")
    assert "InvalidInput" in answered
    tool.run("deploy", "-y")
    assert len(cloud.flows.versions("content_review")) == 1
    tool.run("remove", "-y")
    assert cloud.functions.names("stepkeeper-") == []
