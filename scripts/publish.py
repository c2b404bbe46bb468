"""Publishes versions of the functions and moves their alias, at once or gradually; goes back.

    python -m scripts.publish
    python -m scripts.publish --canary 10
    python -m scripts.publish --rollback

A function is published only when its code or settings differ from its newest version. The alias is for callers outside
of flows: a flow names the versions themselves (assumption D04), and its own alias does the gradual part.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from scripts.cloud import (
    CloudSettings,
    FunctionAlias,
    Functions,
    FunctionState,
    NotThere,
    command_app,
    reported,
    show_json,
    show_table,
)
from scripts.cloud.deployment import read_deployment

__all__ = ["Published", "app", "publish", "roll_back", "settled"]

_SETTLE_SECONDS = 120
_SETTINGS = (
    "runtime",
    "handler",
    "timeout",
    "memorySize",
    "cpu",
    "diskSize",
    "instanceConcurrency",
    "role",
    "layers",
    "environmentVariables",
)


@dataclass(frozen=True)
class Published:
    """What became of one function: its newest version, whether this call made it, and the alias before and after."""

    function: str
    version: str
    made: bool
    before: FunctionAlias | None
    after: FunctionAlias


app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.publish | python -m scripts.publish --canary 10 | "
    "python -m scripts.publish --rollback --json.   Exit status: 0 done (or nothing to do), 2 anything in the way."
)
@reported("publish")
def main(
    canary: Annotated[int | None, typer.Option(min=1, max=99, help="Per cent of calls for the newest version.")] = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Let the alias point at the version before.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Names of functions; all without it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Publish what changed and move the alias to it."""
    settings = CloudSettings()
    functions = Functions(settings)
    names = [name for name in read_deployment(settings).names if not only or name in only]
    done = [
        roll_back(functions, name, settings.alias) if rollback else publish(functions, name, settings.alias, canary)
        for name in names
    ]
    if as_json:
        show_json(done)
        return
    rows = [
        (one.function, one.version, "new" if one.made else "", _routes(one.before), _routes(one.after)) for one in done
    ]
    show_table(("function", "version", "", f"{settings.alias} before", "after"), rows)


def settled(
    functions: Functions, name: str, sleep: Callable[[float], None] = time.sleep, seconds: int = _SETTLE_SECONDS
) -> FunctionState | None:
    """The function once the service has finished what was changed; None when it does not exist.

    A create or update is taken at once and worked off behind the scenes (`state`, `lastUpdateStatus` of the SDK's
    model); a version published meanwhile might hold the old code. Raises `NotThere` when it failed or takes too long.
    """
    for _ in range(seconds):
        state = functions.find(name)
        status = (state.document.get("state"), state.document.get("lastUpdateStatus")) if state else (None, None)
        if "Failed" in status:
            raise NotThere(f"a usable function {name} (it is {status[0]}, its last update {status[1]})", "deploy again")
        if "Pending" not in status and "InProgress" not in status:
            return state
        sleep(1)
    raise NotThere(f"a settled function {name}", f"it is still being changed after {seconds} s; run this again")


def publish(functions: Functions, name: str, alias: str, canary: int | None = None) -> Published:
    """Publish the function if it changed and point the alias at the newest version, or `canary` per cent of it.

    Looks before each step, so a run that was cut off is gone on with by the next. Raises `NotThere`, `ServiceFault`.
    """
    state = settled(functions, name)
    if state is None:
        raise NotThere(f"function {name}", "deploy first: s deploy, or python -m scripts.deploy_functions")
    mark = f"stepkeeper {_digest(state)}"
    versions = functions.versions(name)
    made = not versions or versions[0].description != mark
    newest = functions.publish(name, mark) if made else versions[0].number
    before = functions.alias(name, alias)
    after = _wanted(alias, before, newest, canary)
    if after != before:
        functions.put_alias(name, after)
    return Published(name, newest, made, before, after)


def roll_back(functions: Functions, name: str, alias: str) -> Published:
    """Take a canary back; without one point the alias at the version before. Raises `NotThere`, `ServiceFault`."""
    before = functions.alias(name, alias)
    if before is None:
        raise NotThere(f"alias {alias} of function {name}", "publish first")
    target = before.version
    if not before.weights:
        older = [one.number for one in functions.versions(name) if int(one.number) < int(before.version)]
        if not older:
            raise NotThere(f"a version of function {name} before {before.version}", "there is nothing to go back to")
        target = older[0]
    after = FunctionAlias(alias, target)
    functions.put_alias(name, after)
    return Published(name, target, False, before, after)


def _wanted(alias: str, before: FunctionAlias | None, newest: str, canary: int | None) -> FunctionAlias:
    if canary is None or before is None or before.version == newest:
        return FunctionAlias(alias, newest)
    return FunctionAlias(alias, before.version, {newest: canary / 100})


def _digest(state: FunctionState) -> str:
    kept = {key: state.document.get(key) for key in _SETTINGS}
    text = json.dumps([state.checksum, kept], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _routes(alias: FunctionAlias | None) -> str:
    if alias is None:
        return "-"
    shares = "".join(f", {version} for {weight:.0%}" for version, weight in alias.weights.items())
    return f"{alias.version}{shares}"


if __name__ == "__main__":
    app()
