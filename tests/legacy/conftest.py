"""These tests drive the engine by the engine tests' simulator."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
