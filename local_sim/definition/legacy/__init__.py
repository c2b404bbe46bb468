"""The older dialect (`type: flow`, `steps:`): read, checked, and lowered into the definition model the engine runs.

Lowering rather than a second interpreter: journal, history, runner, explorer and console know one engine. A list of
steps becomes a scope marked as a `SerialList`; mappings become templates; most steps become ordinary states. Only what
the newer language lacks has a type of its own: `ChoiceStep`, `WaitStep`, `ForeachStep`.
"""

from .build import build_legacy
from .model import ChoiceStep, ForeachStep, Option, WaitStep

__all__ = ["ChoiceStep", "ForeachStep", "Option", "WaitStep", "build_legacy"]
