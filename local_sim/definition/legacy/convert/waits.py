"""Converts waits: up to 300 s one state, longer ones a loop of Waits of 300 s."""

from __future__ import annotations

from .lists import State, StepWork
from .sources import FRAME, NoEquivalent, is_path

MAX_SECONDS = 300
_EVENTS_A_LAP, _MANY_EVENTS = 8, 4_000


def convert_wait(step: StepWork) -> None:
    """Append the states of a wait with a duration."""
    duration = step.data["duration"]
    if not is_path(duration):
        seconds = int(duration)
        if seconds <= MAX_SECONDS:
            _short(step, seconds)
            return
        laps = -(-seconds // MAX_SECONDS)
        step.changed(f"{seconds} s became a loop of {laps} waits of at most {MAX_SECONDS} s")
        if laps * _EVENTS_A_LAP > _MANY_EVENTS:
            step.changed(f"the loop writes about {laps * _EVENTS_A_LAP} of an execution's 5,000 history events")
        _loop(step, {"rest": seconds})
        return
    step.changed(f"the duration is a loop of waits of at most {MAX_SECONDS} s; it must be a number, text is refused")
    try:
        _loop(step, {"rest.$": step.expression(duration)})
    except NoEquivalent as error:
        step.lose(error)
        _loop(step, {"rest": 0})


def _short(step: StepWork, seconds: int) -> None:
    state: State = {"Type": "Wait", "Name": step.name, "InputConstructor": step.entry(), "Seconds": seconds}
    if seconds == 0:
        state = {"Type": "Pass", "Name": step.name, "InputConstructor": state["InputConstructor"]}
    step.leave(state, None)


def _loop(step: StepWork, rest: dict[str, object]) -> None:
    more, lap, last = (step.owner.fresh(f"{step.name}-{suffix}") for suffix in ("more", "lap", "last"))
    kept = {**FRAME, "step.$": "$Input.step"}
    first: State = {"Type": "Pass", "Name": step.name, "InputConstructor": step.entry()}
    step.add({**first, "OutputConstructor": {**kept, **rest}}, more)
    choice: State = {"Type": "Choice", "Name": more}
    step.add(choice, ends=True)
    choice["Branches"] = [
        {"Condition": f"$Input.rest > {MAX_SECONDS}", "Next": lap},
        {"Condition": "$Input.rest > 0", "Next": last},
    ]
    counted = {**kept, "rest.$": f"intAdd($Input.rest, -{MAX_SECONDS})"}
    step.add({"Type": "Wait", "Name": lap, "Seconds": MAX_SECONDS, "OutputConstructor": counted}, more)
    done = step.owner.fresh(f"{step.name}-done")
    step.add({"Type": "Wait", "Name": last, "Seconds.$": "$Input.rest"}, done)
    step.leave({"Type": "Pass", "Name": done}, None)
    choice["Default"] = done
