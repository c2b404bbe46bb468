"""Big results in OSS, over oss2 and the local service."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import oss2
import pytest
from ledger_kit import WV, Crash, DirectWire, TurnableClock, ledger_over

from ledger import (
    BlobDamaged,
    BlobRef,
    BlobUnavailable,
    Credentials,
    EffectKind,
    LedgerError,
    LedgerMisconfigured,
    LedgerRetryable,
    LedgerSettings,
    OssBlobs,
    StepRequest,
)
from ledger.blobs import default_blobs
from ledger.results import result_prefix
from local_sim.clock import RealClock
from local_sim.services.host import ServiceHost
from local_sim.services.oss import OssStore, create_app

BUCKET = "ledger-results"


def credentials() -> Credentials:
    return Credentials("id", "secret")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = OssStore(tmp_path_factory.mktemp("oss"))
    app = create_app(store, credentials={"id": "secret"}, clock=RealClock())
    with ServiceHost(app, name="oss") as host:
        oss2.Bucket(oss2.Auth("id", "secret"), host.endpoint, BUCKET).create_bucket()
        yield host.endpoint
    store.close()


@pytest.fixture
def blobs(endpoint: str) -> OssBlobs:
    return OssBlobs(endpoint, BUCKET, credentials)


def request(task: str, step: str = "A") -> StepRequest:
    return StepRequest(task, WV, step, 1, kind=EffectKind.IDEMPOTENT)


def test_the_same_bytes_again_are_fine_and_others_are_refused(blobs: OssBlobs, task: str) -> None:
    ref = blobs.put(f"{task}/中文 +%#?", b"one")
    assert ref == BlobRef(f"oss://{BUCKET}/{task}/中文 +%#?", 3, hashlib.sha256(b"one").hexdigest())
    assert blobs.put(f"{task}/中文 +%#?", b"one") == ref
    with pytest.raises(BlobDamaged, match="another object"):
        blobs.put(f"{task}/中文 +%#?", b"two")
    assert blobs.get(ref) == b"one"


def test_what_is_missing_or_differs_is_damaged(blobs: OssBlobs, task: str) -> None:
    ref = blobs.put(f"{task}/x", b"one")
    with pytest.raises(BlobDamaged, match="not there"):
        blobs.get(BlobRef(blobs.uri(f"{task}/y"), 3, ref.sha256))
    with pytest.raises(BlobDamaged, match="differ"):
        blobs.get(BlobRef(ref.uri, 3, hashlib.sha256(b"two").hexdigest()))
    assert not issubclass(BlobDamaged, LedgerRetryable)


def test_a_store_that_is_away_is_unavailable() -> None:
    away = OssBlobs("http://127.0.0.1:9", BUCKET, credentials, timeout_seconds=0.2)
    with pytest.raises(BlobUnavailable) as caught:
        away.put("x", b"1")
    assert isinstance(caught.value, LedgerRetryable)


def test_listing_and_deleting(blobs: OssBlobs, task: str) -> None:
    for name in ("a", "b"):
        blobs.put(f"{task}/{name}", b"12")
    assert [(info.key, info.size) for info in blobs.list(f"{task}/")] == [(f"{task}/a", 2), (f"{task}/b", 2)]
    blobs.delete(f"{task}/a")
    blobs.delete(f"{task}/a")
    assert [info.key for info in blobs.list(f"{task}/")] == [f"{task}/b"]


@pytest.mark.parametrize(("size", "inline"), [(99, True), (100, True), (101, False)])
def test_c54_the_inline_limit_counts_bytes_of_utf8(
    wire: DirectWire, clock: TurnableClock, blobs: OssBlobs, task: str, size: int, inline: bool
) -> None:
    ledger = ledger_over(wire, clock, blobs=blobs, inline_limit_bytes=100)
    text = "中" * ((size - 2) // 3)
    text += "x" * (size - 2 - len(text.encode()))
    assert ledger.run(request(task), lambda context: text).value == text
    assert (ledger.rows(task)[0].result_summary.startswith("oss://")) is not inline
    again = ledger.run(request(task), lambda context: "never")
    assert (again.value, again.replayed) == (text, True)


def test_the_object_is_stored_before_the_completion_is_written(
    wire: DirectWire, clock: TurnableClock, blobs: OssBlobs, task: str
) -> None:
    class Dying(OssBlobs):
        def put(self, key: str, data: bytes) -> BlobRef:
            super().put(key, data)
            raise Crash

    dying = ledger_over(wire, clock, blobs=Dying(blobs._endpoint, BUCKET, credentials), inline_limit_bytes=10)
    with pytest.raises(Crash):
        dying.run(request(task), lambda context: "x" * 50)
    assert dying.rows(task)[0].state == "claimed"
    assert len(list(blobs.list(result_prefix(task)))) == 1
    clock.sleep(31)
    ledger = ledger_over(wire, clock, blobs=blobs, inline_limit_bytes=10)
    assert ledger.run(request(task), lambda context: "y" * 50).value == "y" * 50
    assert len(list(blobs.list(result_prefix(task)))) == 2  # the first is an orphan, for the sweep


def test_a_blob_store_that_is_away_leaves_the_step_to_run_again_with_its_key(
    wire: DirectWire, clock: TurnableClock, blobs: OssBlobs, task: str
) -> None:
    away = OssBlobs("http://127.0.0.1:9", BUCKET, credentials, timeout_seconds=0.2)
    with pytest.raises(BlobUnavailable):
        ledger_over(wire, clock, blobs=away, inline_limit_bytes=10).run(request(task), lambda context: "x" * 50)
    ledger = ledger_over(wire, clock, blobs=blobs, inline_limit_bytes=10)
    assert ledger.run(request(task), lambda context: "x" * 50).value == "x" * 50


def test_a_result_in_a_bucket_nobody_configured_says_so(
    wire: DirectWire, clock: TurnableClock, blobs: OssBlobs, task: str
) -> None:
    ledger_over(wire, clock, blobs=blobs, inline_limit_bytes=10).run(request(task), lambda context: "x" * 50)
    with pytest.raises(LedgerMisconfigured, match="OSS_BUCKET"):
        ledger_over(wire, clock).run(request(task), lambda context: "never")


def test_the_bucket_comes_from_the_settings(endpoint: str) -> None:
    assert default_blobs(LedgerSettings(oss_bucket="", oss_endpoint=""), credentials) is None
    found = default_blobs(LedgerSettings(oss_bucket=BUCKET, oss_endpoint=endpoint), credentials)
    assert isinstance(found, OssBlobs)
    with pytest.raises(LedgerMisconfigured, match="OSS_ENDPOINT"):
        OssBlobs("", BUCKET)


def test_security_tokens_are_used_when_there_are_some(endpoint: str, task: str) -> None:
    seen: list[Any] = []

    def source() -> Credentials:
        seen.append(1)
        return Credentials("id", "secret", "token")

    blobs = OssBlobs(endpoint, BUCKET, source)
    ref = blobs.put(f"{task}/t", b"1")
    assert blobs.get(ref) == b"1"
    assert len(seen) == 2  # asked again at each use (case C59)


def test_very_long_task_ids_still_make_a_key_oss_takes() -> None:
    assert len(result_prefix("任" * 341).encode()) < 400
    assert result_prefix("a/b") == "ledger/results/a%2Fb/"
    assert issubclass(BlobDamaged, LedgerError)
