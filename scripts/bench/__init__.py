"""Benchmarks: one module a subject, each with `main(argv)`; `python scripts/bench.py NAME` runs one."""
