"""`python -m local_sim.explore.process`: one process of an exploration.

The plan comes as JSON on standard input; runs go out as lines of JSON on the descriptor that the plan names. Nothing of
the project may be imported before the session has put the world's own time and chance in place.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from local_sim.errors import LocalSimError

BAD_INPUT = 2


def main() -> int:
    """Explore, and return the exit status: 0 done, 2 for what a person can put right (told on standard error)."""
    monotonic = time.monotonic
    from .forks import Share, writer
    from .model import Answer, Plan
    from .session import Session

    given: dict[str, Any] = json.loads(sys.stdin.read())
    answers = tuple(Answer(**one) for one in given["plan"].pop("answers"))
    fields = {**given["plan"], "root": Path(given["plan"]["root"]), "faults": tuple(given["plan"]["faults"])}
    plan = Plan(**fields, answers=answers)
    share = Share(given["mine"], given["of"])
    end = None if plan.budget_s is None else monotonic() + plan.budget_s
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory, where there is one
    parent = os.getpid()
    with tempfile.TemporaryDirectory(prefix="local-sim-", dir=memory if os.access(memory, os.W_OK) else None) as folder:
        try:
            session = Session(plan, Path(folder).resolve(), writer(given["out"]))
            baseline = session.begin()
            if plan.replay:
                session.replay(baseline, _placed(plan.replay))
            else:
                session.explore(baseline, share, lambda: end is not None and monotonic() > end)
        except LocalSimError as error:
            sys.stderr.write(f"{error}\n")
            return BAD_INPUT
        finally:
            if os.getpid() != parent:  # a copy must not take the folder away from the others
                os._exit(1)
    return 0


def _placed(run_id: str) -> dict[int, str]:
    return {int(number): fault for number, _, fault in (part.partition(".") for part in run_id.split("+"))}


if __name__ == "__main__":
    sys.exit(main())
