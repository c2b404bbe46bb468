"""The cloud's wire protocols on loopback: the host that serves them, faults on demand, and one package per service."""

from local_sim.services.asgi import ASGIApp
from local_sim.services.errors import AddressUnusable, ConnectionCut, PortInUse, ServiceError, ServiceNotRunning
from local_sim.services.host import LoopThread, ServiceHost, Services

__all__ = [
    "ASGIApp",
    "AddressUnusable",
    "ConnectionCut",
    "LoopThread",
    "PortInUse",
    "ServiceError",
    "ServiceHost",
    "ServiceNotRunning",
    "Services",
]
