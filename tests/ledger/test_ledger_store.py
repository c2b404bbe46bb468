"""The store layer: conditions that hold, verdicts on failures, deadlines, and clear words for a wrong set-up."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from typing import Any

import pytest
from ledger_kit import (
    DirectWire,
    Faults,
    TurnableClock,
    ledger_over,
    local_credentials,
    sdk_client,
    service_error,
    settings,
)
from tablestore.error import OTSClientError, OTSServiceError
from urllib3.exceptions import MaxRetryError, NewConnectionError, ProtocolError, ReadTimeoutError

from ledger import (
    Credentials,
    EffectKind,
    Ledger,
    LedgerMisconfigured,
    LedgerSettings,
    LedgerUnavailable,
    NoPermission,
    StepRequest,
    StoreRefused,
    TableMissing,
    WrongSchemaVersion,
    environment_credentials,
)
from ledger.client import tablestore_client
from ledger.failures import Verdict, classify, definite_error, describe
from ledger.keys import RowKey
from ledger.store import TableStore
from ledger.tables import create_tables
from ledger.writes import Write


def service(code: str, status: int, message: str = "m") -> OTSServiceError:
    return OTSServiceError(status, code, message)


VERDICTS = [
    (service("OTSConditionCheckFail", 403), Verdict.LOST),
    (service("OTSRowOperationConflict", 409), Verdict.AMBIGUOUS),
    (service("OTSNotEnoughCapacityUnit", 403), Verdict.AMBIGUOUS),
    (service("OTSServerBusy", 503), Verdict.AMBIGUOUS),
    (service("OTSTimeout", 503), Verdict.AMBIGUOUS),
    (service("OTSInternalServerError", 500), Verdict.AMBIGUOUS),
    (service("OTSQuotaExhausted", 403, "Too frequent table operations."), Verdict.AMBIGUOUS),
    (service("OTSQuotaExhausted", 403, "Number of tables exceeded the quota."), Verdict.DEFINITE),
    (service("", 502), Verdict.AMBIGUOUS),
    (service("OTSParameterInvalid", 400), Verdict.DEFINITE),
    (service("OTSAuthFailed", 403), Verdict.DEFINITE),
    (service("OTSObjectNotExist", 404), Verdict.DEFINITE),
    (service("OTSSomethingNew", 500), Verdict.AMBIGUOUS),
    (OTSClientError("too long"), Verdict.DEFINITE),
    (OTSClientError("MD5 mismatch", 200), Verdict.AMBIGUOUS),
    (ProtocolError("aborted"), Verdict.AMBIGUOUS),
    (ReadTimeoutError(None, "", ""), Verdict.AMBIGUOUS),  # type: ignore[arg-type]
    (MaxRetryError(None, "", NewConnectionError(None, "refused")), Verdict.RETRY),  # type: ignore[arg-type]
    (ValueError("undecodable"), Verdict.AMBIGUOUS),
    (TypeError("wrong call"), Verdict.DEFINITE),
]


@pytest.mark.parametrize(("error", "verdict"), VERDICTS)
def test_every_failure_has_its_verdict(error: Exception, verdict: Verdict) -> None:
    assert classify(error) is verdict


def test_definite_failures_become_the_ledgers_errors() -> None:
    assert definite_error(service("OTSObjectNotExist", 404), "tab").table == "tab"  # type: ignore[attr-defined]
    refused = definite_error(service("OTSNoPermissionAccess", 403, "denied"), "tab")
    assert isinstance(refused, NoPermission)
    assert (refused.code, refused.detail) == ("OTSNoPermissionAccess", "denied")
    assert isinstance(definite_error(service("OTSParameterInvalid", 400), "tab"), StoreRefused)
    assert describe(service("OTSServerBusy", 503, "later")) == "OTSServerBusy: later"


@pytest.fixture
def store(wire: DirectWire, clock: TurnableClock) -> TableStore:
    return TableStore(sdk_client(wire), "stepkeeper_ledger", clock, 10)


def put(task: str, **columns: Any) -> Write:
    return Write(RowKey(task, "x"), {"mark": "m1", **columns}, None, "mark")


def update(task: str, mark: str, expect: dict[str, Any]) -> Write:
    return Write(RowKey(task, "x"), {"mark": mark}, expect, "mark")


def test_c35_a_condition_takes_effect_and_a_missing_column_fails_it(store: TableStore, task: str) -> None:
    assert store.settle(put(task, points=90)).won
    assert not store.settle(update(task, "m2", {"points": 22})).won
    assert not store.settle(update(task, "m3", {"missing": 1})).won
    assert not store.settle(update(task, "m4", {"points": 90, "missing": 1})).won
    assert not store.settle(update(f"{task}-absent", "m5", {"points": 90})).won
    assert store.settle(update(task, "m6", {"points": 90})).won
    row = store.read(RowKey(task, "x"))
    assert row is not None
    assert row.columns == {"mark": "m6", "points": 90}


def test_a_second_put_never_replaces_the_first(store: TableStore, task: str) -> None:
    assert store.settle(put(task, points=1)).won
    lost = store.settle(replace(put(task, points=2), columns={"mark": "m2", "points": 2}))
    assert not lost.won
    assert lost.row is not None
    assert lost.row.columns["points"] == 1


def test_all_types_of_cells_come_back_as_they_were(store: TableStore, task: str) -> None:
    cells: dict[str, Any] = {"text": "中文 ☃ \n", "empty": "", "int": -(2**62), "float": 0.1, "yes": True, "no": False}
    store.settle(put(task, **cells))
    row = store.read(RowKey(task, "x"))
    assert row is not None
    assert {name: row.columns[name] for name in cells} == cells
    assert {type(row.columns[name]) for name in ("yes", "no")} == {bool}


def test_every_write_carries_a_condition(store_app: Any, wire: DirectWire, clock: TurnableClock, task: str) -> None:
    seen: list[Any] = []
    client = sdk_client(wire)
    for name in ("put_row", "update_row"):
        inner = getattr(client, name)
        setattr(
            client,
            name,
            lambda table, row, condition, inner=inner: seen.append(condition) or inner(table, row, condition),
        )
    ledger = Ledger(settings(), client, clock=clock)
    ledger.run(StepRequest(task, "v", "A", kind=EffectKind.LOCAL), lambda context: 1)
    put_condition, update_condition = seen
    assert put_condition.get_row_existence_expectation() == "EXPECT_NOT_EXIST"
    assert update_condition.get_row_existence_expectation() == "EXPECT_EXIST"
    leaves = update_condition.get_column_condition().sub_conditions
    assert sorted(leaf.get_column_name() for leaf in leaves) == ["epoch", "state", "token"]
    assert not any(leaf.get_pass_if_missing() for leaf in leaves)


def test_column_names_are_ascii(wire: DirectWire, ledger: Ledger, store: TableStore, task: str) -> None:
    """The SDK's own encoder breaks on others (tablestore.md, 6)."""
    ledger.run(StepRequest(task, "v", "步骤", {"键": "值"}, kind=EffectKind.LOCAL), lambda context: "果")
    row = store.read(RowKey(task, "step/v/步骤"))
    assert row is not None
    assert all(name.isascii() and name.isidentifier() for name in row.columns)


@pytest.mark.parametrize("fault", ["throttle", "drop_before", "drop_after", "broken_500"])
def test_an_unreachable_store_is_reported_after_the_deadline_and_not_later(
    wire: DirectWire, clock: TurnableClock, task: str, fault: str
) -> None:
    ledger = ledger_over(Faults(wire, lambda count, url: fault), clock, store_deadline_seconds=7)
    before = clock.monotonic()
    with pytest.raises(LedgerUnavailable) as caught:
        ledger.run(StepRequest(task, "v", "A"), lambda context: 1)
    assert 7 <= clock.monotonic() - before < 8.1
    assert caught.value.waited_seconds >= 7
    assert caught.value.last_error


def test_an_operation_ends_before_its_lease(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    ledger = ledger_over(Faults(wire, lambda count, url: "throttle"), clock, lease_seconds=6, store_deadline_seconds=60)
    before = clock.monotonic()
    with pytest.raises(LedgerUnavailable):
        ledger.run(StepRequest(task, "v", "A"), lambda context: 1)
    assert clock.monotonic() - before < 6


def test_pauses_between_tries_are_jittered_and_grow(wire: DirectWire, task: str) -> None:
    class Noting(TurnableClock):
        def __init__(self) -> None:
            super().__init__()
            self.pauses: list[float] = []

        def sleep(self, seconds: float) -> None:
            self.pauses.append(seconds)
            super().sleep(seconds)

    clocks = [Noting(), Noting()]
    for seed, clock in enumerate(clocks):
        ledger = ledger_over(Faults(wire, lambda count, url: "throttle"), clock, seed=seed)
        with pytest.raises(LedgerUnavailable):
            ledger.rows(task)
    assert clocks[0].pauses != clocks[1].pauses
    assert clocks[0].pauses[0] <= 0.02
    assert max(clocks[0].pauses) <= 1.0
    assert max(clocks[0].pauses) > 0.3


def test_the_sdk_resends_nothing_by_itself(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    faults = Faults(wire, lambda count, url: "busy_after" if url == "/PutRow" else None)
    ledger_over(faults, clock).run(StepRequest(task, "v", "A", kind=EffectKind.LOCAL), lambda context: 1)
    assert faults.log.count("/PutRow busy_after") == 1


def test_a_missing_table_is_named(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    with pytest.raises(TableMissing, match=r"'nowhere'.*provision") as caught:
        ledger_over(wire, clock, table="nowhere").rows(task)
    assert caught.value.table == "nowhere"


def test_a_wrong_schema_version_is_named(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    other = settings(table="other_schema")
    create_tables(sdk_client(wire), other, clock)
    store = TableStore(sdk_client(wire), "other_schema", clock, 10)
    key = [("task_id", "stepkeeper:schema"), ("entry", "schema")]
    store.put("other_schema", key, {"version": 99})
    with pytest.raises(WrongSchemaVersion) as caught:
        ledger_over(wire, clock, table="other_schema").rows(task)
    assert (caught.value.found, caught.value.needed) == (99, 1)
    with pytest.raises(WrongSchemaVersion):
        create_tables(sdk_client(wire), other, clock)


def test_a_table_of_somebody_else_has_no_schema_version(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    from tablestore import CapacityUnit, ReservedThroughput, TableMeta, TableOptions

    keys = [("task_id", "STRING"), ("entry", "STRING")]
    sdk_client(wire).create_table(TableMeta("foreign", keys), TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
    with pytest.raises(WrongSchemaVersion, match="None"):
        ledger_over(wire, clock, table="foreign").rows(task)


def test_provisioning_again_changes_nothing(wire: DirectWire, clock: TurnableClock) -> None:
    names = create_tables(sdk_client(wire), settings(), clock)
    assert names == ["stepkeeper_ledger", "stepkeeper_ledger_tasks"]


def test_provisioning_waits_for_a_table_that_is_not_ready(wire: DirectWire, clock: TurnableClock) -> None:
    def plan(count: int, url: str) -> str | None:
        return "throttle" if url == "/CreateTable" and count < 3 else None

    faults = Faults(wire, plan)
    create_tables(sdk_client(faults), settings(table="slow_one"), clock)
    assert faults.log.count("/CreateTable throttle") == 3


def test_a_refused_role_is_no_permission(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    def refuse(url: str, headers: Any, body: bytes) -> Any:
        return service_error("OTSNoPermissionAccess", 403)

    with pytest.raises(NoPermission, match="OTSNoPermissionAccess") as caught:
        ledger_over(refuse, clock).rows(task)
    assert caught.value.code == "OTSNoPermissionAccess"


def test_a_wrong_key_is_no_permission_over_the_wire(served: LedgerSettings, task: str) -> None:
    ledger = Ledger.open(served, credentials=_wrong_credentials)
    with pytest.raises(NoPermission):
        ledger.rows(task)


def _wrong_credentials() -> Credentials:
    return Credentials("somebody", "wrong")


def test_endpoint_and_instance_must_be_set() -> None:
    with pytest.raises(LedgerMisconfigured, match="TABLESTORE_ENDPOINT"):
        Ledger.open(settings(tablestore_endpoint=""), credentials=local_credentials)
    with pytest.raises(LedgerMisconfigured, match="cannot be used"):
        Ledger.open(settings(tablestore_endpoint="ftp://x"), credentials=local_credentials)


def test_nothing_listening_is_unavailable(task: str) -> None:
    ledger = Ledger.open(
        settings(tablestore_endpoint="http://127.0.0.1:9", store_deadline_seconds=0.2), credentials=local_credentials
    )
    with pytest.raises(LedgerUnavailable):
        ledger.rows(task)


def test_c59_credentials_are_read_again_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "one")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "secret")
    monkeypatch.delenv("ALIBABA_CLOUD_SECURITY_TOKEN", raising=False)
    client = tablestore_client(settings(), environment_credentials)
    assert client.credentials_provider.get_credentials().get_access_key_id() == "one"
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "two")
    monkeypatch.setenv("ALIBABA_CLOUD_SECURITY_TOKEN", "token")
    renewed = client.credentials_provider.get_credentials()
    assert (renewed.get_access_key_id(), renewed.get_security_token()) == ("two", "token")
    assert "secret" not in repr(environment_credentials())


@pytest.mark.parametrize("name", ["ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"])
def test_missing_credentials_are_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "b")
    monkeypatch.delenv(name)
    with pytest.raises(LedgerMisconfigured, match=name):
        environment_credentials()


def test_one_client_and_one_ledger_per_process_and_settings(served: LedgerSettings) -> None:
    assert Ledger.open(served, credentials=local_credentials) is Ledger.open(served, credentials=local_credentials)
    again = LedgerSettings(**served.model_dump())
    assert tablestore_client(served, local_credentials) is tablestore_client(again, local_credentials)
    child = os.fork()
    if child == 0:
        fresh = tablestore_client(served, local_credentials) is not _parents
        os._exit(0 if fresh else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


_parents: Any = None


@pytest.fixture(autouse=True)
def _remember(served: LedgerSettings) -> None:
    global _parents
    _parents = tablestore_client(served, local_credentials)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLESTORE_ENDPOINT", "http://x")
    monkeypatch.setenv("STEPKEEPER_LEASE_SECONDS", "12")
    found = LedgerSettings()
    assert (found.tablestore_endpoint, found.lease_seconds, found.busy_wait) == ("http://x", 12, 17)
    monkeypatch.setenv("STEPKEEPER_BUSY_WAIT_SECONDS", "0")
    assert LedgerSettings().busy_wait == 0
    assert found.tasks_table == "stepkeeper_ledger_tasks"


def test_scans_follow_the_next_key_over_many_pages(ledger: Ledger, wire: DirectWire, task: str) -> None:
    """Pages of 4 MB: a result of 400 kB each makes more than one."""
    rng = random.Random(1)
    body = "".join(rng.choices("abcdef", k=400_000))
    for number in range(14):
        ledger.run(StepRequest(task, "v", f"S{number:02d}", kind=EffectKind.LOCAL), lambda context: body)
    wire.requests.clear()
    assert [row.step for row in ledger.rows(task)] == [f"S{number:02d}" for number in range(14)]
    assert wire.requests.count("GetRange") >= 2
