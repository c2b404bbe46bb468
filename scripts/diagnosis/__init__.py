"""The parts of `scripts/doctor.py`: checks, each of which yields findings with their mend."""

from __future__ import annotations

from scripts.diagnosis.model import Check, Result, run

__all__ = ["Check", "Result", "run"]
