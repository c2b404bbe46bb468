"""Rules of a project's own: functions that look at a finished run and say what is wrong with it.

A module that `[tool.local-sim] invariants` names holds them: those marked with `@invariant`, and those named in its
`INVARIANTS`, for modules that must not import local_sim. Each is given the run and yields texts, one for each breach,
or pairs of a text and what it is about: an effect or a request of the run, whose line the report then shows. Nothing,
or None, means that all is well. It runs in the world of the run, with the endpoints and credentials of the
functions in the environment, so it may ask Tablestore, OSS and the outside services whatever it likes.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, TypeVar

from .errors import BadPlan
from .model import Boundary, Effect, Run, Violation

Said = str | tuple[str, Effect | Boundary]
Check = Callable[[Run], "Iterable[Said] | str | None"]
_F = TypeVar("_F", bound=Check)
_MARK = "__local_sim_invariant__"


def invariant(check: _F) -> _F:
    """Mark a function as a rule that every run has to keep; its name is the rule's."""
    setattr(check, _MARK, True)
    return check


def load_invariants(modules: Iterable[str]) -> list[tuple[str, Check]]:
    """Return name and function of all rules. Raises BadPlan for a module without any, or that cannot be imported."""
    found: list[tuple[str, Check]] = []
    for name in modules:
        try:
            module = import_module(name)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise BadPlan("[tool.local-sim] invariants", f"{name} cannot be imported: {reason}") from error
        checks = [value for value in vars(module).values() if getattr(value, _MARK, False)]
        checks += [value for value in getattr(module, "INVARIANTS", ()) if value not in checks]
        if not checks:
            raise BadPlan("[tool.local-sim] invariants", f"{name} has no function marked with @invariant")
        found += [(check.__name__, check) for check in checks]
    return found


def ask_invariants(checks: Iterable[tuple[str, Check]], run: Run) -> Iterator[Violation]:
    """Yield what the rules say against a run. A rule that raises is itself a breach, with the end of its trace."""
    for name, check in checks:
        try:
            said: Any = check(run)
            texts = [said] if isinstance(said, str) else list(said or ())
        except Exception as error:  # noqa: BLE001 - a rule of the user's may raise anything
            frame = traceback.extract_tb(error.__traceback__)[-1]
            texts = [f"the rule itself failed at line {frame.lineno}: {type(error).__name__}: {error}"]
        for one in texts:
            yield _violation(name, one)


def _violation(rule: str, said: Any) -> Violation:
    if isinstance(said, tuple) and len(said) == 2 and isinstance(said[1], Effect | Boundary):
        return Violation(rule, str(said[0]), said[1].line, said[1].stack)
    return Violation(rule, str(said))
