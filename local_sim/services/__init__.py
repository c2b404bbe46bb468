"""The cloud's wire protocols on loopback: the host that serves them, faults on demand, and one package per service."""

from local_sim.services.asgi import ASGIApp
from local_sim.services.errors import (
    AddressUnusable,
    ConnectionCut,
    InvalidFaultRule,
    PortInUse,
    SchemaTooNew,
    ServiceError,
    ServiceNotRunning,
    StoreInUse,
    StoreUnusable,
)
from local_sim.services.faults import Dialect, FaultHit, FaultKind, FaultRule, Faults
from local_sim.services.host import LoopThread, ServiceHost, Services

__all__ = [
    "ASGIApp",
    "AddressUnusable",
    "ConnectionCut",
    "Dialect",
    "FaultHit",
    "FaultKind",
    "FaultRule",
    "Faults",
    "InvalidFaultRule",
    "LoopThread",
    "PortInUse",
    "SchemaTooNew",
    "ServiceError",
    "ServiceHost",
    "ServiceNotRunning",
    "Services",
    "StoreInUse",
    "StoreUnusable",
]
