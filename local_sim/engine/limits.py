"""The limits an execution runs under. All can be changed; the defaults are the published ones (language page 9)."""

from __future__ import annotations

from dataclasses import dataclass, replace

_YEAR_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Numbers that end or refuse something. Bytes are UTF-8 bytes of compact JSON; None means no limit.

    `max_io_bytes`: input or output of a state, and parameters or result of a task. `max_events`: history events of one
    execution (A35). `max_seconds`: duration of an execution when the flow sets no `Timeout`. `max_wait_seconds`: one
    Wait. `max_task_timeout_seconds`: `Timeout` of a Task. `inline_concurrency`, `distributed_concurrency`: of a Map
    that sets none; the latter is also the most a Map may ask for. `max_map_items`: items of a distributed Map.
    `max_json_depth`: nesting of one value (A60). `callbacks`: whether the two callback modes exist.
    """

    max_io_bytes: int | None = 64 * 1024
    max_events: int | None = 5000
    max_seconds: float = _YEAR_SECONDS
    max_wait_seconds: int = 300
    max_task_timeout_seconds: float = 604_800
    inline_concurrency: int = 40
    distributed_concurrency: int = 100
    max_map_items: int | None = 10_000
    max_json_depth: int = 450
    max_global_key_bytes: int = 128
    max_global_value_bytes: int | None = 256 * 1024
    callbacks: bool = True

    def express(self) -> Limits:
        """Return the same limits under Express rules: 5 minutes, waits to 20 s, RequestComplete only (EXEC)."""
        return replace(self, max_seconds=300, max_wait_seconds=20, callbacks=False)
