"""Which fields exist where (language pages 2 and 5), and what people write instead of them."""

from __future__ import annotations

from collections.abc import Iterable

from local_sim.expression.spelling import nearest

FLOW_FIELDS = ("Type", "SpecVersion", "Name", "StartAt", "States", "Description", "Timeout")
SCOPE_FIELDS = ("StartAt", "States")
RETRY_FIELDS = ("Errors", "Description", "MaxAttempts", "IntervalSeconds", "BackoffRate", "MaxBackoffSeconds")
CATCH_FIELDS = ("Errors", "Description", "OutputConstructor", "Next")
BRANCH_FIELDS = ("Condition", "Next", "Description")
PROCESSOR_FIELDS = ("StartAt", "States", "ProcessorConfig")
CONFIG_FIELDS = ("ExecutionMode",)

_COMMON = ("Name", "Type", "Description", "InputConstructor")
_OUTPUTS = ("OutputConstructor", "GlobalConstructor")
_MOVES = ("Next", "End")
_RULES = ("Retry", "Catch")
_CONCURRENCY = ("MaxConcuccency", "MaxConcuccency.$", "MaxConcurrency", "MaxConcurrency.$")
DISTRIBUTED_FIELDS = (
    "ItemReader",
    "ItemBatcher",
    "ResultWriter",
    "MaxItems",
    "MaxItems.$",
    "ToleratedFailurePercentage",
    "ToleratedFailurePercentage.$",
    "ToleratedFailureCount",
    "ToleratedFailureCount.$",
)
_MAP = ("ItemsPath", "ItemConstructor", "Processor", "ProcessorConfig", *_CONCURRENCY, *DISTRIBUTED_FIELDS)

STATE_FIELDS: dict[str, tuple[str, ...]] = {
    "Pass": (*_COMMON, *_OUTPUTS, *_MOVES),
    "Task": (*_COMMON, *_OUTPUTS, *_MOVES, *_RULES, "Action", "TaskMode", "Parameters", "Timeout", "Timeout.$"),
    "Choice": (*_COMMON, "Branches", "Default"),
    "Parallel": (*_COMMON, *_OUTPUTS, *_MOVES, *_RULES, "Branches"),
    "Map": (*_COMMON, *_OUTPUTS, *_MOVES, *_RULES, *_MAP),
    "Wait": (*_COMMON, *_OUTPUTS, *_MOVES, "Seconds", "Seconds.$"),
    "Succeed": (*_COMMON, *_OUTPUTS, "End"),
    "Fail": (*_COMMON, *_OUTPUTS, "End", "Code", "Code.$", "Detail", "Detail.$"),
}
"""The fields of each type of state."""

ALL_STATE_FIELDS = frozenset(field for fields in STATE_FIELDS.values() for field in fields)

_OTHER_NAMES = {
    "Assign": "GlobalConstructor",
    "Cause": "Detail",
    "Choices": "Branches",
    "Error": "Code",
    "ErrorEquals": "Errors",
    "InputPath": "InputConstructor",
    "ItemProcessor": "Processor",
    "ItemSelector": "ItemConstructor",
    "Iterator": "Processor",
    "OnError": "Retry and Catch",
    "OnErrors": "Retry and Catch",
    "OutputPath": "OutputConstructor",
    "Resource": "Action",
    "Result": "OutputConstructor",
    "ResultPath": "OutputConstructor",
    "ResultSelector": "OutputConstructor",
    "TimeoutSeconds": "Timeout",
    "Timestamp": "Seconds; a Wait is relative only",
    "VariableAssign": "GlobalConstructor",
    "Variable": "Condition",
    "goto": "Next",
}


def proposal(name: str, known: Iterable[str]) -> str:
    """Return what to do about an unknown field."""
    known = tuple(known)
    other = _OTHER_NAMES.get(name, "")
    if other and (other not in ALL_STATE_FIELDS or other in known):
        return f"the field is called {other}"
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"remove it; there are {', '.join(sorted(known))}"
