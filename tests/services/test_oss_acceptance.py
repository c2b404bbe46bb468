"""The acceptance list of the OSS reference page, each probe with both SDKs and both signatures."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import oss2
import pytest
import requests
from oss_clients import BUCKET, CREDENTIALS, FLAVOURS, Face, Refused, face, oss2_bucket, v2_client

from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import OssStore, create_app
from local_sim.services.oss.checksums import crc64

PART = 100 * 1024


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = OssStore(tmp_path_factory.mktemp("oss"))
    with store, ServiceHost(create_app(store, credentials=CREDENTIALS, clock=RealClock())) as host:
        yield host.endpoint


@pytest.fixture(params=FLAVOURS)
def sdk(request: pytest.FixtureRequest, endpoint: str) -> Iterator[Face]:
    bucket = oss2_bucket(endpoint, "v1")
    bucket.create_bucket()
    yield face(request.param, endpoint)
    for upload in oss2.MultipartUploadIterator(bucket):
        bucket.abort_multipart_upload(upload.key, upload.upload_id)
    for row in oss2.ObjectIterator(bucket):
        bucket.delete_object(row.key)


@pytest.mark.parametrize("key", ["plain", "a/deep/key", "文件/键 +%.txt"])
def test_put_get_head_exists_delete(sdk: Face, key: str) -> None:
    data = b"0123456789" * 10
    assert sdk.put(key, data) == crc64(data)
    assert sdk.get(key) == data
    head = sdk.head(key)
    assert head["content-length"] == "100"
    assert head["etag"] == f'"{hashlib.md5(data).hexdigest().upper()}"'
    assert sdk.exists(key)
    sdk.delete(key)
    assert not sdk.exists(key)
    sdk.delete(key)  # deleting what is not there is fine


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("bytes=0-2", b"012"),
        ("bytes=7-", b"789"),
        ("bytes=-3", b"789"),
        ("bytes=8-99", b"89"),
        ("bytes=-99", b"0123456789"),
        ("bytes=5-2", b"0123456789"),
        ("lines=0-2", b"0123456789"),
    ],
)
def test_range(sdk: Face, asked: str, expected: bytes) -> None:
    sdk.put("ranged", b"0123456789")
    assert sdk.get("ranged", {"Range": asked}) == expected


def test_range_behind_the_end_is_invalid(sdk: Face) -> None:
    sdk.put("ranged", b"0123456789")
    with pytest.raises(Refused) as refused:
        sdk.get("ranged", {"Range": "bytes=10-"})
    assert (refused.value.code, refused.value.status) == ("InvalidRange", 416)


def test_absent_key_and_bucket(sdk: Face) -> None:
    with pytest.raises(Refused) as refused:
        sdk.get("absent")
    assert (refused.value.code, refused.value.status) == ("NoSuchKey", 404)
    assert len(refused.value.request_id) == 24
    assert refused.value.ec == "0026-00000001"
    with pytest.raises(Refused) as refused:
        sdk.in_bucket("no-such-bucket").get("absent")
    assert (refused.value.code, refused.value.status) == ("NoSuchBucket", 404)


def test_head_carries_its_error_in_a_header(sdk: Face) -> None:
    with pytest.raises(Refused) as refused:
        sdk.head("absent")
    assert (refused.value.code, refused.value.status) == ("NoSuchKey", 404)
    assert len(refused.value.request_id) == 24


def test_bucket_with_objects_or_uploads_is_not_deleted(sdk: Face) -> None:
    sdk.put("one", b"1")
    with pytest.raises(Refused, match="BucketNotEmpty"):
        sdk.delete_bucket()
    sdk.delete("one")
    upload = sdk.start_upload("one")
    with pytest.raises(Refused, match="BucketNotEmpty"):
        sdk.delete_bucket()
    sdk.abort("one", upload)
    sdk.delete_bucket()
    with pytest.raises(Refused, match="NoSuchBucket"):
        sdk.get("one")
    oss2_bucket(sdk.endpoint, "v1").create_bucket()


def test_conditional_reads(sdk: Face) -> None:
    sdk.put("conditional", b"x")
    etag = sdk.head("conditional")["etag"]
    past, future = formatdate(1, usegmt=True), formatdate(4e9, usegmt=True)
    for headers in ({"If-None-Match": etag}, {"If-Modified-Since": future}):
        with pytest.raises(Refused) as refused:
            sdk.get("conditional", headers)
        assert (refused.value.code, refused.value.status) == ("NotModified", 304)
    for headers in ({"If-Match": '"0"'}, {"If-Unmodified-Since": past}):
        with pytest.raises(Refused) as refused:
            sdk.get("conditional", headers)
        assert (refused.value.code, refused.value.status) == ("PreconditionFailed", 412)
    for headers in ({"If-Match": etag}, {"If-None-Match": '"0"'}, {"If-Modified-Since": past}):
        assert sdk.get("conditional", headers) == b"x"


def test_forbid_overwrite_for_put_copy_and_multipart(sdk: Face) -> None:
    forbid = {"x-oss-forbid-overwrite": "true"}
    sdk.put("claim", b"first", forbid)
    sdk.put("other", b"second")
    upload = sdk.start_upload("claim")
    etag = sdk.upload_part("claim", upload, 1, b"third")
    attempts = [
        lambda: sdk.put("claim", b"second", forbid),
        lambda: sdk.copy("other", "claim", forbid),
        lambda: sdk.start_upload("claim", forbid),
        lambda: sdk.complete("claim", upload, [(1, etag)], forbid),
    ]
    for attempt in attempts:
        with pytest.raises(Refused) as refused:
            attempt()
        assert (refused.value.code, refused.value.status) == ("FileAlreadyExists", 409)
    assert sdk.get("claim") == b"first"
    sdk.put("claim", b"second", {"x-oss-forbid-overwrite": "false"})
    assert sdk.get("claim") == b"second"


def test_forbid_overwrite_of_the_start_counts_at_completion(sdk: Face) -> None:
    upload = sdk.start_upload("claim", {"x-oss-forbid-overwrite": "true"})
    etag = sdk.upload_part("claim", upload, 1, b"multipart")
    sdk.put("claim", b"first")
    with pytest.raises(Refused, match="FileAlreadyExists"):
        sdk.complete("claim", upload, [(1, etag)])
    assert sdk.get("claim") == b"first"


@pytest.mark.parametrize("value", ["yes", "1", "truefalse"])
def test_forbid_overwrite_is_true_or_false(sdk: Face, value: str) -> None:
    with pytest.raises(Refused) as refused:
        sdk.put("claim", b"x", {"x-oss-forbid-overwrite": value})
    assert (refused.value.code, refused.value.status) == ("InvalidArgument", 400)
    assert not sdk.exists("claim")


def test_copy_has_content_and_metadata(sdk: Face) -> None:
    sdk.put("源/one", b"content", {"x-oss-meta-owner": "me", "Content-Type": "text/x-one", "x-oss-tagging": "a=1"})
    sdk.copy("源/one", "two")
    sdk.copy("源/one", "three", {"x-oss-metadata-directive": "REPLACE", "x-oss-meta-owner": "you"})
    assert sdk.get("two") == sdk.get("three") == b"content"
    assert (sdk.head("two")["x-oss-meta-owner"], sdk.head("two")["content-type"]) == ("me", "text/x-one")
    assert sdk.head("three")["x-oss-meta-owner"] == "you"
    assert sdk.tags("two") == {"a": "1"}
    sdk.delete("源/one")
    assert sdk.get("two") == b"content"
    with pytest.raises(Refused, match="NoSuchKey"):
        sdk.copy("源/one", "four")


def test_copy_onto_itself_replaces_metadata(sdk: Face) -> None:
    sdk.put("self", b"content", {"x-oss-meta-a": "1"})
    sdk.copy("self", "self", {"x-oss-metadata-directive": "REPLACE", "x-oss-meta-b": "2"})
    assert sdk.get("self") == b"content"
    head = sdk.head("self")
    assert (head.get("x-oss-meta-a"), head["x-oss-meta-b"]) == (None, "2")


def test_conditional_copy(sdk: Face) -> None:
    sdk.put("one", b"content")
    with pytest.raises(Refused, match="PreconditionFailed"):
        sdk.copy("one", "two", {"x-oss-copy-source-if-match": '"0"'})
    assert not sdk.exists("two")


def test_metadata_and_stored_headers(sdk: Face) -> None:
    headers = {
        "x-oss-meta-task": "t-1",
        "x-oss-meta-Step": "s",
        "Cache-Control": "no-cache",
        "Content-Type": "text/plain",
    }
    sdk.put("meta", b"x", headers)
    head = sdk.head("meta")
    assert (head["x-oss-meta-task"], head["x-oss-meta-step"]) == ("t-1", "s")
    assert (head["cache-control"], head["content-type"]) == ("no-cache", "text/plain")
    assert (head["x-oss-object-type"], head["x-oss-storage-class"]) == ("Normal", "Standard")


@pytest.mark.parametrize("digest", [base64.b64encode(b"0" * 16).decode(), "not base64", ""])
def test_wrong_content_md5(sdk: Face, digest: str) -> None:
    sdk.put("checked", b"old")
    if digest:
        with pytest.raises(Refused) as refused:
            sdk.put("checked", b"new", {"Content-MD5": digest})
        assert (refused.value.code, refused.value.status) == ("InvalidDigest", 400)
        assert sdk.get("checked") == b"old"
    right = base64.b64encode(hashlib.md5(b"new").digest()).decode()
    sdk.put("checked", b"new", {"Content-MD5": right})
    assert sdk.get("checked") == b"new"


def test_crc64_is_sent_with_get_and_head(sdk: Face) -> None:
    data = bytes(range(256)) * 999
    assert sdk.put("crc", data) == oss_crc(data)
    assert int(sdk.head("crc")["x-oss-hash-crc64ecma"]) == oss_crc(data)


def oss_crc(data: bytes) -> int:
    value = oss2.utils.Crc64()
    value.update(data)
    return int(value.crc)


@pytest.mark.parametrize("version", ["keys_v1", "keys_v2"])
def test_listings_page_group_and_sort(sdk: Face, version: str) -> None:
    keys = ["a", "b/1", "b/2", "b/c/3", "d", "é", "中", "😀"]
    for key in reversed(keys):
        sdk.put(key, b"x")
    listed = getattr(sdk, version)
    assert listed() == keys
    assert listed(page=1) == keys
    assert listed(page=1000) == keys
    assert listed(delimiter="/") == ["a", "b/", "d", "é", "中", "😀"]
    assert listed(prefix="b/", delimiter="/", page=1) == ["b/1", "b/2", "b/c/"]
    assert listed(prefix="b/") == ["b/1", "b/2", "b/c/3"]
    assert listed(prefix="zzz") == []


def test_list_buckets(sdk: Face) -> None:
    assert BUCKET in sdk.buckets()


def test_batch_delete(sdk: Face) -> None:
    keys = ["a", "b c+d", "中/文&<>"]
    for key in keys:
        sdk.put(key, b"x")
    assert sdk.batch_delete([*keys, "absent"]) == [*keys, "absent"]
    assert sdk.keys_v1() == []


def test_multipart(sdk: Face) -> None:
    upload = sdk.start_upload("大/multi", {"x-oss-meta-a": "b"})
    assert sdk.uploads() == [("大/multi", upload)]
    data = [b"a" * PART, b"b" * PART, b"c"]
    etags = [sdk.upload_part("大/multi", upload, number + 1, part) for number, part in enumerate(data)]
    etags[0] = sdk.upload_part("大/multi", upload, 1, data[0])  # sending a part again replaces it
    assert sdk.parts("大/multi", upload) == [(1, PART), (2, PART), (3, 1)]
    sdk.complete("大/multi", upload, [(number + 1, etag) for number, etag in enumerate(etags)])
    assert sdk.get("大/multi") == b"".join(data)
    head = sdk.head("大/multi")
    assert (head["x-oss-meta-a"], head["x-oss-object-type"], head["etag"][-3:-1]) == ("b", "Multipart", "-3")
    assert int(head["x-oss-hash-crc64ecma"]) == crc64(b"".join(data))
    assert sdk.get("大/multi", {"Range": f"bytes={PART - 1}-{PART}"}) == b"ab"
    assert sdk.uploads() == []
    with pytest.raises(Refused, match="NoSuchUpload"):
        sdk.complete("大/multi", upload, [(1, etags[0])])


def test_multipart_refusals(sdk: Face) -> None:
    upload = sdk.start_upload("multi")
    small, large = (
        sdk.upload_part("multi", upload, 1, b"a" * (PART - 1)),
        sdk.upload_part("multi", upload, 2, b"b" * PART),
    )
    with pytest.raises(Refused, match="EntityTooSmall"):
        sdk.complete("multi", upload, [(1, small), (2, large)])
    with pytest.raises(Refused, match="InvalidPart'"):
        sdk.complete("multi", upload, [(2, small)])
    with pytest.raises(Refused, match="InvalidPart'"):
        sdk.complete("multi", upload, [(3, small)])
    with pytest.raises(Refused, match="NoSuchUpload"):
        sdk.upload_part("other", upload, 1, b"a")
    sdk.abort("multi", upload)
    with pytest.raises(Refused, match="NoSuchUpload"):
        sdk.upload_part("multi", upload, 1, b"a")
    assert not sdk.exists("multi")


def test_append(sdk: Face) -> None:
    assert sdk.append("log", 0, b"first,") == 6
    assert sdk.append("log", 6, b"second") == 12
    with pytest.raises(Refused) as refused:
        sdk.append("log", 6, b"again")
    assert (refused.value.code, refused.value.status) == ("PositionNotEqualToLength", 409)
    assert sdk.get("log") == b"first,second"
    assert sdk.get("log", {"Range": "bytes=4-8"}) == b"t,sec"
    head = sdk.head("log")
    assert (head["x-oss-object-type"], int(head["x-oss-hash-crc64ecma"])) == ("Appendable", crc64(b"first,second"))
    sdk.put("normal", b"x")
    with pytest.raises(Refused, match="ObjectNotAppendable"):
        sdk.append("normal", 1, b"y")


def test_a_copied_appendable_object_claims_no_false_md5(sdk: Face) -> None:
    sdk.append("log", 0, b"one")
    sdk.append("log", 3, b"two")
    sdk.copy("log", "copy")
    assert sdk.get("copy") == b"onetwo"
    assert "content-md5" not in sdk.head("copy")


def test_tagging(sdk: Face) -> None:
    sdk.put("tagged", b"x", {"x-oss-tagging": "a=1&b%20c=%E4%B8%AD"})
    assert sdk.tags("tagged") == {"a": "1", "b c": "中"}
    sdk.set_tags("tagged", {"z": "26", "y": ""})
    assert sdk.tags("tagged") == {"y": "", "z": "26"}
    assert sdk.head("tagged")["x-oss-tagging-count"] == "2"
    sdk.delete_tags("tagged")
    assert sdk.tags("tagged") == {}
    with pytest.raises(Refused, match="InvalidTag"):
        sdk.set_tags("tagged", {str(number): "" for number in range(11)})


def test_presigned_get_and_put(sdk: Face) -> None:
    put = requests.put(sdk.presign("PUT", "签/signed +1", 60), data=b"by url", timeout=5)
    assert (put.status_code, len(put.headers["x-oss-request-id"])) == (200, 24)
    got = requests.get(sdk.presign("GET", "签/signed +1", 60), timeout=5)
    assert (got.status_code, got.content) == (200, b"by url")


def test_wrong_secret_and_unknown_key(sdk: Face) -> None:
    flavour = f"{'oss2' if hasattr(sdk, 'bucket') else 'ossv2'}-{sdk.version}"
    for credentials, code in (
        ({"secret": "wrong"}, "SignatureDoesNotMatch"),
        ({"key_id": "unknown"}, "InvalidAccessKeyId"),
    ):
        stranger = face(flavour, sdk.endpoint, **credentials)
        with pytest.raises(Refused) as refused:
            stranger.put("key", b"x")
        assert (refused.value.code, refused.value.status) == (code, 403)
        with pytest.raises(Refused, match=code):
            stranger.head("key")


def test_a_large_refused_upload_still_gets_its_answer(sdk: Face) -> None:
    flavour = f"{'oss2' if hasattr(sdk, 'bucket') else 'ossv2'}-{sdk.version}"
    with pytest.raises(Refused, match="SignatureDoesNotMatch"):
        face(flavour, sdk.endpoint, secret="wrong").put("key", bytes(3_000_000))


def test_bucket_info_and_acl(sdk: Face) -> None:
    assert sdk.info() == (BUCKET, "private", "oss-cn-hangzhou")
    sdk.put("one", b"x")
    assert sdk.object_acl("one") == "default"
    assert sdk.object_acl("one", "public-read") == "public-read"
    url = f"{sdk.endpoint}/{BUCKET}/one"
    assert requests.get(url, timeout=5).content == b"x"
    assert requests.put(url, data=b"y", timeout=5).status_code == 403
    sdk.object_acl("one", "default")
    assert requests.get(url, timeout=5).status_code == 403


def test_symlink(sdk: Face) -> None:
    sdk.put("目标", b"content")
    assert sdk.symlink("link", "目标") == "目标"
    assert sdk.get("link") == b"content"
    assert (sdk.head("link")["x-oss-object-type"], sdk.head("link")["content-length"]) == ("Symlink", "7")
    sdk.symlink("chain", "link")
    with pytest.raises(Refused, match="InvalidTargetType"):
        sdk.get("chain")
    sdk.delete("目标")
    with pytest.raises(Refused, match="SymlinkTargetNotExist"):
        sdk.get("link")


def test_resumable_upload_of_oss2_and_uploader_of_v2(endpoint: str, sdk: Face, tmp_path: Path) -> None:
    import alibabacloud_oss_v2 as v2

    data = bytes(range(256)) * 1600  # 409,600 bytes: four parts of the least size
    source = tmp_path / "source"
    source.write_bytes(data)
    if hasattr(sdk, "bucket"):
        oss2.resumable_upload(
            sdk.bucket,
            "resumable",
            str(source),
            store=oss2.ResumableStore(root=str(tmp_path)),
            multipart_threshold=1,
            part_size=PART,
            num_threads=2,
        )
    else:
        uploader = sdk.client.uploader(
            part_size=PART, parallel_num=2, enable_checkpoint=True, checkpoint_dir=str(tmp_path)
        )
        uploader.upload_file(v2.PutObjectRequest(BUCKET, "resumable"), str(source))
    assert sdk.get("resumable") == data
    assert sdk.head("resumable")["x-oss-object-type"] == "Multipart"


@pytest.mark.parametrize("version", ["v1", "v4"])
def test_virtual_host_style(endpoint: str, version: str, sdk: Face) -> None:
    host = endpoint.replace("http://127.0.0.1", f"{BUCKET}.localhost")
    sdk.put("a/键", b"x")
    url = sdk.presign("GET", "a/键", 60)
    direct = url.replace(f"/{BUCKET}/", "/", 1)
    assert requests.get(direct, headers={"Host": host}, timeout=5).content == b"x"


@pytest.mark.parametrize("version", ["v1", "v4"])
def test_sts_token_is_accepted(endpoint: str, version: str, sdk: Face) -> None:
    import alibabacloud_oss_v2 as v2

    client = v2_client(endpoint, version, token="any-token")
    assert client.put_object(v2.PutObjectRequest(BUCKET, "sts", body=b"x")).status_code == 200
    auth = oss2.StsAuth(next(iter(CREDENTIALS)), next(iter(CREDENTIALS.values())), "any-token", auth_version=version)
    bucket = oss2.Bucket(auth, endpoint, BUCKET, region="cn-hangzhou")
    assert bucket.get_object("sts").read() == b"x"
    assert requests.get(bucket.sign_url("GET", "sts", 60), timeout=5).content == b"x"


@pytest.mark.parametrize(
    "call",
    [
        lambda bucket: bucket.get_bucket_website(),
        lambda bucket: bucket.get_bucket_policy(),
        lambda bucket: bucket.put_bucket_versioning(oss2.models.BucketVersioningConfig("Enabled")),
        lambda bucket: bucket.put_object("k", b"", headers={"x-oss-server-side-encryption": "AES256"}),
        lambda bucket: bucket.put_object("k", b"", headers={"If-None-Match": "*"}),
        lambda bucket: bucket.get_object("k", process="image/resize,w_10"),
        lambda bucket: bucket.get_object("k", params={"versionId": "abc"}),
    ],
)
def test_what_is_not_offered_is_refused_by_name(endpoint: str, sdk: Face, call: object) -> None:
    bucket = oss2_bucket(endpoint, "v4")
    with pytest.raises(oss2.exceptions.NotImplemented) as refused:
        call(bucket)  # type: ignore[operator]
    assert refused.value.status == 400
    assert "local_sim" in refused.value.message
