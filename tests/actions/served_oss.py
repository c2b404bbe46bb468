"""A real OSS client for the services of a run, and a server to run flows on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import oss2
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config

from local_sim.project import Project
from local_sim.server import LocalServer


def bucket_of(environment: Mapping[str, str]) -> oss2.Bucket:
    """Return a client for the run's own bucket."""
    auth = oss2.Auth(environment["ALIBABA_CLOUD_ACCESS_KEY_ID"], environment["ALIBABA_CLOUD_ACCESS_KEY_SECRET"])
    session = oss2.Session()
    session.session.trust_env = False
    return oss2.Bucket(auth, environment["OSS_ENDPOINT"], environment["OSS_BUCKET"], session=session, enable_crc=False)


class Served:
    """A running server and its CloudFlow client."""

    def __init__(self, server: LocalServer, secret: str | None) -> None:
        self.environment = server.environment
        key = "id" if secret is None else "local"
        self._client = Client(Config(endpoint=server.endpoint, access_key_id=key, access_key_secret=secret or "any"))

    def run(self, name: str, definition: str) -> tuple[str, Any]:
        """Create a flow, execute it and return status and output."""
        self._client.create_flow(fnf.CreateFlowRequest(name=name, definition=definition, description="", type="FDL"))
        self._client.start_execution(fnf.StartExecutionRequest(flow_name=name, execution_name="one", input="{}"))
        ask = fnf.DescribeExecutionRequest(flow_name=name, execution_name="one", wait_time_seconds=10)
        body = self._client.describe_execution(ask).body
        return body.status, json.loads(body.output or "null")


@contextmanager
def served(project: Project, folder: Path, secret: str | None) -> Iterator[Served]:
    """Run a server on the folder."""
    server = LocalServer(project, folder, secret=secret).start()
    try:
        yield Served(server, secret)
    finally:
        server.stop()
