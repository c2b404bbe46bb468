"""Small flows for the tests of this room."""

from __future__ import annotations

from local_sim.definition import Finding, Report, check_flow
from local_sim.definition.examples import whole_flow

DONE = "- {Type: Succeed, Name: done}"
CALL = "{resourceArn: 'acs:fc:::functions/pay', invocationType: Sync}"


def states(text: str) -> str:
    """A whole flow around a list of states, starting at the first."""
    return whole_flow(text)


def task(extra: str = "", parameters: str = CALL) -> str:
    """A flow whose first state is a Task with more lines."""
    lines = "".join(f"  {line}\n" for line in extra.splitlines())
    head = f"- Type: Task\n  Name: pay\n  Action: FC:InvokeFunction\n  Parameters: {parameters}\n"
    return states(f"{head}{lines}  Next: done\n{DONE}")


def choice(condition: str) -> str:
    """A flow with one Condition, written as a single-quoted YAML text."""
    quoted = condition.replace("'", "''")
    head = "- Type: Choice\n  Name: choose\n  Branches:\n"
    return states(f"{head}    - Condition: '{quoted}'\n      Next: done\n  Default: done\n{DONE}")


def check(text: str | bytes, **options: object) -> Report:
    return check_flow(text, "flow.yaml", **options)  # type: ignore[arg-type]


def one(report: Report, code: str) -> Finding:
    """The only finding of a code."""
    (finding,) = [finding for finding in report.findings if finding.code == code]
    return finding
