"""Payloads in the local OSS, over the oss2 SDK: written once, checked when read (cases C57, C59)."""

from __future__ import annotations

import hashlib
import threading
import uuid

import pytest
from loopback import Answer, Loopback, closed_port

from functions.bucket import Bucket
from functions.errors import InvalidInput, ResultConflict, SystemFault, TemporaryUpstreamError
from functions.models import Inline, PayloadRef
from functions.payloads import Payloads, object_key
from functions.settings import Settings

KEYS = [
    "中文/文件.txt",
    "with blank",
    "plus+plus",
    "50%25%",
    "hash#tag",
    "what?now=1&b=2",
    "emoji-😀",
    "two..dots/../up",
    "./here",
    "tail/",
    "a//b",
    "tilde~'quote\"<>",
    "x" * 900,
]


def fresh(name: str = "k") -> str:
    return f"{uuid.uuid4().hex}/{name}"


@pytest.mark.parametrize("name", KEYS)
def test_any_key_comes_back_unchanged(payloads: Payloads, name: str) -> None:
    key = fresh(name)
    ref = payloads.put(key, b"data")
    assert ref.key == key
    assert ref.bucket == payloads.bucket.name
    assert payloads.read(ref) == b"data"
    assert [info.key for info in payloads.bucket.listing(key.split("/", 1)[0])] == [key]
    assert payloads.remove(ref) is True
    assert payloads.find(key) is None


def test_a_leading_slash_stays_part_of_the_key(payloads: Payloads) -> None:
    key = "/" + fresh()
    ref = payloads.put(key, b"x")
    assert (ref.key, payloads.read(ref)) == (key, b"x")
    assert payloads.find(key[1:]) is None


def test_a_key_over_1023_bytes_is_refused_before_it_is_sent(payloads: Payloads) -> None:
    with pytest.raises(InvalidInput, match="1023"):
        payloads.put("中" * 342, b"x")


def test_the_reference_has_size_and_sum(payloads: Payloads) -> None:
    data = "内容".encode()
    ref = payloads.put(fresh(), data)
    assert (ref.size, ref.sha256) == (6, hashlib.sha256(data).hexdigest())


def test_the_same_bytes_again_are_quiet_and_others_conflict(payloads: Payloads) -> None:
    key = fresh()
    first = payloads.put(key, b"one")
    assert payloads.put(key, b"one") == first
    with pytest.raises(ResultConflict) as caught:
        payloads.put(key, b"two")
    assert (caught.value.key, caught.value.stored) == (key, first.sha256)
    assert caught.value.wanted == hashlib.sha256(b"two").hexdigest()
    assert caught.value.effect_applied is False
    assert payloads.read(first) == b"one"


def test_keep_says_who_was_first(payloads: Payloads) -> None:
    key = fresh()
    first = payloads.keep(key, b"one")
    second = payloads.keep(key, b"two")
    assert (first.created, second.created) == (True, False)
    assert second.ref == first.ref


def test_eight_writers_of_one_key_have_one_winner(payloads: Payloads) -> None:
    key = fresh()
    created: list[bool] = []

    def write(number: int) -> None:
        created.append(payloads.keep(key, b"%d" % number).created)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(created) == [False] * 7 + [True]


def test_an_object_put_by_others_is_summed_by_reading(payloads: Payloads) -> None:
    key = fresh()
    payloads.bucket._client.put_object(key, b"by hand")
    found = payloads.find(key)
    assert found is not None
    assert found.sha256 == hashlib.sha256(b"by hand").hexdigest()
    assert payloads.put(key, b"by hand") == found


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sha256": "0" * 64}, "content differs"),
        ({"size": 3}, "size differs"),
        ({"size": 5}, "size differs"),
        ({"uri": "oss://stepkeeper-tests/nowhere"}, "missing"),
        ({"size": 10**9}, "too large"),
    ],
)
def test_reading_checks_the_reference(payloads: Payloads, change: dict[str, object], reason: str) -> None:
    ref = payloads.put(fresh(), b"data")
    with pytest.raises(InvalidInput) as caught:
        payloads.read(PayloadRef(**{**ref.model_dump(), **change}))
    assert caught.value.reason == reason


def test_an_empty_object_is_an_object(payloads: Payloads) -> None:
    ref = payloads.put(fresh(), b"")
    assert payloads.read(ref) == b""


def test_removing_leaves_what_somebody_else_stored(payloads: Payloads) -> None:
    key = fresh()
    mine = payloads.put(key, b"mine")
    payloads.bucket.remove(key)
    theirs = payloads.put(key, b"theirs")
    assert payloads.remove(mine) is False
    assert payloads.find(key) == theirs
    assert payloads.remove(theirs) is True
    assert payloads.remove(theirs) is False


def test_texts_are_inline_or_stored_and_read_alike(payloads: Payloads) -> None:
    short, long = payloads.pack("短", fresh()), payloads.pack("长" * 900, fresh())
    assert isinstance(short, Inline)
    assert isinstance(long, PayloadRef)
    assert (payloads.read_text(short), payloads.read_text(long)) == ("短", "长" * 900)
    with pytest.raises(SystemFault, match="UTF-8"):
        payloads.read_text(payloads.put(fresh(), b"\xff\xfe"))


def test_no_two_task_ids_share_a_folder() -> None:
    ids = ["a", "a/b", "a%2Fb", ".", "..", "%2E", "a b", "a+b", "任务", "..."]
    keys = [object_key("results", task_id, "result.md") for task_id in ids]
    assert len(set(keys)) == len(ids)
    assert all(key.count("/") == 2 and "/../" not in key and "/./" not in key for key in keys)


def test_credentials_are_those_of_the_moment(cloud: pytest.MonkeyPatch, payloads: Payloads) -> None:
    ref = payloads.put(fresh(), b"x")
    cloud.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "wrong")
    with pytest.raises(SystemFault, match="403"):
        payloads.read(ref)
    cloud.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "local")
    assert payloads.read(ref) == b"x"
    cloud.delenv("ALIBABA_CLOUD_ACCESS_KEY_ID")
    with pytest.raises(SystemFault, match="no credentials"):
        payloads.read(ref)


def test_without_a_region_the_older_signature_serves(cloud: pytest.MonkeyPatch, payloads: Payloads) -> None:
    ref = payloads.put(fresh(), b"x")
    cloud.delenv("ALIBABA_CLOUD_REGION")
    cloud.delenv("FC_REGION", raising=False)
    assert Payloads.open().read(ref) == b"x"


def test_a_security_token_travels_with_each_request(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "secret")
    monkeypatch.setenv("ALIBABA_CLOUD_REGION", "cn-hangzhou")
    bucket = Bucket(server.url, "some-bucket")
    server.answers = [Answer(500)]
    seen = []
    for token in ("token-1", "token-2"):
        monkeypatch.setenv("ALIBABA_CLOUD_SECURITY_TOKEN", token)
        with pytest.raises(TemporaryUpstreamError):
            _post(bucket)
        seen.append(server.asked[-1].headers["x-oss-security-token"])
    assert seen == ["token-1", "token-2"]


def test_renewed_credentials_are_used_by_every_upload_that_starts_after(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case C58: nothing is kept, so there is no refresh that five uploads could do at once, or too early."""
    for name, value in {"ACCESS_KEY_ID": "id", "ACCESS_KEY_SECRET": "s", "REGION": "cn-hangzhou"}.items():
        monkeypatch.setenv(f"ALIBABA_CLOUD_{name}", value)
    bucket = Bucket(server.url, "some-bucket")
    server.answers = [Answer(200)]
    for token in ("token-1", "token-2", "token-3"):
        monkeypatch.setenv("ALIBABA_CLOUD_SECURITY_TOKEN", token)
        before = len(server.asked)
        uploads = [threading.Thread(target=bucket.put_new, args=(f"{token}/{n}", b"x", "text/plain")) for n in range(5)]
        for upload in uploads:
            upload.start()
        for upload in uploads:
            upload.join()
        assert {asked.headers["x-oss-security-token"] for asked in server.asked[before:]} == {token}
        assert len(server.asked) == before + 5


def test_a_missing_bucket_says_how_to_make_it(cloud: pytest.MonkeyPatch) -> None:
    cloud.setenv("OSS_BUCKET", "not-made-yet")
    with pytest.raises(SystemFault, match=r"provision\.py"):
        Payloads.open().put("k", b"x")


def test_provisioning_a_bucket_twice_is_quiet(cloud: pytest.MonkeyPatch, payloads: Payloads) -> None:
    made = Bucket(payloads.bucket.endpoint, "made-" + uuid.uuid4().hex[:8])
    assert (made.provision(), made.provision()) == (True, False)
    assert made.put_new("k", b"x", "text/plain") is True


def test_nobody_listening_is_temporary(cloud: pytest.MonkeyPatch) -> None:
    cloud.setenv("OSS_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
    payloads = Payloads.open()
    with pytest.raises(TemporaryUpstreamError):
        payloads.put("k", b"x")
    with pytest.raises(TemporaryUpstreamError):
        payloads.find("k")


@pytest.mark.parametrize(
    ("endpoint", "bucket"), [("", "b"), ("http://127.0.0.1:1", ""), ("http://127.0.0.1:1", "NO GOOD")]
)
def test_settings_that_cannot_work_are_a_system_fault(endpoint: str, bucket: str) -> None:
    with pytest.raises(SystemFault, match="OSS_BUCKET"):
        Payloads.open(Settings(oss_endpoint=endpoint, oss_bucket=bucket))


def _post(bucket: Bucket) -> None:
    """A POST, the only method the loopback server knows."""
    bucket._call(lambda: bucket._client.append_object("k", 0, b"x"))


def test_a_put_that_was_applied_although_the_answer_was_an_error_is_a_success(
    cloud: pytest.MonkeyPatch, payloads: Payloads
) -> None:
    import oss2

    real = payloads.bucket._client.put_object

    def applied_then_broken(*args: object, **named: object) -> None:
        real(*args, **named)
        raise oss2.exceptions.RequestError(ConnectionResetError("reset"))

    cloud.setattr(payloads.bucket._client, "put_object", applied_then_broken)
    key = fresh()
    assert payloads.keep(key, b"mine").created is True
    cloud.undo()


def test_a_put_that_was_not_applied_is_temporary(cloud: pytest.MonkeyPatch, payloads: Payloads) -> None:
    import oss2

    def broken(*args: object, **named: object) -> None:
        raise oss2.exceptions.RequestError(ConnectionResetError("reset"))

    with cloud.context() as patch:
        patch.setattr(payloads.bucket._client, "put_object", broken)
        key = fresh()
        with pytest.raises(TemporaryUpstreamError):
            payloads.keep(key, b"mine")
    assert payloads.find(key) is None
