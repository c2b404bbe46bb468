"""The `local-sim` command. What a command needs is imported when it runs, so that the command line comes up fast."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130
BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 execution failed, 2 bad input, 3 waiting for an answer, 130
    interrupted.
    """
    sys.exit(_run(list(sys.argv[1:] if argv is None else argv)))


def _run(arguments: list[str]) -> int:
    from local_sim.errors import LocalSimError

    from .app import run_app

    try:
        return run_app(arguments)
    except LocalSimError as error:
        print(f"local-sim: {error}", file=sys.stderr)  # noqa: T201
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
