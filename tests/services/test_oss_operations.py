"""Beyond the acceptance list: part copies, paged listings of uploads, bucket settings, and disks that fail."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import oss2
import pytest
import requests
from oss_clients import CREDENTIALS, oss2_bucket

from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import ApiError, OssStore, body, create_app
from local_sim.services.oss.committer import Committer
from local_sim.services.oss.model import Attributes, Bucket

PART = 100 * 1024
NAME = "more-bucket"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OssStore]:
    with OssStore(tmp_path / "oss") as store:
        yield store


@pytest.fixture
def bucket(store: OssStore) -> Iterator[oss2.Bucket]:
    with ServiceHost(create_app(store, credentials=CREDENTIALS, clock=RealClock())) as host:
        bucket = oss2_bucket(host.endpoint, "v4", name=NAME)
        bucket.create_bucket()
        yield bucket


def test_parts_are_copied_whole_or_by_range(bucket: oss2.Bucket) -> None:
    data = bytes(range(256)) * 800
    bucket.put_object("源", data)
    upload = bucket.init_multipart_upload("joined").upload_id
    first = bucket.upload_part_copy(NAME, "源", (0, PART - 1), "joined", upload, 1)
    second = bucket.upload_part_copy(NAME, "源", (None, None), "joined", upload, 2)
    parts = [oss2.models.PartInfo(number, part.etag) for number, part in enumerate((first, second), 1)]
    bucket.complete_multipart_upload("joined", upload, parts)
    assert bucket.get_object("joined").read() == data[:PART] + data


def test_a_part_copy_of_nothing_is_refused(bucket: oss2.Bucket) -> None:
    upload = bucket.init_multipart_upload("joined").upload_id
    with pytest.raises(oss2.exceptions.NoSuchKey):
        bucket.upload_part_copy(NAME, "absent", (0, 10), "joined", upload, 1)
    bucket.put_object("short", b"x")
    with pytest.raises(oss2.exceptions.ServerError) as refused:
        bucket.upload_part_copy(NAME, "short", (1, 10), "joined", upload, 1)
    assert refused.value.code == "InvalidRange"


def test_complete_all_takes_every_part(bucket: oss2.Bucket) -> None:
    upload = bucket.init_multipart_upload("all").upload_id
    for number, data in ((1, b"a" * PART), (7, b"b")):
        bucket.upload_part("all", upload, number, data)
    bucket.complete_multipart_upload("all", upload, None, headers={"x-oss-complete-all": "yes"})
    assert bucket.get_object("all").read() == b"a" * PART + b"b"
    with pytest.raises(oss2.exceptions.InvalidArgument):
        bucket.complete_multipart_upload("all", upload, None, headers={"x-oss-complete-all": "no"})


def test_uploads_are_listed_page_by_page_and_grouped(bucket: oss2.Bucket) -> None:
    keys = ["a", "a", "b/1", "b/2", "c"]
    ids = [bucket.init_multipart_upload(key).upload_id for key in keys]
    for size in (1, 2, 10):
        rows = list(oss2.MultipartUploadIterator(bucket, max_uploads=size))
        assert [row.key for row in rows] == keys
        assert sorted(row.upload_id for row in rows) == sorted(ids)
        grouped = list(oss2.MultipartUploadIterator(bucket, delimiter="/", max_uploads=size))
        assert [row.key for row in grouped] == ["a", "a", "b/", "c"]
    assert [row.key for row in oss2.MultipartUploadIterator(bucket, prefix="b/")] == ["b/1", "b/2"]


def test_parts_are_listed_page_by_page(bucket: oss2.Bucket) -> None:
    upload = bucket.init_multipart_upload("paged").upload_id
    for number in (3, 1, 2):
        bucket.upload_part("paged", upload, number, b"%d" % number)
    assert [part.part_number for part in oss2.PartIterator(bucket, "paged", upload, max_parts=2)] == [1, 2, 3]


def test_bucket_settings(bucket: oss2.Bucket) -> None:
    bucket.put_object("one", b"12345")
    stat = bucket.get_bucket_stat()
    assert (stat.storage_size_in_bytes, stat.object_count, stat.multi_part_upload_count) == (5, 1, 0)
    assert bucket.get_bucket_location().location == "oss-cn-hangzhou"
    assert bucket.get_bucket_versioning().status is None
    bucket.put_bucket_acl("public-read")
    assert (bucket.get_bucket_acl().acl, bucket.get_bucket_info().acl.grant) == ("public-read", "public-read")
    with pytest.raises(oss2.exceptions.InvalidArgument):
        bucket.put_bucket_acl("everybody")
    assert requests.get(f"{bucket.endpoint}/{NAME}/one", timeout=5).content == b"12345"


def test_a_bucket_is_created_with_its_class_and_only_once(bucket: oss2.Bucket) -> None:
    other = oss2.Bucket(bucket.auth, bucket.endpoint, "cold-bucket", region="cn-hangzhou")
    other.create_bucket("public-read", oss2.models.BucketCreateConfig("IA", "ZRS"))
    other.create_bucket("private")
    info = other.get_bucket_info()
    assert (info.storage_class, info.data_redundancy_type, info.acl.grant) == ("IA", "ZRS", "public-read")
    with pytest.raises(oss2.exceptions.InvalidArgument):
        other.create_bucket(input=oss2.models.BucketCreateConfig("Tepid"))


def test_buckets_are_listed_page_by_page(bucket: oss2.Bucket) -> None:
    for name in ("aaa", "bbb", "bbc"):
        oss2.Bucket(bucket.auth, bucket.endpoint, name, region="cn-hangzhou").create_bucket()
    service = oss2.Service(bucket.auth, bucket.endpoint, region="cn-hangzhou")
    assert [row.name for row in oss2.BucketIterator(service, max_keys=1)] == ["aaa", "bbb", "bbc", NAME]
    assert [row.name for row in oss2.BucketIterator(service, prefix="bb", max_keys=1)] == ["bbb", "bbc"]


def test_object_meta_and_response_headers(bucket: oss2.Bucket) -> None:
    bucket.put_object("one", b"12345", headers={"Content-Type": "text/plain"})
    meta = bucket.get_object_meta("one")
    assert (meta.content_length, meta.etag) == (5, "827CCB0EEA8A706C4C34A16891F84E7B")
    got = bucket.get_object("one", params={"response-content-type": "a/b", "response-cache-control": "no-store"})
    assert (got.headers["content-type"], got.headers["cache-control"]) == ("a/b", "no-store")
    with pytest.raises(oss2.exceptions.InvalidArgument):
        bucket.get_object("one", params={"response-content-type": "a\r\nSet-Cookie: b"})


def test_too_large_an_object_is_refused(bucket: oss2.Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "MAX_OBJECT_BYTES", 1_000_000)
    with pytest.raises(oss2.exceptions.ServerError) as refused:
        bucket.put_object("large", bytes(3_000_000))
    assert (refused.value.status, refused.value.code) == (400, "EntityTooLarge")
    assert not bucket.object_exists("large")


def test_a_full_disk_is_an_internal_error_and_leaves_the_old_object(
    bucket: oss2.Bucket, store: OssStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put_object("key", b"old" * 9000)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(oss2.exceptions.ServerError) as failed:
            bucket.put_object("key", b"new" * 9000)
    assert (failed.value.status, failed.value.code) == (500, "InternalError")
    assert "space" not in failed.value.message
    assert bucket.get_object("key").read() == b"old" * 9000
    assert list((store.folder / "incoming").iterdir()) == []


def test_copies_work_without_hard_links(bucket: oss2.Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put_object("large", b"content" * 9000)

    def unable(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", unable)
    assert bucket.copy_object(NAME, "large", "copy").etag == bucket.head_object("large").etag
    bucket.delete_object("large")
    assert bucket.get_object("copy").read() == b"content" * 9000


def test_a_failed_copy_leaves_no_file(bucket: oss2.Bucket, store: OssStore) -> None:
    bucket.put_object("large", b"content" * 9000)
    for _ in range(3):
        with pytest.raises(oss2.exceptions.ServerError):
            bucket.copy_object(NAME, "large", "large", headers={"x-oss-forbid-overwrite": "true"})
    assert len([path for path in (store.folder / "blobs").rglob("*") if path.is_file()]) == 1


class Failing(sqlite3.Connection):
    """A connection whose next commit fails."""

    armed = False

    def execute(self, sql: str, *arguments: object) -> sqlite3.Cursor:
        if sql == "COMMIT" and self.armed:
            self.armed = False
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, *arguments)  # type: ignore[arg-type]


def test_a_failed_commit_reaches_the_caller_and_changes_nothing() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Failing)
    connection.execute("CREATE TABLE t (x)")
    committer = Committer(connection)
    connection.armed = True  # type: ignore[attr-defined]
    with pytest.raises(sqlite3.OperationalError, match="disk I/O"):
        committer.run(lambda inside: inside.execute("INSERT INTO t VALUES (1)").rowcount)
    assert committer.run(lambda inside: inside.execute("SELECT count(*) FROM t").fetchone()[0]) == 0
    assert committer.run(lambda inside: inside.execute("INSERT INTO t VALUES (2)").rowcount) == 1
    committer.close()


def test_a_file_of_a_refused_put_is_discarded(store: OssStore) -> None:
    store.create_bucket(Bucket(NAME, 0))
    for bucket in ("absent-bucket", NAME):
        writer = store.write()
        writer.write(bytes(20_000))
        if bucket == NAME:
            store.put(bucket, "key", writer.seal(), Attributes(), now_ms=0, forbid=True)
            continue
        with pytest.raises(ApiError, match="NoSuchBucket"):
            store.put(bucket, "key", writer.seal(), Attributes(), now_ms=0)
    assert len([path for path in (store.folder / "blobs").rglob("*") if path.is_file()]) == 1
