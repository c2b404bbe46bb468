"""Probing the local cloud: it must agree with itself, and a cloud that answers otherwise is found out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from life_kit import ROOT, Deployed, empty_cloud

from scripts import calibrate
from scripts.calibration import FUNCTION, Outcome, compared, read_probes


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with empty_cloud(tmp_path, tmp_path / "none.zip", monkeypatch) as running:
        yield running


def test_every_probe_has_an_answer_and_an_assumption() -> None:
    probes = read_probes()
    assert len(probes) >= 25
    assert {probe.id for probe in probes} == set(calibrate.known_answers())
    assumptions = (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8")
    assert all(f"| {probe.id.partition('-')[0]} |" in assumptions for probe in probes)


def test_the_local_cloud_agrees_with_itself_and_is_left_clean(
    cloud: Deployed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "_DOCS", tmp_path)
    # The rest is asked by --soak: each call of a function is a process.
    chosen = [probe for probe in read_probes() if "FUNCTION" not in probe.states and probe.id != "A30-running"]
    arguments = [word for probe in chosen for word in ("--only", probe.id)]
    report = cloud.json("calibrate", "--write", *arguments)
    assert [probe["id"] for probe in report["probes"] if not probe["agrees"]] == []
    (written,) = tmp_path.glob("calibration-*.json")
    assert json.loads(written.read_text(encoding="utf-8"))["service"] == "local cloud"
    assert cloud.functions.names(FUNCTION) == []
    assert all(cloud.flows.find(probe.flow) is None for probe in chosen)


@pytest.mark.soak
def test_all_probes_agree(cloud: Deployed) -> None:
    assert all(probe["agrees"] for probe in cloud.json("calibrate")["probes"])


def test_a_service_that_does_otherwise_is_found_out() -> None:
    probes = read_probes()
    known = calibrate.known_answers()
    found = {**known, "A08": Outcome(status="Succeeded", output={"value": None})}
    (difference,) = compared(probes, found, known)
    assert (difference.id, difference.service.status, difference.local_sim.error) == (
        "A08",
        "Succeeded",
        "FnF.RuntimeError",
    )


def test_an_unknown_probe_is_named(cloud: Deployed) -> None:
    assert "there are A02" in cloud.run("calibrate", "--only", "A99", status=2)
