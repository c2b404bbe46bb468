"""The handlers of the shipped flows, one module each. s.yaml names them through fc_handlers.py at the root."""
