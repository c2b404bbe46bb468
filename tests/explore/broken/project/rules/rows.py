"""What the table must say after any run."""

import json
from collections.abc import Iterator

from rows import read

from local_sim.explore import Run, invariant


@invariant
def the_row_says_what_the_flow_says(run: Run) -> Iterator[str]:
    told = run.output.get("done", {}) if run.end == "Done" else {}
    row = read(f"result/{run.input['order']}")
    if "number" in told and row.get("number") != told["number"]:
        yield f"the flow has {told['number']}, the row {row.get('number')}"


@invariant
def an_order_is_counted_once(run: Run) -> Iterator[str]:
    if read("sold").get("count", 0) > 1:
        yield f"one order, counted {read('sold')['count']} times"


@invariant
def both_parts_are_there(run: Run) -> Iterator[str]:
    if run.end != "Done" or "Left" not in run.path:
        return
    row = read(f"parts/{run.input['order']}")
    parts = {*json.loads(row.get("parts", "[]")), *row} - {"parts"}
    if parts != {"left", "right"}:
        yield f"only {sorted(parts)} of left and right"
