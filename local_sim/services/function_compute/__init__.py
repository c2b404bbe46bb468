"""Function Compute's OpenAPI 2023-03-30, HTTP and timer triggers, and async invocations with retries.

`FunctionComputeService` puts it together on a data folder; its `app` is the ASGI app.
"""

from local_sim.services.function_compute.dialect import DIALECT
from local_sim.services.function_compute.errors import FunctionComputeError
from local_sim.services.function_compute.records import TaskRecord
from local_sim.services.function_compute.routes import ACTIONS
from local_sim.services.function_compute.service import FunctionComputeService

__all__ = [
    "ACTIONS",
    "DIALECT",
    "FunctionComputeError",
    "FunctionComputeService",
    "TaskRecord",
]
