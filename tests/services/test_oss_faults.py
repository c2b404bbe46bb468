"""A write that was applied although the client heard otherwise: how each SDK shows it; a read-back resolves it."""

from __future__ import annotations

from collections.abc import Iterator

import alibabacloud_oss_v2 as v2
import oss2
import pytest
from oss_clients import BUCKET, CREDENTIALS, oss2_bucket, v2_client

from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.faults import FaultKind, FaultRule, Faults
from local_sim.services.oss import DIALECT, OssStore, create_app

FORBID = {"x-oss-forbid-overwrite": "true", "x-oss-meta-token": "mine"}


class Faulty:
    """A service behind the faults."""

    def __init__(self, endpoint: str, faults: Faults) -> None:
        self.endpoint, self.faults = endpoint, faults

    def arm(self, kind: FaultKind) -> None:
        self.faults.add(FaultRule("oss", "PutObject", kind, times=1))


@pytest.fixture
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    store, faults = OssStore(tmp_path_factory.mktemp("faulty")), Faults()
    app = faults.wrap(create_app(store, credentials=CREDENTIALS, clock=RealClock()), DIALECT)
    with store, ServiceHost(app) as host:
        oss2_bucket(host.endpoint, "v1").create_bucket()
        yield Faulty(host.endpoint, faults)


@pytest.mark.parametrize("kind", [FaultKind.DROP_AFTER, FaultKind.APPLIED_THEN_ERROR])
def test_oss2_sends_once_and_the_read_back_resolves(faulty: Faulty, kind: FaultKind) -> None:
    faulty.arm(kind)
    bucket = oss2_bucket(faulty.endpoint, "v1")
    expected = oss2.exceptions.RequestError if kind is FaultKind.DROP_AFTER else oss2.exceptions.ServerError
    with pytest.raises(expected) as failed:
        bucket.put_object("claim", b"x", headers=FORBID)
    if kind is FaultKind.APPLIED_THEN_ERROR:
        assert (failed.value.status, failed.value.code) == (503, "ServiceUnavailable")
    assert [hit.kind for hit in faulty.faults.hits] == [kind]
    assert bucket.head_object("claim").headers["x-oss-meta-token"] == "mine"


@pytest.mark.parametrize("kind", [FaultKind.DROP_AFTER, FaultKind.APPLIED_THEN_ERROR])
def test_oss_v2_tries_again_and_meets_its_own_upload(faulty: Faulty, kind: FaultKind) -> None:
    faulty.arm(kind)
    client = v2_client(faulty.endpoint, "v4")
    request = v2.PutObjectRequest(BUCKET, "claim", body=b"x", forbid_overwrite=True, metadata={"token": "mine"})
    with pytest.raises(v2.exceptions.OperationError) as failed:
        client.put_object(request)
    assert failed.value.unwrap().code == "FileAlreadyExists"
    assert client.head_object(v2.HeadObjectRequest(BUCKET, "claim")).metadata == {"token": "mine"}


def test_a_duplicate_delivery_changes_nothing(faulty: Faulty) -> None:
    faulty.arm(FaultKind.DUPLICATE)
    bucket = oss2_bucket(faulty.endpoint, "v4")
    assert bucket.put_object("claim", b"x", headers=FORBID).status == 200
    assert bucket.get_object("claim").read() == b"x"


@pytest.mark.parametrize(
    ("method", "path", "query", "name"),
    [
        ("GET", "/", "", "ListBuckets"),
        ("GET", "/abc", "list-type=2", "ListObjectsV2"),
        ("PUT", "/abc/k", "", "PutObject"),
        ("PUT", "/abc/k", "uploadId=u&partNumber=1", "UploadPart"),
        ("POST", "/abc/k", "append&position=0", "AppendObject"),
        ("PATCH", "/abc/k", "", "Unknown"),
        ("GET", "/A", "", "Unknown"),
    ],
)
def test_operations_have_their_names(method: str, path: str, query: str, name: str) -> None:
    scope = {"method": method, "raw_path": path.encode(), "query_string": query.encode(), "headers": []}
    assert DIALECT.api_of(scope, b"") == name


def test_copies_are_told_from_puts() -> None:
    headers = [(b"x-oss-copy-source", b"/abc/k")]
    scope = {"method": "PUT", "raw_path": b"/abc/new", "query_string": b"", "headers": headers}
    assert DIALECT.api_of(scope, b"") == "CopyObject"
    scope["query_string"] = b"uploadId=u&partNumber=1"
    assert DIALECT.api_of(scope, b"") == "UploadPartCopy"


@pytest.mark.parametrize(("code", "status"), [(None, 503), ("NoSuchKey", 404), ("MadeUp", 503)])
def test_injected_errors_look_like_the_service(code: str | None, status: int) -> None:
    reply = DIALECT.error(code)
    assert reply.status == status
    assert f"<Code>{code or 'ServiceUnavailable'}</Code>".encode() in reply.body
