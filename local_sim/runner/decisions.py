"""Decisions given beforehand: which one a waiting task takes, and whether all of them can be taken at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .errors import BadDecision
from .form import Form, split_answer
from .model import Decision, Waiting


class Decisions:
    """The decisions not taken yet. Each is used once, in the order given."""

    def __init__(self, given: Sequence[Decision], forms: Mapping[str, Form]) -> None:
        """Take the decisions for a flow whose callbacks are `forms`. Raises BadDecision for one that fits none of
        them.
        """
        self._left = list(given)
        self._forms = forms
        for decision in given:
            self._check(decision)

    @property
    def left(self) -> tuple[Decision, ...]:
        """The decisions not taken."""
        return tuple(self._left)

    def take(self, waiting: Waiting) -> Decision | None:
        """Return the first decision that fits the waiting task and forget it; None when there is none."""
        for decision in self._left:
            if self._fits(decision, waiting.state, waiting.form):
                self._left.remove(decision)
                return decision
        return None

    def _fits(self, decision: Decision, state: str, form: Form) -> bool:
        if decision.state is not None:
            return decision.state == state
        if decision.error or isinstance(decision.value, dict) or _word(decision) in form.choices:
            return True
        # A bare word that some callback lists among its choices is meant for that one.
        return not form.choices and not any(_word(decision) in other.choices for other in self._forms.values())

    def _check(self, decision: Decision) -> None:
        if decision.state is not None:
            form = self._forms.get(decision.state)
            if form is None:
                known = ", ".join(self._forms) or "none"
                raise BadDecision(decision.state, f"it has no callback state of that name; there are: {known}")
            bare = not decision.error and not isinstance(decision.value, dict)
            if bare and form.choices and _word(decision) not in form.choices:
                raise BadDecision(decision.value, f"{decision.state} takes {', '.join(form.choices)}, or a JSON object")
        elif not any(self._fits(decision, name, form) for name, form in self._forms.items()):
            asked = "; ".join(f"{name} takes {', '.join(form.choices)}" for name, form in self._forms.items())
            raise BadDecision(decision.value, asked or "it has no callback states")


def _word(decision: Decision) -> object:
    return split_answer(decision.value)[0] if isinstance(decision.value, str) else decision.value
