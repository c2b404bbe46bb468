"""The parts of `scripts/calibrate.py`: probes, a laboratory to run them in, and what local_sim answers."""

from __future__ import annotations

from scripts.calibration.model import Difference, Outcome, Probe, compared, read_probes
from scripts.calibration.run import FUNCTION, Laboratory

__all__ = ["FUNCTION", "Difference", "Laboratory", "Outcome", "Probe", "compared", "read_probes"]
