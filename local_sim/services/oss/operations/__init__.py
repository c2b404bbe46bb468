"""The operations of the OSS API, one module a group; `route` finds the one a request asks for."""

from local_sim.services.oss.operations.routes import api_name, route

__all__ = ["api_name", "route"]
