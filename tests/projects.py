"""Makes small projects on disk: an s.yaml, a handler file, flows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path

from local_sim.project import Project, load_project

HEADER = "Type: StateMachine\nSpecVersion: v1\n"


def write_project(
    folder: Path, handlers: str = "", functions: Iterable[str] = (), props: str = "", module: str = "index"
) -> Path:
    """Write s.yaml with one fc3 resource a function name (its handler is `index.<name>`) and the handler file."""
    lines = ["edition: 3.0.0", "name: demo", "resources:" if functions else "resources: {}"]
    for name in functions:
        lines += [f"  {name}:", "    component: fc3", "    props:", "      region: cn-hangzhou"]
        lines += [f"      functionName: {name}", "      runtime: python3.10", "      code: ./"]
        lines += [f"      handler: {module}.{name}"]
        lines += textwrap.indent(textwrap.dedent(props).strip(), "      ").splitlines() if props else []
    (folder / "s.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f"{module}.py").write_text(textwrap.dedent(handlers), encoding="utf-8")
    (folder / "flows").mkdir(exist_ok=True)
    return folder


def make_project(
    folder: Path, handlers: str = "", functions: Iterable[str] = (), props: str = "", module: str = "index"
) -> Project:
    """Write a project and load it."""
    return load_project(write_project(folder, handlers, functions, props, module))


def flow_text(name: str, states: str) -> str:
    """Return a whole definition; `states` is its list, and the first state is the start."""
    body = textwrap.dedent(states).strip()
    start = body.split("Name:", 1)[1].split("\n")[0].split(",")[0].strip().rstrip("}").strip()
    return f"{HEADER}Name: {name}\nStartAt: {start}\nStates:\n{textwrap.indent(body, '  ')}\n"


def task(name: str, function: str, *more: str, next_state: str = "", kind: str = "Sync") -> str:
    """Return the lines of a Task that calls a function with its whole input as the event."""
    lines = [
        "- Type: Task",
        f"  Name: {name}",
        "  Action: FC:InvokeFunction",
        "  Parameters:",
        f"    resourceArn: acs:fc:::functions/{function}/LATEST",
        f"    invocationType: {kind}",
        "    body.$: $Input",
        *(textwrap.indent(textwrap.dedent(part).strip(), "  ") for part in more),
        f"  Next: {next_state}" if next_state else "  End: true",
    ]
    return "\n".join(lines) + "\n"
