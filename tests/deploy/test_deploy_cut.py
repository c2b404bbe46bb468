"""Deploys that are cut off: each script loses its life after each request that changes something, and is run again.

A cut after a read leaves what the cut after the write before it leaves, so only writes count.
"""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from life_kit import ROOT, Deployed
from tiny_kit import tiny_project


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_after(writes: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let the answer to the n-th writing request be the last thing this process sees; yields the requests seen."""
    seen: list[str] = []
    put, get = http.client.HTTPConnection.putrequest, http.client.HTTPConnection.getresponse

    def putrequest(self: Any, method: str, url: str, *rest: Any, **more: Any) -> None:
        self.written = method not in ("GET", "HEAD")
        put(self, method, url, *rest, **more)

    def getresponse(self: Any, *rest: Any, **more: Any) -> Any:
        answer = get(self, *rest, **more)
        if self.written:
            seen.append(f"{answer.status}")
            if len(seen) == writes:
                raise Killed
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(http.client.HTTPConnection, "putrequest", putrequest)
        patch.setattr(http.client.HTTPConnection, "getresponse", getresponse)
        yield seen


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with tiny_project(tmp_path, monkeypatch) as cloud:
        yield cloud


Step = Callable[[Deployed], object]
DEPLOY: dict[str, Step] = {
    "provision": lambda cloud: cloud.run("provision"),
    "deploy_functions": lambda cloud: cloud.run("deploy_functions"),
    "publish": lambda cloud: cloud.run("publish"),
    "deploy_flows": lambda cloud: cloud.run("deploy_flows"),
}
CHANGE: dict[str, Step] = {
    "deploy_functions again": lambda cloud: cloud.run("deploy_functions"),
    "publish --canary": lambda cloud: cloud.run("publish", "--canary", "10"),
    "deploy_flows --canary": lambda cloud: cloud.run("deploy_flows", "--canary", "10"),
    "deploy_flows": lambda cloud: cloud.run("deploy_flows"),
    "publish": lambda cloud: cloud.run("publish"),
}


def picture(cloud: Deployed) -> object:
    """What is deployed, without times and ids."""
    state = cloud.functions.find("tiny-one")
    flow = cloud.flows.find("tiny")
    return (
        state and {key: value for key, value in state.document.items() if "Time" not in key and key != "functionId"},
        cloud.functions.versions("tiny-one"),
        cloud.functions.aliases("tiny-one"),
        cloud.functions.async_config("tiny-one") is not None,
        [(trigger.name, trigger.config) for trigger in cloud.functions.triggers("tiny-one")],
        flow and (flow.definition, flow.role),
        [(version.number, version.description) for version in cloud.flows.versions("tiny")],
        cloud.flows.alias("tiny", "live"),
        cloud.json("provision", "--plan")["changes"],
    )


def cut_everywhere(cloud: Deployed, step: Step, reset: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run `step` whole, then cut off after each of its writes and run again: the same comes out. Returns the writes."""
    reset()
    with killed_after(0, monkeypatch) as requests:
        step(cloud)
    wanted = picture(cloud)
    for number in range(1, len(requests) + 1):
        reset()
        with killed_after(number, monkeypatch), pytest.raises(Killed):
            step(cloud)
        step(cloud)
        assert picture(cloud) == wanted, f"after the cut at write {number} of {len(requests)}"
    return len(requests)


@pytest.mark.parametrize("name", DEPLOY)
def test_a_first_deploy_cut_off_anywhere_is_gone_on_with(
    name: str, tiny: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(DEPLOY)

    def reset() -> None:
        tiny.run("destroy", "--data", "--yes")
        for before in names[: names.index(name)]:
            DEPLOY[before](tiny)

    assert cut_everywhere(tiny, DEPLOY[name], reset, monkeypatch) >= 2


@pytest.mark.parametrize("name", CHANGE)
def test_a_change_cut_off_anywhere_is_gone_on_with(name: str, tiny: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    names = list(CHANGE)

    def reset() -> None:
        monkeypatch.setenv("TINY_STAGE", "1")
        tiny.run("destroy", "--data", "--yes")
        for step in DEPLOY.values():
            step(tiny)
        monkeypatch.setenv("TINY_STAGE", "2")
        for before in names[: names.index(name)]:
            CHANGE[before](tiny)

    assert cut_everywhere(tiny, CHANGE[name], reset, monkeypatch) >= 1


def test_destroying_cut_off_anywhere_is_gone_on_with(tiny: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    def reset() -> None:
        for step in DEPLOY.values():
            step(tiny)

    assert cut_everywhere(tiny, lambda cloud: cloud.run("destroy", "--data", "--yes"), reset, monkeypatch) >= 8
    assert tiny.functions.names("") == []


def test_functions_without_a_bucket_or_a_package_name_the_job_that_makes_it(
    tiny: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "run python -m scripts.provision" in tiny.run("deploy_functions", status=2)
    monkeypatch.setenv("STEPKEEPER_CODE_ZIP", "nowhere.zip")
    assert "run ./scripts/build" in tiny.run("deploy_functions", status=2)


def test_a_canary_that_is_over_leaves_one_version(tiny: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in DEPLOY.values():
        step(tiny)
    monkeypatch.setenv("TINY_STAGE", "2")
    for step in CHANGE.values():
        step(tiny)
    alias = tiny.flows.alias("tiny", "live")
    assert alias is not None
    assert [(route.version, route.weight) for route in alias.routes] == [("2", 100)]


@pytest.mark.soak
@pytest.mark.parametrize("milliseconds", [300, 900, 1500, 2500])
def test_a_deploy_killed_by_the_system_is_gone_on_with(milliseconds: int, tiny: Deployed) -> None:
    steps = ("provision", "deploy_functions", "publish", "deploy_flows")
    for job in steps:
        process = subprocess.Popen([sys.executable, "-m", f"scripts.{job}"], cwd=ROOT, env=os.environ)
        try:
            process.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        tiny.run(job)
    alias = tiny.flows.alias("tiny", "live")
    assert alias is not None
    assert len(tiny.flows.versions("tiny")) == 1
    assert len(tiny.functions.versions("tiny-one")) == 1
