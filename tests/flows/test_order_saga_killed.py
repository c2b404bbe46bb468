"""order_saga.yaml under kill -9: the process with the flow, the workers, the cloud and the shop dies and is resumed.

Each effect happens at most once at any moment and exactly once in the end; what is undone is undone once, in reverse.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from killed_kit import KilledOrder
from order_kit import MAIN

SOLD = ["reserve", "charge", "ship"]
UNDONE = ["reserve", "charge", "refund", "release"]
# Where a kill leaves most in doubt: the effect is there and nobody was told; or it is not there and was already begun.
FORWARD = ["reservations applied", "payments applied", "carrier/shipments before", "carrier/shipments applied"]
BACK = ["carrier/shipments answered", "refunds applied", "releases before", "releases applied"]
EVERY = ("before", "applied", "answered")
KEYED = [f"{place} {when}" for place in ("reservations", "payments") for when in EVERY]
ALL_FORWARD = [*KEYED, "carrier/shipments before", "carrier/shipments applied"]
ALL_BACK = [*KEYED, "carrier/shipments applied", "carrier/shipments answered"]
ALL_BACK += [f"{place} {when}" for place in ("refunds", "releases") for when in EVERY]
every_moment = pytest.param(None, marks=pytest.mark.soak, id="every-moment")


@pytest.fixture
def killed(tmp_path: Path) -> KilledOrder:
    return KilledOrder(tmp_path)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("moments", [pytest.param(FORWARD, id="in-doubt", marks=pytest.mark.soak), every_moment])
def test_killed_around_the_effects_the_order_is_bought_once(
    killed: KilledOrder, monkeypatch: pytest.MonkeyPatch, moments: list[str] | None
) -> None:
    said = killed.kill_at(moments or ALL_FORWARD)
    assert "Completed" in said
    assert (killed.effects(), killed.stock()) == (SOLD, 3)
    rows, _ = killed.ledger(monkeypatch)
    assert {row.step: row.state for row in rows} == dict.fromkeys(MAIN, "done")
    assert {row.step: row.attempt for row in rows}["Charge"] > 1


@pytest.mark.timeout(900)
@pytest.mark.parametrize("moments", [pytest.param(BACK, id="in-doubt", marks=pytest.mark.soak), every_moment])
def test_killed_around_the_undoing_the_order_is_undone_once_in_reverse(
    killed: KilledOrder, monkeypatch: pytest.MonkeyPatch, moments: list[str] | None
) -> None:
    killed.undeliverable()
    said = killed.kill_at(moments or ALL_BACK)
    assert "Cancelled" in said
    assert (killed.effects(), killed.stock()) == (UNDONE, 5)
    _, changes = killed.ledger(monkeypatch)
    assert [change.step_name for change in changes if change.to_status == "compensated"] == ["Charge", "ReserveStock"]


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("undeliverable", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_killed_at_any_time_nothing_happens_twice(killed: KilledOrder, undeliverable: bool, seed: int) -> None:
    draw = random.Random(seed)
    print(f"seed {seed}")
    wanted = UNDONE if undeliverable else SOLD
    if undeliverable:
        killed.undeliverable()
    while killed.runs < 12 and killed.kill_after(draw.uniform(0.5, 9)):
        assert killed.effects() == wanted[: len(killed.effects())]
    killed.finish()
    assert killed.effects() == wanted
