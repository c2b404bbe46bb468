"""ItemBatcher: several items as one child's input. The sub-fields are not documented; these are ours (A66)."""

from __future__ import annotations

from .evaluation import whole_between
from .events import Json
from .faults import RUNTIME_ERROR, StateFailure
from .size import json_bytes

_FIELDS = ("BatchInput", "MaxInputBytesPerBatch", "MaxItemsPerBatch")


def batch(items: list[Json], batcher: Json, what: str, *, max_bytes: int | None, max_depth: int) -> list[Json]:
    """Group items into `{"Items": [...], "BatchInput": ...}` by `MaxItemsPerBatch` and `MaxInputBytesPerBatch`.

    `batcher` is the evaluated ItemBatcher. Order is kept; every batch holds at least one item. Raises StateFailure for
    unknown or missing fields, and for an item that alone is over the limit of bytes.
    """
    unknown = sorted(key for key in batcher if key not in _FIELDS)
    if unknown or not batcher.keys() & {"MaxItemsPerBatch", "MaxInputBytesPerBatch"}:
        problem = f"has no field {unknown[0]}" if unknown else "needs MaxItemsPerBatch or MaxInputBytesPerBatch"
        raise StateFailure(RUNTIME_ERROR, f"{what} {problem}")
    most = whole_between(batcher.get("MaxItemsPerBatch", len(items) or 1), f"{what}.MaxItemsPerBatch", 1, 2**31)
    room = max_bytes
    if "MaxInputBytesPerBatch" in batcher:
        top = max_bytes or 2**31
        room = whole_between(batcher["MaxInputBytesPerBatch"], f"{what}.MaxInputBytesPerBatch", 1, top)
    head = {"Items": [], **({"BatchInput": batcher["BatchInput"]} if "BatchInput" in batcher else {})}
    groups = _split(items, most, room, json_bytes(head, max_depth), what, max_depth)
    return [{**head, "Items": group} for group in groups]


def _split(
    items: list[Json], most: int, room: int | None, head_bytes: int, what: str, max_depth: int
) -> list[list[Json]]:
    groups: list[list[Json]] = []
    filled = 0
    for index, item in enumerate(items):
        size = json_bytes(item, max_depth) + 1 if room is not None else 0
        if room is not None and head_bytes + size - 1 > room:
            raise StateFailure(RUNTIME_ERROR, f"{what}: item {index} alone makes a batch over {room} bytes")
        full = not groups or len(groups[-1]) >= most
        if full or (room is not None and head_bytes + filled + size - 1 > room):
            groups.append([])
            filled = 0
        groups[-1].append(item)
        filled += size
    return groups
