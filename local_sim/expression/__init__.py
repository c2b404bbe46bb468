"""Constructors, paths, conditions and built-in functions: compiled once, run many times. Does no I/O."""
