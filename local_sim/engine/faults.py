"""Error names the engine itself gives, and the signal by which a state fails."""

from __future__ import annotations

from typing import Final

ALL: Final = "FnF.ALL"
RUNTIME_ERROR: Final = "FnF.RuntimeError"
TASK_TIMEOUT: Final = "FnF.TaskTimeout"
EXECUTION_TIMEOUT: Final = "FnF.ExecutionTimeout"
INPUT_SIZE: Final = "FnF.InputSizeExceeded"
OUTPUT_SIZE: Final = "FnF.OutputSizeExceeded"
HISTORY_LIMIT: Final = "FnF.HistoryLimitExceeded"
CHILD_STOPPED: Final = "FnF.ExecutionStopped"
MAP_TOLERANCE: Final = "FnF.ToleratedFailuresExceeded"
MAP_ITEMS: Final = "FnF.MapItemsExceeded"


class StateFailure(Exception):
    """The state in progress fails under `error`; `final` means no Retry or Catch may take it."""

    def __init__(self, error: str, cause: str, *, final: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.cause = cause
        self.final = final
