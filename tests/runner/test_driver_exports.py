"""The exports of the driver's packages are complete, sorted and lazy where that was promised."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGES = ["project", "workers", "actions", "journal", "runner", "cli"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_export_exists_and_the_list_is_sorted(name: str) -> None:
    package = import_module(f"local_sim.{name}")
    assert list(package.__all__) == sorted(
        package.__all__, key=lambda word: (not word.isupper(), word[0].islower(), word)
    )
    for export in package.__all__:
        assert getattr(package, export) is not None
        assert (getattr(package, export).__doc__ or "").strip(), f"{name}.{export} has no docstring"


@pytest.mark.parametrize("name", ["workers", "actions", "runner"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = import_module(f"local_sim.{name}").nothing


def test_importing_a_package_loads_no_worker_and_no_service() -> None:
    program = "import sys, local_sim.runner, local_sim.workers, local_sim.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("local_sim.")}
    assert loaded == {"local_sim.runner", "local_sim.workers", "local_sim.cli"}
