"""The parts of `scripts/build.py`: wheels in, a code folder and a ZIP out, a look at whether it works."""

from __future__ import annotations

from scripts.building.errors import BuildError, CannotFetch, NotPure, Unusable
from scripts.building.model import BuildSettings, Built, Problem, Size, Target
from scripts.building.pack import make_zip, settle_times, sizes
from scripts.building.preflight import find_interpreter, preflight
from scripts.building.settings import handlers_of, read_build_settings
from scripts.building.tree import lay_out
from scripts.building.wheels import fetch, wanted

__all__ = [
    "BuildError",
    "BuildSettings",
    "Built",
    "CannotFetch",
    "NotPure",
    "Problem",
    "Size",
    "Target",
    "Unusable",
    "fetch",
    "find_interpreter",
    "handlers_of",
    "lay_out",
    "make_zip",
    "preflight",
    "read_build_settings",
    "settle_times",
    "sizes",
    "wanted",
]
