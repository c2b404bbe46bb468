"""A second opinion: what moto's S3 server and our service have in common answers alike (oss2, signature V1).

What is left out is what the OSS reference page, section 5, saw moto do wrong or not at all: V4, forbid-overwrite, copy,
metadata, Content-MD5, CRC64, listings, batch delete, multipart, append, tags, presigned checks, secrets, request ids,
bucketInfo, ACL.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from email.utils import formatdate

import oss2
import pytest
from oss_clients import CREDENTIALS, oss2_bucket

from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import OssStore, create_app


@pytest.fixture(scope="module", params=["ours", "moto"])
def bucket(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[oss2.Bucket]:
    if request.param == "ours":
        store = OssStore(tmp_path_factory.mktemp("ours"))
        with store, ServiceHost(create_app(store, credentials=CREDENTIALS, clock=RealClock())) as host:
            yield made(host.endpoint)
        return
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    address, port = server.get_host_and_port()
    try:
        yield made(f"http://{address}:{port}")
    finally:
        server.stop()


def made(endpoint: str) -> oss2.Bucket:
    bucket = oss2_bucket(endpoint, "v1", name="moto-bucket")
    bucket.enable_crc = False  # moto sends none
    bucket.create_bucket()
    return bucket


@pytest.mark.parametrize("key", ["plain", "a/deep/key", "中文/键 +%.txt", "emoji 😀"])
def test_put_get_head_exists_delete(bucket: oss2.Bucket, key: str) -> None:
    result = bucket.put_object(key, b"content")
    assert result.etag.upper() == "9A0364B9E99BB480DD25E1F0284C8555"
    assert bucket.get_object(key).read() == b"content"
    assert bucket.head_object(key).content_length == 7
    assert bucket.object_exists(key)
    bucket.put_object(key, b"other")
    assert bucket.get_object(key).read() == b"other"
    bucket.delete_object(key)
    assert not bucket.object_exists(key)
    bucket.delete_object(key)


@pytest.mark.parametrize(
    ("asked", "expected"), [((0, 2), b"012"), ((7, None), b"789"), ((None, 3), b"789"), ((8, 99), b"89")]
)
def test_ranges(bucket: oss2.Bucket, asked: tuple[int | None, int | None], expected: bytes) -> None:
    bucket.put_object("ranged", b"0123456789")
    assert bucket.get_object("ranged", byte_range=asked).read() == expected


def refused(call: object, *arguments: object, **named: object) -> tuple[int, str]:
    with pytest.raises(oss2.exceptions.ServerError) as error:
        call(*arguments, **named)  # type: ignore[operator]
    return error.value.status, error.value.code


def test_refusals(bucket: oss2.Bucket) -> None:
    bucket.put_object("there", b"0123456789")
    stranger = oss2.Bucket(bucket.auth, bucket.endpoint, "no-such-bucket")
    assert refused(bucket.get_object, "absent") == (404, "NoSuchKey")
    assert refused(stranger.get_object, "absent") == (404, "NoSuchBucket")
    assert refused(bucket.delete_bucket) == (409, "BucketNotEmpty")
    assert refused(bucket.get_object, "there", byte_range=(10, None)) == (416, "InvalidRange")


def test_conditional_reads(bucket: oss2.Bucket) -> None:
    bucket.put_object("conditional", b"x")
    etag = bucket.head_object("conditional").etag
    past, future = formatdate(1, usegmt=True), formatdate(4e9, usegmt=True)
    for header in ({"If-None-Match": f'"{etag}"'}, {"If-Modified-Since": future}):
        assert refused(bucket.get_object, "conditional", headers=header)[0] == 304
    for header in ({"If-Match": '"0"'}, {"If-Unmodified-Since": past}):
        assert refused(bucket.get_object, "conditional", headers=header) == (412, "PreconditionFailed")
    assert bucket.get_object("conditional", headers={"If-Match": f'"{etag}"'}).read() == b"x"
