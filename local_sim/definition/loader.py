"""The doors of this package: text to a flow, and text to findings. Both see the same errors with the same words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from local_sim.expression import Position

from .build_flow import Built, build_flow, is_legacy
from .check_targets import check_targets
from .collector import Collector
from .errors import InvalidFlowError, UnreadableFlowError
from .findings import Report
from .model import Flow
from .nodes import MapNode
from .reading import MAX_BYTES, read_root

Functions: TypeAlias = Mapping[str, Collection[str] | None]
"""Deployed functions: name -> the error names it declares, or None when it declares none."""


def load_flow(text: str | bytes, source: str = "<text>", *, max_bytes: int = MAX_BYTES, express: bool = False) -> Flow:
    """Return the typed definition in a text, YAML or JSON. `express`: Wait and Timeout have Express limits.

    Raises InvalidFlowError whose `findings` are all errors, the same that `check_flow` reports.
    """
    collector = Collector(source)
    built = _build(text, collector, max_bytes=max_bytes, express=express)
    if built.flow is None or collector.failed:
        raise InvalidFlowError(source, collector.report().errors)
    return built.flow


def load_flow_file(path: str | Path, *, max_bytes: int = MAX_BYTES, express: bool = False) -> Flow:
    """Return the typed definition in a file.

    Raises UnreadableFlowError when the file cannot be read, InvalidFlowError when it is no definition.
    """
    return load_flow(read_file(path), str(path), max_bytes=max_bytes, express=express)


def read_file(path: str | Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Return a flow file's bytes, at most one more than a definition may have. Raises UnreadableFlowError."""
    try:
        with Path(path).open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        collector = Collector(str(path))
        reason = error.strerror or type(error).__name__
        collector.add(
            "SK001", Position(1, 1), f"the file cannot be read: {reason}", fix="check the path and its permissions"
        )
        raise UnreadableFlowError(str(path), collector.report().findings) from None


def check_flow(
    text: str | bytes,
    source: str = "<text>",
    *,
    functions: Functions | None = None,
    strict: bool = False,
    express: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Report:
    """Return everything the checker has to say about a text.

    `functions` are the deployed ones; None: not known, and nothing is said about them. `strict` makes every finding an
    error.
    """
    from .checks import run_checks

    collector = Collector(source)
    built = _build(text, collector, max_bytes=max_bytes, express=express)
    run_checks(built.scopes, collector, functions=functions, express=express)
    if built.flow is not None and built.flow.root.serial is not None:
        from .legacy.check import check_legacy

        check_legacy(built.flow, collector, functions)
    report = collector.report()
    return report.strict() if strict else report


def _build(text: str | bytes, collector: Collector, *, max_bytes: int, express: bool) -> Built:
    reading = Collector(collector.source)
    root = read_root(text, reading, max_bytes=max_bytes)
    legacy = root is not None and is_legacy(root)
    # Deployment tools of the older dialect write !Ref and !GetAtt (legacy page, section 11.4).
    collector.extend(reading, without="SK009" if legacy else "")
    if root is None:
        return Built(None, ())
    if legacy and isinstance(root, MapNode):
        from .legacy import build_legacy

        return Built(build_legacy(root, collector), ())
    built = build_flow(root, collector, express=express)
    check_targets(built.scopes, collector)
    return built
