"""What the cloud-side jobs share: settings, typed clients for CloudFlow and Function Compute, errors, printing."""

from __future__ import annotations

from scripts.cloud.errors import CloudError, NotConfigured, NotThere, Refused, ServiceFault
from scripts.cloud.flows import Event, Execution, Flow, FlowAlias, Flows, FlowVersion, Route
from scripts.cloud.functions import Answer, FunctionAlias, Functions, FunctionState, FunctionVersion, Trigger
from scripts.cloud.plan import Change, show_changes
from scripts.cloud.printing import command_app, reported, say, show_json, show_table
from scripts.cloud.settings import CloudSettings, Keys, current_keys

__all__ = [
    "Answer",
    "Change",
    "CloudError",
    "CloudSettings",
    "Event",
    "Execution",
    "Flow",
    "FlowAlias",
    "FlowVersion",
    "Flows",
    "FunctionAlias",
    "FunctionState",
    "FunctionVersion",
    "Functions",
    "Keys",
    "NotConfigured",
    "NotThere",
    "Refused",
    "Route",
    "ServiceFault",
    "Trigger",
    "command_app",
    "current_keys",
    "reported",
    "say",
    "show_changes",
    "show_json",
    "show_table",
]
