"""Many executions at once."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from served_world import World, callback, echo

FORM = {"content-type": "application/x-www-form-urlencoded"}


class Caller:
    """A client that keeps its connection, so that the server is what is measured."""

    def __init__(self, world: World) -> None:
        address = urlsplit(world.server.endpoint)
        self.connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=600)

    def __call__(self, action: str, **parameters: str) -> Any:
        self.connection.request("POST", "/", urlencode({"Action": action, **parameters}), FORM)
        document = json.loads(self.connection.getresponse().read())
        assert "Code" not in document, document
        return document


def at_once(threads: int, work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def wait_at_once(world: World, count: int) -> None:
    """Start `count` executions that all wait for a report, then report all; memory for each is measured."""
    world.create("f", callback("A", Timeout=86_400))  # a slow machine may take long
    before = resident_bytes()

    def start(number: int) -> None:
        call = Caller(world)
        for index in range(count // 8):
            call("StartExecution", FlowName="f", ExecutionName=f"e{number}-{index}", Input="{}")

    at_once(8, start)
    world.until(lambda: len(world.tokens) == count, 600)
    world.until(lambda: not world.server._core.busy, 600)  # type: ignore[union-attr]
    each = (resident_bytes() - before) / count
    assert each < 20_000, f"{each:.0f} bytes for a waiting execution"
    begin = time.monotonic()
    world.restart()
    print(f"{each:.0f} bytes each, restarted in {time.monotonic() - begin:.2f} s")

    def report(number: int) -> None:
        call = Caller(world)
        for token in world.tokens[number::8]:
            call("ReportTaskSucceeded", TaskToken=token, Output="{}")

    at_once(8, report)
    call = Caller(world)
    assert call("ListExecutions", FlowName="f", Status="Running", Limit="1").get("Executions") == []


def test_a_thousand_wait_at_once_and_a_restart_loses_none(world: World) -> None:
    wait_at_once(world, 1000)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_ten_thousand_wait_at_once(world: World) -> None:
    wait_at_once(world, 10_000)


def run_at_once(world: World, clients: int, seconds: float) -> int:
    world.create("f", *[echo(f"S{number}") for number in range(6)])
    deadline = time.monotonic() + seconds
    done: list[int] = []

    def work(number: int) -> None:
        call, index = Caller(world), 0
        while time.monotonic() < deadline:
            index += 1
            name = f"e{number}-{index}"
            call("StartExecution", FlowName="f", ExecutionName=name, Input="{}")
            ended = call("DescribeExecution", FlowName="f", ExecutionName=name, WaitTimeSeconds="60")
            assert ended["Status"] == "Succeeded", ended
        done.append(index)

    at_once(clients, work)
    return sum(done)


def test_forty_clients_run_flows_without_an_error(world: World) -> None:
    assert run_at_once(world, 40, 2) > 40


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_two_hundred_clients_for_a_minute(world: World) -> None:
    print(run_at_once(world, 200, 60), "executions")


def test_ten_thousand_running_executions_are_the_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_sim.server.starts.RUNNING_EXECUTIONS", 3)
    world.create("f", callback("A"))
    for number in range(3):
        world.begin("f", f"e{number}")
    with pytest.raises(Exception, match="3 executions are running") as refused:
        world.begin("f", "e3")
    assert refused.value.code == "ResourceThrottled"  # type: ignore[attr-defined]
