"""Faults in front of Tablestore as an unmodified client meets them: the self-inflicted failure and its kin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tablestore.retry import DefaultRetryPolicy
from tablestore_rig import NOT_EXIST, Rig, condition, create_table, read, refusal, row, running, sdk
from urllib3.exceptions import ProtocolError

from local_sim.services import FaultKind, FaultRule, Faults
from local_sim.services.tablestore import fault_dialect


class Quick(DefaultRetryPolicy):  # type: ignore[misc]
    """The SDK's default policy without its waits."""

    def get_retry_delay(self, retry_times: int, exception: Any, api_name: str) -> float:
        return 0


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def rig(tmp_path: Path, faults: Faults) -> Iterator[Rig]:
    with running(tmp_path, wrap=lambda app: faults.wrap(app, fault_dialect())) as made:
        create_table(made.client())
        yield made


def claim(client: Any) -> None:
    client.put_row("t", row(columns=[("owner", "me")]), condition(NOT_EXIST))


@pytest.mark.parametrize(
    ("code", "status"),
    [(None, 503), ("OTSServerBusy", 503), ("OTSRowOperationConflict", 409), ("OTSPartitionUnavailable", 503)],
)
def test_a_client_that_retries_fails_on_its_own_claim(rig: Rig, faults: Faults, code: str | None, status: int) -> None:
    faults.add(FaultRule("ots", "PutRow", FaultKind.APPLIED_THEN_ERROR, times=1, code=code))
    client = rig.client(retry_policy=Quick())
    with pytest.raises(sdk.OTSServiceError) as caught:
        claim(client)
    assert refusal(caught)[:2] == (403, "OTSConditionCheckFail")
    assert read(client) == {"owner": "me"}


def test_without_retries_the_error_itself_arrives(rig: Rig, faults: Faults) -> None:
    faults.add(FaultRule("ots", "PutRow", FaultKind.APPLIED_THEN_ERROR, times=1))
    with pytest.raises(sdk.OTSServiceError) as caught:
        claim(rig.client())
    assert refusal(caught) == (503, "OTSServerBusy", "Server is busy.")


def test_a_throttled_claim_was_not_made(rig: Rig, faults: Faults) -> None:
    faults.add(FaultRule("ots", "PutRow", FaultKind.THROTTLE, times=3))
    client = rig.client(retry_policy=Quick())
    claim(client)
    assert read(client) == {"owner": "me"}
    assert len(faults.hits) == 3


@pytest.mark.parametrize(
    ("kind", "stored"),
    [(FaultKind.DROP_BEFORE, None), (FaultKind.DROP_AFTER, {"owner": "me"}), (FaultKind.PARTIAL_BODY, {"owner": "me"})],
)
def test_a_cut_connection_is_no_error_of_the_sdk(rig: Rig, faults: Faults, kind: FaultKind, stored: Any) -> None:
    faults.add(FaultRule("ots", "PutRow", kind, times=1))
    client = rig.client()
    with pytest.raises(ProtocolError):
        claim(client)
    assert read(client) == stored


def test_an_increment_delivered_twice_counts_twice(rig: Rig, faults: Faults) -> None:
    faults.add(FaultRule("ots", "UpdateRow", FaultKind.DUPLICATE, times=1))
    client = rig.client()
    client.update_row("t", row(columns={"INCREMENT": [("n", 1)]}), None)
    assert read(client) == {"n": 2}


def test_a_late_claim_lands_after_another(rig: Rig, faults: Faults) -> None:
    faults.add(FaultRule("ots", "PutRow", FaultKind.LATE, times=1, delay_ms=10_000))
    client = rig.client()
    with pytest.raises(ProtocolError):
        client.put_row("t", row(columns=[("owner", "late")]))
    client.put_row("t", row(columns=[("owner", "second")]))
    landed = any(read(client) == {"owner": "late"} for _ in range(1000))
    assert landed
    assert read(client) == {"owner": "late"}


def test_rules_name_the_api(rig: Rig, faults: Faults) -> None:
    faults.add(FaultRule("ots", "GetRow", FaultKind.THROTTLE))
    client = rig.client()
    claim(client)
    with pytest.raises(sdk.OTSServiceError, match="busy"):
        read(client)
    assert [hit.api for hit in faults.hits] == ["GetRow"]
