"""Rules of the template around the functions: top-level keys, resources, hooks, the order of deploying."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scripts.checking.model import Findings, nearest
from scripts.template import Node, Template

__all__ = ["RESOURCE_KEYS", "TOP_KEYS", "check_layout"]

TOP_KEYS = ("edition", "name", "access", "vars", "template", "extend", "env", "flow", "actions", "resources")
RESOURCE_KEYS = ("component", "props", "actions", "access", "extend")
_WHEN = ("pre", "success", "fail", "complete", "post")
_ENTRY_KEYS = ("run", "path", "component", "plugin", "args", "allow_failure")
_HOOK = re.compile(r"(?:\$\{regex\(.*\)\}|([A-Za-z]+)-(.+))")


def check_layout(template: Template, findings: Findings) -> None:
    """Report what is wrong with the template's own keys."""
    root = template.root
    findings.unknown_keys(root, TOP_KEYS, "the template")
    for repeated in template.repeated:
        problem = f"key {repeated.key!r} is given twice, first at line {repeated.first.line}"
        findings.error("SD02", problem, repeated.again)
    for fault in template.faults:
        findings.error("SD16", fault.problem, fault.place)
    edition = root.fields.get("edition")
    if edition is None or edition.value != "3.0.0":
        problem = "edition must be 3.0.0" + ("" if edition is None else f", not {edition.value!r}")
        findings.error("SD03", problem, edition.place if edition else root.place)
    access = root.fields.get("access")
    if access is not None and access.open:
        # OBSERVED with s 3.1.10: it is looked up as it is written, and there is no such alias.
        findings.error("SD16", "access takes no variable; use s -a ALIAS to choose another one", access.place)
    if "extend" in root.fields and "env" in root.fields:
        findings.error("SD06", "extend and env exclude each other", root.key_place("env"))
    _check_resources(template, findings)
    if "actions" in root.fields:
        _check_actions(root.fields["actions"], template.file.parent, findings, everywhere=True)
    if "flow" in root.fields:
        _check_flow(root.fields["flow"], tuple(root.fields["resources"].fields), findings)


def _check_resources(template: Template, findings: Findings) -> None:
    root = template.root
    resources = root.fields.get("resources")
    if resources is None or resources.kind != "map" or not resources.fields:
        place = root.key_place("resources")
        findings.error("SD06", "resources must be a map with at least one resource", place)
        return
    for resource in template.resources:
        own, what = resource.own, f"resource {resource.name!r}"
        if own.kind != "map":
            findings.error("SD07", f"{what} must be a map, not a {own.kind}", own.place)
            continue
        findings.unknown_keys(own, RESOURCE_KEYS, what)
        _check_component(own, what, findings)
        if "props" not in own.fields and "extend" not in own.fields:
            findings.error("SD06", f"{what} lacks props", own.place)
        elif "props" in own.fields and own.fields["props"].kind != "map":
            props = own.fields["props"]
            findings.error("SD07", f"props of {what} must be a map, not a {props.kind}", props.place)
        if "actions" in own.fields:
            _check_actions(own.fields["actions"], template.file.parent, findings, everywhere=False)


def _check_component(own: Node, what: str, findings: Findings) -> None:
    component = own.fields.get("component")
    if component is None:
        findings.error("SD05", f"{what} lacks component", own.place)
    elif component.kind != "text":
        findings.error("SD05", f"component of {what} must be text, not a {component.kind}", component.place)
    elif not component.text.strip():
        findings.error("SD05", f"component of {what} is empty", component.place)


def _check_actions(actions: Node, folder: Path, findings: Findings, *, everywhere: bool) -> None:
    for key, entries in actions.fields.items():
        _check_hook(key, actions, findings)
        if entries.kind != "list":
            findings.error("SD18", f"action {key!r} must be a list, not a {entries.kind}", entries.place)
        for entry in entries.items:
            _check_entry(entry, folder, findings, everywhere=everywhere)


def _check_hook(key: str, actions: Node, findings: Findings) -> None:
    place = actions.key_place(key)
    match = _HOOK.fullmatch(key)
    when = match[1] if match else key.split("-")[0]
    if when == "post":
        problem = f"action {key!r}: post- was renamed complete-, and runs after a failure too; use success-"
        findings.warning("SD18", problem, place)
    elif match is None or (when is not None and when not in _WHEN):
        near = nearest(when or key, _WHEN)
        mean = f"; did you mean {near + '-'!r}?" if near else ""
        findings.error("SD18", f"action {key!r} begins with none of pre-, success-, fail-, complete-{mean}", place)


def _check_entry(entry: Node, folder: Path, findings: Findings, *, everywhere: bool) -> None:
    findings.unknown_keys(entry, _ENTRY_KEYS, "an action")
    kinds = [key for key in ("run", "component", "plugin") if key in entry.fields]
    if len(kinds) != 1:
        findings.error("SD18", "an action is one of run, component, plugin", entry.place)
        return
    if kinds == ["component"] and everywhere:
        findings.error("SD18", "a component action belongs to a resource; here run and plugin work", entry.place)
    path = entry.fields.get("path")
    if kinds == ["run"] and path is not None and not path.open and not (folder / path.text).is_dir():
        findings.error("SD18", f"path of an action: there is no folder {path.text}", path.place)
    command = entry.fields.get("run")
    script = re.match(r"\s*(\./\S+)", command.text) if command is not None else None
    if command is not None and script is not None:
        where = folder / (path.text if path else ".")
        if not (where / script[1]).is_file():
            findings.error("SD18", f"an action runs {script[1]}, which is not there", command.place)


def _check_flow(flow: Node, resources: tuple[str, ...], findings: Findings) -> None:
    for command, groups in flow.fields.items():
        listed = set()
        for item in _leaves(groups):
            listed.add(item.text)
            if item.text not in resources and not item.open and not item.text.startswith("*"):
                near = nearest(item.text, resources)
                mean = f"; did you mean {near!r}?" if near else ""
                findings.error("SD19", f"flow {command!r} names no resource: {item.text!r}{mean}", item.place)
        left = [name for name in resources if name not in listed]
        if left and not any(name.startswith("*") for name in listed):
            findings.warning("SD19", f"flow {command!r} skips {', '.join(left)}", flow.key_place(command))


def _leaves(node: Node) -> Iterator[Node]:
    for item in node.items:
        if item.kind == "list":
            yield from _leaves(item)
        else:
            yield item
