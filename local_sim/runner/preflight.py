"""Before a run starts: does every function the flow names exist, and can its handler be loaded? (C52)"""

from __future__ import annotations

import re
from collections.abc import Iterator

from local_sim.project import (
    Function,
    InvalidArn,
    Place,
    Project,
    TemplateError,
    UnknownFunction,
    parse_flow_arn,
    parse_function_arn,
)
from local_sim.workers.model import Worker

_ARN = re.compile(r"acs:(?:fc|fnf):[\w:/.$-]+")


def functions_of(project: Project, text: str, source: str) -> list[Function]:
    """Return the functions that a flow's text names, those of the sub-flows it names included.

    ARNs that an expression puts together are only seen when the state runs. Raises TemplateError, with the place in the
    flow, for a function that s.yaml does not have.
    """
    found: dict[str, Function] = {}
    texts, seen = [(text, source)], {source}
    while texts:
        current, file = texts.pop()
        for arn, place in _arns(current, file):
            if arn.startswith("acs:fnf:"):
                path = project.find_flow(_flow_name(arn))
                if path is not None and str(path) not in seen:
                    seen.add(str(path))
                    texts.append((path.read_text(encoding="utf-8-sig"), str(path)))
                continue
            function = _function(project, arn, place)
            if function is not None:
                found[function.name] = function
    return list(found.values())


def preflight(project: Project, worker: Worker, text: str, source: str) -> None:
    """Load the handlers of all functions a flow names. Raises TemplateError, WorkerError, Unresolvable."""
    for function in functions_of(project, text, source):
        worker.prepare(function)


def _function(project: Project, arn: str, place: Place) -> Function | None:
    try:
        parse_function_arn(arn)
    except InvalidArn:
        # Not whole: an argument of format(), say. The state itself will tell.
        return None
    try:
        return project.function_of(arn)
    except UnknownFunction as error:
        raise TemplateError(str(error), place) from None


def _flow_name(arn: str) -> str:
    try:
        return parse_flow_arn(arn)
    except InvalidArn:
        return ""


def _arns(text: str, source: str) -> Iterator[tuple[str, Place]]:
    for number, line in enumerate(text.splitlines(), 1):
        code = "" if line.lstrip().startswith("#") else line
        for match in _ARN.finditer(code):
            yield match[0], Place(source, number, match.start() + 1)
