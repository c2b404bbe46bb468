"""What the bucket must say after any run."""

from collections.abc import Iterator

import oss2
from client import bucket

from local_sim.explore import Boundary, Run, invariant

Said = Iterator[str | tuple[str, Boundary]]


def _read(key: str) -> str:
    return bucket().get_object(key).read().decode() if bucket().object_exists(key) else ""


def _last(run: Run, text: str) -> Boundary:
    return next(one for one in reversed(run.requests) if text in f"{one.operation} {one.key}")


@invariant
def no_page_is_lost(run: Run) -> Iterator[str]:
    if "a page" not in (_read("in/o-1"), _read("out/o-1")):
        yield "the page is neither in nor out"


@invariant
def what_is_named_is_there(run: Run) -> Iterator[str]:
    named = _read("index/o-1")
    if named and not bucket().object_exists(named):
        yield f"{named} is named and not there"


@invariant
def nobody_decides_by_looking(run: Run) -> Said:
    if "Look" in run.path and _read("decisions/o-1"):
        yield "somebody looked, and that was a decision", _last(run, "PutObject")


@invariant
def one_decision_counts(run: Run) -> Said:
    if run.end != "Done" or "Left" not in run.path:
        return
    said = {"left": run.output["said"]["Branch0"]["said"], "right": run.output["said"]["Branch1"]["said"]}
    counted = [part for part, answer in said.items() if answer["counts"]]
    if counted != [_read("decisions/o-1")]:
        yield f"{counted} were told that they count", _last(run, "PutObject")


@invariant
def each_round_has_a_token(run: Run) -> Said:
    if "Ask" not in run.path or run.end != "Done":
        return
    tokens = {bucket().get_object(one.key).read() for one in oss2.ObjectIterator(bucket(), prefix="tokens/")}
    if len(tokens) < run.path.count("Ask"):
        yield f"{run.path.count('Ask')} rounds, {len(tokens)} tokens", _last(run, "PutObject")
