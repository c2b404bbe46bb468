"""The sub-fields of a distributed Map's ItemReader and ResultWriter, which no page lists (B40)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from local_sim.expression.spelling import nearest

SOURCES = ("OSS.Objects", "OSS.CSV", "OSS.JSONLines", "OSS.JSON")
READER_FIELDS = ("SourceType", "SourceParameters", "ReaderConfig")
WRITER_FIELDS = ("Parameters",)
WRITER_PARAMETERS = ("Bucket", "Prefix")
_OF_SOURCE = {"OSS.Objects": ("Bucket", "Prefix")}
_OF_FILE = ("Bucket", "ObjectName")
_CONFIG = {"OSS.CSV": ("Headers", "Delimiter")}


def problem_of_reader(given: Mapping[str, Any]) -> str:
    """Return what is wrong with the keys of an ItemReader, or an empty text. `given` may be unevaluated: values that
    are not there yet (behind a `.$` key) count as right.
    """
    problem = _strange(given, READER_FIELDS, "ItemReader")
    source = given.get("SourceType")
    if problem or source is None:
        return problem or ("" if "SourceType.$" in given else f"ItemReader has no SourceType ({', '.join(SOURCES)})")
    if source not in SOURCES:
        near = nearest(str(source), SOURCES)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(SOURCES)}"
        return f"SourceType {str(source)[:60]!r} of ItemReader is not known; {hint}"
    wanted = _OF_SOURCE.get(source, _OF_FILE)
    parameters = given.get("SourceParameters", {})
    if not isinstance(parameters, Mapping):
        return "SourceParameters of ItemReader must be a map"
    if "ObjectName" in wanted and not parameters.keys() & {"ObjectName", "ObjectName.$"}:
        return f"{source} needs ObjectName in SourceParameters of ItemReader"
    config = given.get("ReaderConfig", {})
    if not isinstance(config, Mapping):
        return "ReaderConfig of ItemReader must be a map"
    return _strange(parameters, wanted, "SourceParameters") or _strange(config, _CONFIG.get(source, ()), "ReaderConfig")


def problem_of_writer(given: Mapping[str, Any]) -> str:
    """Return what is wrong with the keys of a ResultWriter, or an empty text; see `problem_of_reader`."""
    parameters = given.get("Parameters", {})
    if not isinstance(parameters, Mapping):
        return "Parameters of ResultWriter must be a map"
    return _strange(given, WRITER_FIELDS, "ResultWriter") or _strange(parameters, WRITER_PARAMETERS, "Parameters")


def _strange(given: Mapping[str, Any], known: Iterable[str], what: str) -> str:
    known = tuple(known)
    for key in given:
        name = key.removesuffix(".$")
        if name not in known:
            near = nearest(name, known)
            listed = f"there are {', '.join(known)}" if known else "it takes none here"
            return f"{what} has no field {name[:60]!r}; {f'did you mean {near}?' if near else listed}"
    return ""
