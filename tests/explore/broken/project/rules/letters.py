"""Each round of a flow that asks again has a letter of its own."""

from collections.abc import Iterator

from local_sim.explore import Run, invariant


@invariant
def each_round_has_its_letter(run: Run) -> Iterator[str | tuple[str, object]]:
    letters = [effect for effect in run.effects if effect.name == "letter"]
    rounds = run.path.count("Ask")
    if run.end == "Done" and "Ask" in run.path and len(letters) < rounds:
        last = next(one for one in reversed(run.requests) if one.operation == "POST /do/letter")
        yield f"{rounds} rounds, {len(letters)} letters", last
