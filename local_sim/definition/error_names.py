"""The error names CloudFlow itself raises, and which names an own error may have (language page 7.4, C12)."""

from __future__ import annotations

import re

from local_sim.expression.spelling import nearest

ALL = "FnF.ALL"
SIZE_ERRORS = ("FnF.OutputSizeExceeded", "FnF.InputSizeExceeded")
TASK_TIMEOUT = "FnF.TaskTimeout"
FNF_NAMES = frozenset(
    (
        ALL,
        TASK_TIMEOUT,
        "FnF.ExecutionTimeout",
        "FnF.Fail",
        "FnF.HistoryLimitExceeded",
        "FnF.InvalidLocal",
        "FnF.MapItemsExceeded",
        "FnF.RuntimeError",
        "FnF.ToleratedFailuresExceeded",
        *SIZE_ERRORS,
    )
)
FC_NAMES = frozenset(
    (
        "FC.ResourceThrottled",
        "FC.ResourceExhausted",
        "FC.ServiceNotFound",
        "FC.FunctionNotFound",
        "FC.InvalidArgument",
        "FC.InternalServerError",
        "FC.ServerError",
        "FC.Unknown",
    )
)
_KNOWN = FNF_NAMES | FC_NAMES
_BARE = {name.partition(".")[2]: name for name in _KNOWN if name != "FnF.Fail"}
_OWN = re.compile(r"[^\s,]{1,128}\Z")


def is_reserved(name: str) -> bool:
    """Say whether a name has a prefix of the service."""
    return name.startswith(("FnF.", "FC."))


def problem_of_rule_name(name: str) -> tuple[str, str] | None:
    """Return what is doubtful about a name listed in a rule and what to do, or None.

    FC has more codes than are known.
    """
    if name in _KNOWN:
        return None
    if name in _BARE:
        return f"{name!r} lacks its prefix and matches nothing the service raises", f"write {_BARE[name]}"
    prefix = name.partition(".")[0]
    if prefix.lower() not in ("fnf", "fc") or "." not in name:
        return None
    near = nearest(name, _KNOWN)
    if prefix == "FC" and (not near or not _is_slip(name, near)):
        return None
    fix = f"did you mean {near}?" if near else "names are compared exactly, case included"
    return f"{name!r} is no error the service is known to raise", fix


def _is_slip(name: str, near: str) -> bool:
    return name.lower() == near.lower() or (abs(len(name) - len(near)) <= 2 and name[:6] == near[:6])


def problem_of_own_name(name: str) -> str:
    """Return why an own error cannot be called so, or an empty text."""
    if is_reserved(name):
        return "the prefixes FnF. and FC. belong to the service"
    if not _OWN.match(name):
        return "a name has 1 to 128 characters without blanks and commas"
    return ""
