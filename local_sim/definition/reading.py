"""From a flow's text, YAML or JSON, to its root node."""

from __future__ import annotations

from local_sim.expression import Position

from .collector import Collector
from .json_reader import JsonProblem, read_json, stop_for
from .nodes import Node
from .yaml_reader import StopReading, place_of_index, read_yaml

MAX_BYTES = 1024 * 1024
"""A definition travels in a request, and a request holds 1,024 KiB (LIM, STATED)."""


def read_root(text: str | bytes, collector: Collector, *, max_bytes: int = MAX_BYTES) -> Node | None:
    """Return the root node, or None after recording why there is none."""
    try:
        return _read(_decode(text, collector, max_bytes), collector)
    except StopReading:
        return None


def _decode(text: str | bytes, collector: Collector, max_bytes: int) -> str:
    data = _encode(text, collector) if isinstance(text, str) else text
    if len(data) > max_bytes:
        fix = "move parts into flows of their own and call them by FNF:StartExecution"
        message = f"the definition has {len(data)} bytes, at most {max_bytes} are allowed"
        collector.add("SK002", Position(1, 1), message, fix=fix)
        raise StopReading
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        collector.add("SK001", Position(line, column), "the text is not UTF-8", fix="save the file as UTF-8")
        raise StopReading from None


def _encode(text: str, collector: Collector) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        place = place_of_index(text, error.start)
        collector.add("SK001", place, "the text holds half of a surrogate pair", fix="save the file as UTF-8")
        raise StopReading from None


def _read(text: str, collector: Collector) -> Node:
    """JSON first when the text starts like it.

    YAML's flow maps look alike, but libyaml refuses some JSON (C24, page 2).
    """
    start = text.lstrip()
    if not start.startswith("{"):
        return read_yaml(text, collector)
    trial = Collector(collector.source)
    try:
        root = read_json(text, trial)
    except JsonProblem as problem:
        if problem.code != "SK015" or start[1:].lstrip().startswith('"'):
            raise stop_for(problem, collector) from None
        return read_yaml(text, collector)
    collector.extend(trial)
    return root
