"""Request rates: buckets by themselves, and a server that keeps to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config
from hypothesis import given
from hypothesis import strategies as st
from Tea.exceptions import TeaException

from local_sim.clock import VirtualClock
from local_sim.project import Project
from local_sim.server import LocalServer
from local_sim.services.cloudflow import CloudFlowError, Rates

LIMITS = {"StartExecution": (100, 100), "DescribeExecution": (50, 5), "ListFlows": (10, 2)}


def passes(rates: Rates, action: str) -> bool:
    try:
        rates.take(action)
    except CloudFlowError as error:
        return (error.code, error.status) != ("ResourceThrottled", 429)
    return True


def taken(rates: Rates, action: str) -> int:
    return next(number for number in range(300) if not passes(rates, action))


@pytest.mark.parametrize("action", LIMITS)
def test_a_bucket_empties_and_fills_as_documented(action: str) -> None:
    now = [0]
    rates = Rates(lambda: now[0])
    size, a_second = LIMITS[action]
    assert taken(rates, action) == size
    now[0] = 2000
    assert taken(rates, action) == min(2 * a_second, size)
    now[0] = 10_000_000
    assert taken(rates, action) == size


def test_reads_of_executions_have_buckets_of_their_own_and_the_others_share_one() -> None:
    rates = Rates(lambda: 0)
    assert [taken(rates, action) for action in ("ListFlows", "CreateFlow", "GetExecutionHistory")] == [10, 0, 50]


@given(st.lists(st.integers(0, 400), min_size=1, max_size=200))
def test_no_window_lets_more_through_than_size_and_rate(pauses: list[int]) -> None:
    now, allowed = 0, 0
    rates = Rates(lambda: now)
    for pause in pauses:
        now += pause
        allowed += passes(rates, "ListFlows")
        assert allowed <= 10 + 2 * now / 1000


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with LocalServer(Project(tmp_path), tmp_path / "data", clock=VirtualClock(), limit_rates=True) as server:
        yield Client(Config(endpoint=server.endpoint, access_key_id="id", access_key_secret="secret"))


def test_the_sdk_meets_the_documented_code(client: Client) -> None:
    for _ in range(10):
        client.list_flows(fnf.ListFlowsRequest())
    with pytest.raises(TeaException) as caught:
        client.list_flows(fnf.ListFlowsRequest())
    assert (caught.value.code, caught.value.statusCode) == ("ResourceThrottled", 429)
    with pytest.raises(TeaException) as other:
        client.describe_execution(fnf.DescribeExecutionRequest(flow_name="f", execution_name="e"))
    assert other.value.code == "FlowNotExists"
