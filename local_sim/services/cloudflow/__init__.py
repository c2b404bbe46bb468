"""CloudFlow's OpenAPI fnf 2019-03-15: the wire layer, flows and schedules, and the actions on executions.

`CloudFlowApp` is the ASGI app. What runs executions is given to it as `Executions`; `local_sim.server` has the
durable one.
"""

from local_sim.services.cloudflow.app import CloudFlowApp
from local_sim.services.cloudflow.dialect import DIALECT
from local_sim.services.cloudflow.errors import CloudFlowError
from local_sim.services.cloudflow.executions import (
    ExecutionActions,
    Executions,
    ExecutionView,
    HistoryEntry,
    MapRunView,
    Order,
    Query,
)
from local_sim.services.cloudflow.flows import FlowActions, Surroundings
from local_sim.services.cloudflow.rates import Rates
from local_sim.services.cloudflow.requests import ACTIONS
from local_sim.services.cloudflow.schedules import ScheduleActions
from local_sim.services.cloudflow.store import FlowStore
from local_sim.services.cron import CronError, next_fire, parse_cron

__all__ = [
    "ACTIONS",
    "DIALECT",
    "CloudFlowApp",
    "CloudFlowError",
    "CronError",
    "ExecutionActions",
    "ExecutionView",
    "Executions",
    "FlowActions",
    "FlowStore",
    "HistoryEntry",
    "MapRunView",
    "Order",
    "Query",
    "Rates",
    "ScheduleActions",
    "Surroundings",
    "next_fire",
    "parse_cron",
]
