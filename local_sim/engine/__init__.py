"""The interpreter, sans-I/O: (state of an execution, event) -> (new state, history events, commands)."""
