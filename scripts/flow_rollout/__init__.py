"""The parts of `scripts/deploy_flows.py`: ARNs filled in, plans, waiting tasks looked after, versions and aliases."""

from __future__ import annotations

from scripts.flow_rollout.arns import fill, functions_in
from scripts.flow_rollout.model import FlowPlan, routes_of, workflow_of
from scripts.flow_rollout.rollout import Deployer, Qualifiers
from scripts.flow_rollout.stranding import Waiting, stranded, waiting_states, waiting_tasks

__all__ = [
    "Deployer",
    "FlowPlan",
    "Qualifiers",
    "Waiting",
    "fill",
    "functions_in",
    "routes_of",
    "stranded",
    "waiting_states",
    "waiting_tasks",
    "workflow_of",
]
