"""The environment variables of a function: FC's own, then s.yaml's, then the local endpoints (docs/architecture.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from local_sim.project import Function

from .contract import Spec

ACCOUNT = "1000000000000000"
# The local Tablestore takes any key id that is its own secret.
LOCAL_KEY = "local"
# What the interpreter and the C library of a child need from the machine; nothing else of the user's shell leaks in.
_HOST = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH", "SSL_CERT_FILE")
_OFFLINE = {"ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1,localhost"}


class WorkerEnvironment:
    """Builds the variables of each function. `endpoints` is asked at the first use, so services start only when
    needed.
    """

    def __init__(self, endpoints: Callable[[], Mapping[str, str]] = dict) -> None:
        self._endpoints = endpoints

    def build(self, function: Function, instance: str = "local") -> dict[str, str]:
        """Return all variables of the function.

        Raises Unresolvable for one of s.yaml's that has no value offline and that no local endpoint replaces (R01).
        """
        endpoints = self._endpoints()
        for key, problem in function.unresolved.items():
            if key not in endpoints:
                raise problem
        host = {name: os.environ[name] for name in _HOST if name in os.environ}
        own = {**function.environment, **_paths(function)}
        return {**host, **_OFFLINE, **fc_variables(function, instance), **own, **endpoints}


def fc_variables(function: Function, instance: str) -> dict[str, str]:
    """Return what FC itself sets (section 7 of the reference). Offline any non-empty credentials do."""
    return {
        "FC_FUNC_CODE_PATH": str(function.code),
        "FC_FUNCTION_NAME": function.name,
        "FC_FUNCTION_HANDLER": function.handler,
        "FC_FUNCTION_MEMORY_SIZE": str(function.memory),
        "FC_FUNCTION_VERSION": function.version,
        "FC_REGION": function.region,
        "FC_ACCOUNT_ID": ACCOUNT,
        "FC_INSTANCE_ID": f"c-{instance}",
        "ALIBABA_CLOUD_REGION": function.region,
        "ALIBABA_CLOUD_ACCESS_KEY_ID": LOCAL_KEY,
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET": LOCAL_KEY,
        "ALIBABA_CLOUD_SECURITY_TOKEN": LOCAL_KEY,
    }


def _paths(function: Function) -> dict[str, str]:
    """Return s.yaml's PYTHONPATH with /code, where FC unpacks the code, being the code folder here."""
    given = function.environment.get("PYTHONPATH")
    if given is None:
        return {}
    code = str(function.code)
    parts = [code + part[5:] if part == "/code" or part.startswith("/code/") else part for part in given.split(":")]
    return {"PYTHONPATH": os.pathsep.join(parts)}


def spec_of(function: Function, debug_port: int = 0) -> Spec:
    """Return what the runtime must know of a function."""
    return Spec(
        name=function.name,
        handler=function.handler,
        runtime=function.runtime,
        code=str(function.code),
        memory=function.memory,
        timeout=function.timeout,
        region=function.region,
        initializer=function.initializer,
        pre_stop=function.pre_stop,
        version=function.version,
        debug_port=debug_port,
        beside=tuple(str(folder) for folder in function.beside),
    )
