"""What a project itself has to show: panels made by the modules it names in `[tool.local-sim] panels`.

A module has `overview()` and `execution(described)`, either or both, that return panels as plain JSON:

    {"title": "Ledger", "columns": ["step", "state"], "rows": [["Draft", "done"]], "chart": [1, 2, 3], "note": "..."}

They run in a process of their own, with the environment functions have: nothing they do can harm the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SECONDS = 10.0
_KEPT_SECONDS = 5.0
_LINE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Panel:
    """A titled table, with numbers for a small chart and a note where given."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    chart: tuple[float, ...] = ()
    note: str = ""


class Panels:
    """Asks the project's modules. The process is started at the first question and again after it has died."""

    def __init__(self, modules: Sequence[str], root: Path, environment: Mapping[str, str]) -> None:
        self._modules = tuple(modules)
        self._root = root
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._kept: tuple[float, list[Panel]] | None = None

    async def overview(self) -> list[Panel]:
        """Return the panels about everything, at most a few seconds old."""
        if self._kept is None or time.monotonic() - self._kept[0] > _KEPT_SECONDS:
            found = await self._ask({"about": "overview"})
            self._kept = time.monotonic(), found
        return self._kept[1]

    async def execution(self, described: Mapping[str, Any]) -> list[Panel]:
        """Return the panels about one execution, described as DescribeExecution does."""
        return await self._ask({"about": "execution", "execution": dict(described)})

    async def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._process = None

    async def _ask(self, question: Mapping[str, Any]) -> list[Panel]:
        if not self._modules:
            return []
        async with self._lock:
            try:
                answer = await asyncio.wait_for(self._exchange(question), _SECONDS)
            except (asyncio.TimeoutError, OSError, ValueError) as error:
                await self.close()
                return [Panel("Panels", note=f"{', '.join(self._modules)}: {type(error).__name__} {error}".strip())]
        return [_panel(one) for one in answer]

    async def _exchange(self, question: Mapping[str, Any]) -> list[Any]:
        process = self._process
        if process is None or process.returncode is not None:
            process = self._process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            raise ValueError("the process ended")
        answer = json.loads(line)
        return answer if isinstance(answer, list) else []

    async def _start(self) -> asyncio.subprocess.Process:
        path = os.pathsep.join([str(self._root), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "local_sim.console.panel_host",
            *self._modules,
            cwd=self._root,
            env={**os.environ, **self._environment, "PYTHONPATH": path},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LINE_BYTES,
        )


def _panel(given: Any) -> Panel:
    """Read a panel leniently: whatever is missing is empty, whatever is no text becomes one."""
    data = given if isinstance(given, dict) else {}
    rows: Any = data.get("rows") if isinstance(data.get("rows"), list) else []
    chart: Any = data.get("chart") if isinstance(data.get("chart"), list) else []
    return Panel(
        title=str(data.get("title", "")),
        columns=tuple(str(name) for name in data.get("columns") or ()),
        rows=tuple(tuple(_text(cell) for cell in row) for row in rows if isinstance(row, list)),
        chart=tuple(float(value) for value in chart if isinstance(value, int | float)),
        note=str(data.get("note", "")),
    )


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
