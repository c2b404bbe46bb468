"""The operations of the OSS API, one module a group; `route` finds the one a request asks for."""

from local_sim.services.oss.operations.routes import route

__all__ = ["route"]
