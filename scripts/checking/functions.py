"""Rules of one fc3 function that go beyond the shape of its props."""

from __future__ import annotations

import re

from scripts.checking.fc3 import FUNCTION, RUNTIMES
from scripts.checking.model import Findings, nearest
from scripts.checking.shapes import check_shape
from scripts.template import Node, Place, Resource

__all__ = ["check_function", "check_names"]

_ENVIRONMENT_BYTES = 4096
_SECRET = re.compile(r"(SECRET|PASSWORD|TOKEN|API_?KEY|ACCESS_?KEY)", re.IGNORECASE)
_CRON_FIELDS = 6


def check_function(resource: Resource, findings: Findings) -> None:
    """Report what is wrong with the props of one function."""
    props, what = resource.props, f"props of resource {resource.name!r}"
    check_shape(props, FUNCTION, what, findings)
    _check_runtime(props, what, findings)
    _check_ratio(props, resource.name, findings)
    _check_environment(props, resource.name, findings)
    for trigger in props.fields["triggers"].items if "triggers" in props.fields else ():
        _check_trigger(trigger, findings)


def check_names(resources: tuple[Resource, ...], findings: Findings) -> None:
    """Report functions of one name in one region: the later one would overwrite the earlier one."""
    first: dict[tuple[str, str], Place] = {}
    for resource in resources:
        name, region = resource.props.fields.get("functionName"), resource.props.fields.get("region")
        if name is None or name.open:
            continue
        key = (region.text if region else "", name.text)
        if key in first:
            problem = f"function {name.text!r} is given twice, first at line {first[key].line}"
            findings.error("SD10", problem, name.place)
        first.setdefault(key, name.place)


def _check_runtime(props: Node, what: str, findings: Findings) -> None:
    runtime = props.fields.get("runtime")
    if runtime is None or runtime.open:
        return
    if runtime.text.startswith("python") and runtime.text not in RUNTIMES:
        problem = f"runtime {runtime.text!r} is refused; FC has {', '.join(RUNTIMES)}"
        findings.error("SD13", problem, runtime.place)
    if runtime.text in ("python3", "python3.9"):
        findings.warning("SD13", f"runtime {runtime.text!r}: the kit needs Python 3.10 or later", runtime.place)
    if runtime.text.startswith("custom-container"):
        return
    for key in ("code",) if runtime.text.startswith("custom") else ("code", "handler"):
        if key not in props.fields:
            findings.error("SD06", f"{what} lacks {key}", props.place)


def _check_ratio(props: Node, name: str, findings: Findings) -> None:
    cpu, memory = props.fields.get("cpu"), props.fields.get("memorySize")
    if cpu is None or memory is None:
        if (cpu is None) != (memory is None):
            given, missing = ("memorySize", "cpu") if cpu is None else ("cpu", "memorySize")
            problem = f"resource {name!r} gives {given} without {missing}: fc3's default may not fit it"
            findings.warning("SD09", problem, (cpu or memory or props).place)
        return
    if not isinstance(cpu.value, int | float) or not isinstance(memory.value, int | float) or not cpu.value:
        return
    ratio = memory.value / 1024 / cpu.value
    # STATED by the SDK's model text: vCPU to GB from 1:1 to 1:4.
    if not 1 <= ratio <= 4:
        low, high = _fitting(float(memory.value))
        problem = (
            f"resource {name!r}: {cpu.value:g} vCPU and {memory.value:g} MB are 1:{ratio:.2f}; "
            f"from 1:1 to 1:4 is allowed, that is cpu {low:g} to {high:g}"
        )
        findings.error("SD09", problem, cpu.place)


def _fitting(memory: float) -> tuple[float, float]:
    steps = memory / 1024 / 0.05
    return -(-steps // 4) * 0.05, steps // 1 * 0.05


def _check_environment(props: Node, name: str, findings: Findings) -> None:
    variables = props.fields.get("environmentVariables")
    if variables is None or variables.kind != "map":
        return
    for key, value in variables.fields.items():
        place = variables.key_place(key)
        if value.kind != "text":
            problem = f"environment variable {key!r} must be text, not a {value.kind}; quote it"
            findings.error("SD11", problem, value.place)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", key):
            findings.error("SD11", f"environment variable {key!r}: a letter first, then letters, digits, _", place)
        if key.startswith("FC_"):
            findings.error("SD11", f"environment variable {key!r}: the prefix FC_ is reserved", place)
        _check_secret(key, value, findings)
    size = sum(len(f"{key}{value.text}".encode()) for key, value in variables.fields.items())
    if size > _ENVIRONMENT_BYTES:
        problem = f"environment of resource {name!r} has {size} bytes; {_ENVIRONMENT_BYTES} are allowed"
        findings.error("SD11", problem, variables.place)


def _check_secret(key: str, value: Node, findings: Findings) -> None:
    # What a variable brings stands in no file; docs/operations.md says where it should come from.
    if _SECRET.search(key) and value.text and not value.open and not value.rendered:
        problem = f"environment variable {key!r} looks like a secret: whoever may see the function sees it"
        findings.warning("SD22", problem, value.place)


def _check_trigger(trigger: Node, findings: Findings) -> None:
    kind = trigger.fields.get("triggerType")
    config = trigger.fields.get("triggerConfig")
    if kind is None or config is None or config.kind != "map":
        return
    if kind.text == "timer":
        _check_timer(config, findings)
    elif kind.text == "http":
        _check_http(config, findings)


def _check_timer(config: Node, findings: Findings) -> None:
    findings.unknown_keys(config, ("cronExpression", "enable", "payload"), "triggerConfig of a timer")
    cron = config.fields.get("cronExpression")
    if cron is None:
        findings.error("SD15", "triggerConfig of a timer lacks cronExpression", config.place)
    elif not cron.open and not _is_cron(cron.text):
        problem = f"cronExpression {cron.text!r}: six fields from seconds to day of week, or @every 5m"
        findings.error("SD15", problem, cron.place)


def _is_cron(text: str) -> bool:
    if text.startswith("@every "):
        return bool(re.fullmatch(r"@every [1-9]\d*[smhd]", text))
    words = text.removeprefix("CRON_TZ=").split()
    words = words[1:] if text.startswith("CRON_TZ=") else words
    return len(words) == _CRON_FIELDS and all(re.fullmatch(r"[\dA-Za-z*,/?#-]+", word) for word in words)


def _check_http(config: Node, findings: Findings) -> None:
    findings.unknown_keys(
        config, ("authType", "methods", "disableURLInternet", "authConfig", "corsConfig"), "triggerConfig of http"
    )
    auth = config.fields.get("authType")
    known = ("anonymous", "function", "jwt", "bearer")
    if auth is None:
        findings.error("SD15", "triggerConfig of http lacks authType", config.place)
    elif not auth.open and auth.text not in known:
        near = nearest(auth.text, known)
        mean = f"; did you mean {near!r}?" if near else f": it is one of {', '.join(known)}"
        findings.error("SD15", f"authType cannot be {auth.text!r}{mean}", auth.place)
    for method in config.fields["methods"].items if "methods" in config.fields else ():
        if method.text not in ("GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"):
            findings.error("SD15", f"methods: {method.value!r} is no HTTP method", method.place)
