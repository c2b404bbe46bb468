"""Rewrites flows of the older dialect in the newer language.

    converted = convert(text, source="old.yaml")
    converted.text, converted.remarks

Every state hands on a frame `{input, local}`: what the older dialect calls the list's input and the union of its steps'
outputs. A step's mapped input stands beside them under `step` while it runs. Nested lists become scopes of their own.
"""

from .convert import Converted, convert
from .remarks import Remark, Weight

__all__ = ["Converted", "Remark", "Weight", "convert"]
