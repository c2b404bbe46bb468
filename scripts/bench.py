"""Runs a benchmark: `python scripts/bench.py engine --runs 5`; without a name it lists what there is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def main(argv: Sequence[str]) -> int:
    """Run the benchmark `argv` names with the rest of `argv`; return the exit status."""
    root = Path(__file__).resolve().parent.parent
    known = sorted(path.stem for path in (root / "scripts" / "bench").glob("[a-z]*.py"))
    known = [name for name in known if "_" not in name]
    if not argv or argv[0] not in known:
        print(f"usage: bench.py {{{','.join(known)}}} [options]")
        return 0 if not argv else 2
    # The script's own folder would hide the package `scripts.bench` behind this file.
    sys.path[0] = str(root)
    import_module(f"scripts.bench.{argv[0]}").main(argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
