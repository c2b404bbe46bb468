"""Makes or updates the functions of s.yaml with the SDK, from build/code.zip: a deploy without `s` and without Node.

    python -m scripts.deploy_functions --plan
    python -m scripts.deploy_functions --only stepkeeper-notify

The code is uploaded once, to the payload bucket. Only what differs is sent, so a second run sends nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scripts.cloud import (
    Change,
    CloudSettings,
    Functions,
    FunctionState,
    NotConfigured,
    Trigger,
    command_app,
    reported,
    show_changes,
)
from scripts.cloud.deployment import FunctionSpec, adopt_environment, read_deployment
from scripts.cloud.objects import CodeObject, Objects

__all__ = ["app", "apply", "plan"]


app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.deploy_functions | python -m scripts.deploy_functions --plan.   "
    "Exit status: 0 done (or nothing to do), 2 anything that stood in the way."
)
@reported("deploy_functions")
def main(
    plan_only: Annotated[bool, typer.Option("--plan", help="Say what differs and change nothing.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Names of functions; all without it.")] = None,
    archive: Annotated[Path | None, typer.Option("--zip", help="The code package (default: build/code.zip).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make the functions what s.yaml says, without s."""
    settings = CloudSettings()
    adopt_environment(settings)
    wanted = [spec for spec in read_deployment(settings).functions if not only or spec.name in only]
    for spec in wanted:
        if not str(spec.document.get("role", "acs:")).startswith("acs:"):
            raise NotConfigured("ALIBABA_CLOUD_ACCOUNT_ID", f"the role {spec.document['role']!r} is a bare name")
    objects = Objects(os.environ["OSS_ENDPOINT"], os.environ["OSS_BUCKET"], settings.region)
    code = objects.upload_code(archive or settings.archive)
    functions = Functions(settings)
    changes = plan(functions, wanted, code)
    if not plan_only:
        apply(functions, wanted, code)
    show_changes(changes, planned=plan_only, as_json=as_json)


def plan(functions: Functions, wanted: Sequence[FunctionSpec], code: CodeObject) -> list[Change]:
    """What `apply` would change. Raises `ServiceFault`."""
    return [change for spec in wanted for change in _differences(functions, spec, code)]


def apply(functions: Functions, wanted: Sequence[FunctionSpec], code: CodeObject) -> None:
    """Make each function what its spec says; what is right already is left alone. Raises `ServiceFault`."""
    location = {"ossBucketName": code.bucket, "ossObjectName": code.key}
    for spec in wanted:
        state = functions.find(spec.name)
        if state is None:
            functions.create({**spec.document, "code": location})
        else:
            _update(functions, spec, state, code, location)
        _settle(functions, spec)


def _update(
    functions: Functions, spec: FunctionSpec, state: FunctionState, code: CodeObject, location: Mapping[str, str]
) -> None:
    changed = {key: after for key, _, after in _fields(spec, state)}
    if state.checksum != code.checksum:
        changed["code"] = location
    if changed:
        functions.update(spec.name, changed)


def _settle(functions: Functions, spec: FunctionSpec) -> None:
    """Async settings and triggers."""
    for change in _beside(functions, spec):
        if change.what == "asyncInvokeConfig":
            if spec.async_config is None:
                functions.delete_async_config(spec.name)
            else:
                functions.put_async_config(spec.name, spec.async_config)
            continue
        name = change.what.removeprefix("trigger ")
        document = next((one for one in spec.triggers if one["triggerName"] == name), None)
        if document is None:
            functions.delete_trigger(spec.name, name)
        else:
            functions.put_trigger(spec.name, document, there=change.before is not None)


def _differences(functions: Functions, spec: FunctionSpec, code: CodeObject) -> Iterator[Change]:
    state = functions.find(spec.name)
    if state is None:
        yield Change(spec.name, "function", None, "made")
        return
    if state.checksum != code.checksum:
        yield Change(spec.name, "code", state.checksum, code.checksum)
    for key, before, after in _fields(spec, state):
        yield Change(spec.name, key, before, after)
    yield from _beside(functions, spec)


def _fields(spec: FunctionSpec, state: FunctionState) -> Iterator[tuple[str, Any, Any]]:
    for key, after in spec.document.items():
        before = state.document.get(key)
        # A variable that s.yaml has no longer must go; in other maps the service adds fields of its own.
        same = before == after if key == "environmentVariables" else _same(before, after)
        if key != "functionName" and not same:
            yield key, before, after


def _beside(functions: Functions, spec: FunctionSpec) -> Iterator[Change]:
    before = functions.async_config(spec.name)
    if not _same(before, spec.async_config) and not (spec.async_config is None and before is None):
        yield Change(spec.name, "asyncInvokeConfig", before, spec.async_config)
    there = {trigger.name: trigger for trigger in functions.triggers(spec.name)}
    for document in spec.triggers:
        old = there.pop(document["triggerName"], None)
        if old is None or not _same_trigger(old, document):
            yield Change(spec.name, f"trigger {document['triggerName']}", old and old.config, document["triggerConfig"])
    for name, old in there.items():
        yield Change(spec.name, f"trigger {name}", old.config, None)


def _same(before: Any, after: Any) -> bool:
    """Whether the service has what is wanted; what it adds by itself to a map does not count."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return all(_same(before.get(key), value) for key, value in after.items())
    return bool(before == after)


def _same_trigger(old: Trigger, document: Mapping[str, Any]) -> bool:
    return old.type == document["triggerType"] and _same(old.config, document["triggerConfig"])


if __name__ == "__main__":
    app()
