"""`python -m local_sim.cli` is the `local-sim` command."""

from __future__ import annotations

from local_sim.cli import main

main()
