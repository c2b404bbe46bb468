"""Starts the processes that explore and puts together what they tell."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any

from local_sim.errors import LocalSimError

from .errors import BadPlan, ExplorerDied
from .model import Plan
from .process import BAD_INPUT
from .report import Report, gather

Heard = Callable[[Mapping[str, Any]], None]


class Refused(LocalSimError):
    """An exploration could not start: the project, the flow or a setting has to be put right. Says which."""


def explore(plan: Plan, *, jobs: int = 1, heard: Heard | None = None, input_given: str = "") -> Report:
    """Explore, and return what was found. `heard` is told of each run as it ends; `jobs` processes share the work.

    Raises BadPlan, Refused for what the project or the plan has wrong, and ExplorerDied.
    """
    _check(plan, jobs)
    count = 1 if plan.replay else jobs
    with ExitStack() as stack:
        children = [_start(plan, mine, count, stack) for mine in range(count)]
        _listen(children, heard)
        for child in children:
            _end(child)
    return gather(plan, [item for child in children for item in child.told], input_given)


def _check(plan: Plan, jobs: int) -> None:
    if not hasattr(os, "fork"):
        raise BadPlan("explore", "needs a system that can copy a process (Linux, macOS)")
    if plan.depth not in (1, 2):
        raise BadPlan("--depth", f"is 1 or 2, not {plan.depth}")
    if not 1 <= jobs <= 64:
        raise BadPlan("--jobs", f"is 1 to 64, not {jobs}")
    for part in plan.replay.split("+") if plan.replay else ():
        number, found, fault = part.partition(".")
        if not found or not number.isdigit() or not fault:
            raise BadPlan("--replay", f"wants a run's id, such as 17.crash_after, not {plan.replay!r}")


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    pipe: IO[bytes]
    errors: IO[bytes]
    told: list[Mapping[str, Any]] = field(default_factory=list)
    rest: bytes = b""


def _start(plan: Plan, mine: int, of: int, stack: ExitStack) -> _Child:
    reader, descriptor = os.pipe()
    errors = stack.enter_context(TemporaryFile())  # noqa: SIM115 - the stack closes it
    # Sets of texts are walked in an order that comes from this seed: the same in every process and run.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "local_sim.explore.process"],
        stdin=subprocess.PIPE,
        stdout=errors,
        stderr=errors,
        pass_fds=[descriptor],
        env=environment,
    )
    stack.callback(_stop, process)
    os.close(descriptor)
    given = {"plan": {**asdict(plan), "root": str(plan.root)}, "mine": mine, "of": of, "out": descriptor}
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(json.dumps(given).encode())
    return _Child(process, stack.enter_context(open(reader, "rb", buffering=0)), errors)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()


def _listen(children: list[_Child], heard: Heard | None) -> None:
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child.pipe, selectors.EVENT_READ, child)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 20)
                if data:
                    _take(key.data, data, heard)
                else:
                    selector.unregister(key.fileobj)


def _take(child: _Child, data: bytes, heard: Heard | None) -> None:
    *lines, child.rest = (child.rest + data).split(b"\n")
    for line in lines:
        item = json.loads(line)
        child.told.append(item)
        if heard is not None:
            heard(item)


def _end(child: _Child) -> None:
    status = child.process.wait()
    child.errors.seek(0)
    said = child.errors.read().decode(errors="replace")
    if status == BAD_INPUT:
        raise Refused(said.strip())
    if status != 0 or not any(not item["schedule"] or "died" not in item for item in child.told):
        raise ExplorerDied(status, said[-4000:])
