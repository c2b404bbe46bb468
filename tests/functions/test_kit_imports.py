"""Start-up is cheap: the entry points import no SDK and no parser before they are called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from functions.entry import fc_handlers
from local_sim.project import load_project

ROOT = Path(__file__).parents[2]
DEAR = ("openai", "oss2", "tablestore", "pypdf", "docx", "bs4", "httpx", "lxml", "requests")


def test_loading_every_handler_imports_nothing_dear() -> None:
    code = "import json, sys, fc_handlers; print(json.dumps(sorted(sys.modules)))"
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'functions/entry'}"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert loaded.isdisjoint(DEAR)


def test_s_yaml_and_the_entry_points_name_the_same_handlers() -> None:
    named = {function.handler for function in load_project(ROOT, environment={}).functions.values()}
    assert named == {f"fc_handlers.{name}" for name in fc_handlers.__all__}
    assert all(callable(getattr(fc_handlers, name)) for name in fc_handlers.__all__)
