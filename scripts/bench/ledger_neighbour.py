"""AWS Lambda Powertools' idempotency on moto's DynamoDB, doing the same work as the ledger for the bench."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

TABLE = "idempotency"
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
import time
while server._server is None: time.sleep(0.01)
print("http://127.0.0.1:%d" % server._server.socket.getsockname()[1], flush=True)
sys.stdin.read()
"""


class Context:
    """The part of a Lambda context that Powertools reads: the time left."""

    def __init__(self, remaining_ms: int) -> None:
        self._end = time.monotonic() + remaining_ms / 1000

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds left."""
        return max(0, int((self._end - time.monotonic()) * 1000))


class Powertools:
    """Steps through `idempotent_function`; counts the requests botocore sends."""

    name = "Powertools on DynamoDB"

    def __init__(self, endpoint: str, lease_seconds: float) -> None:
        boto3: Any = import_module("boto3")
        os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "bench")
        warnings.simplefilter("ignore")
        self.client: Any = boto3.client(
            "dynamodb",
            region_name="us-east-1",
            endpoint_url=endpoint,
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 (moto takes anything)
        )
        self.requests: list[str] = []
        self.client.meta.events.register("before-send.dynamodb.*", self._count)
        self._lease_ms = int(lease_seconds * 1000)

    def provision(self) -> None:
        """Create the table."""
        self.client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )

    def run(self, task: str, step: str, effect: Callable[[str | None], Any]) -> Any:
        """Run a step; Powertools hands its effect no idempotency key."""
        powertools: Any = import_module("aws_lambda_powertools.utilities.idempotency")
        config = powertools.IdempotencyConfig(lambda_context=Context(self._lease_ms))

        def body(data: Any) -> Any:
            return effect(None)

        guard = powertools.idempotent_function
        store = self._layer()
        guarded: Callable[..., Any] = guard(
            body, data_keyword_argument="data", persistence_store=store, config=config, key_prefix="step"
        )
        return guarded(data={"task": task, "step": step})

    def _layer(self) -> Any:
        persistence: Any = import_module("aws_lambda_powertools.utilities.idempotency.persistence.dynamodb")
        return persistence.DynamoDBPersistenceLayer(TABLE, boto3_client=self.client)

    def dying(self) -> Powertools:
        """Return a worker that dies before it saves a result."""
        self.client.meta.events.register("before-call.dynamodb.UpdateItem", _die)
        return self

    def revive(self) -> None:
        """End the dying."""
        self.client.meta.events.unregister("before-call.dynamodb.UpdateItem", _die)

    def _count(self, request: Any, **_: Any) -> None:
        self.requests.append(str(request.headers.get("X-Amz-Target", b"").decode().partition(".")[2]))


class Died(BaseException):
    """The worker dies here."""


def _die(**_: Any) -> None:
    raise Died
