"""What a flow that ended well has promised."""

from collections.abc import Iterator

from local_sim.explore import Boundary, Run, invariant

Said = Iterator[tuple[str, Boundary]]


def _last(run: Run, operation: str) -> Boundary:
    return next(one for one in reversed(run.requests) if one.operation == operation)


@invariant
def each_round_has_its_letter(run: Run) -> Said:
    letters = [effect for effect in run.effects if effect.name == "letter"]
    rounds = run.path.count("Ask")
    if run.end == "Done" and "Ask" in run.path and len(letters) < rounds:
        yield f"{rounds} rounds, {len(letters)} letters", _last(run, "POST /do/letter")


@invariant
def what_is_done_was_shipped(run: Run) -> Said:
    shipped = any(effect.name == "ship" for effect in run.effects)
    if run.end == "Done" and "Second" in run.path and not shipped:
        yield "it was never shipped", _last(run, "POST /do/ship")
