"""Whatever comes over the wire, the answer is OSS's error XML: never a dropped connection, never a status 500."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oss_clients import BUCKET, CREDENTIALS, KEY_ID, oss2_bucket

from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import OssStore, create_app
from local_sim.services.oss.signing_v1 import SUBRESOURCES


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a service that takes any signature, so that bad requests get as far as they can."""
    store = OssStore(tmp_path_factory.mktemp("bad"))
    with store, ServiceHost(create_app(store, credentials=None, clock=RealClock())) as host:
        bucket = oss2_bucket(host.endpoint, "v1")
        bucket.create_bucket()
        bucket.put_object("key", b"0123456789")
        yield urlsplit(host.endpoint).netloc


def send(
    address: str, method: str, target: str, headers: dict[str, str], body: bytes = b""
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.putrequest(method, target, skip_host="Host" in headers, skip_accept_encoding=True)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def check(answer: http.client.HTTPResponse, body: bytes, method: str) -> None:
    assert answer.status < 500, body
    assert len(answer.headers["x-oss-request-id"]) == 24
    if answer.status < 400 or method == "HEAD":
        return
    root = ElementTree.fromstring(body)
    assert [child.tag for child in root][:4] == ["Code", "Message", "RequestId", "HostId"]
    assert root.tag == "Error"
    assert root.findtext("Code")
    assert root.findtext("EC")
    assert root.findtext("RequestId") == answer.headers["x-oss-request-id"]


SIGNED = {"Authorization": f"OSS {KEY_ID}:x", "Date": "Mon, 30 Nov 2026 10:00:00 GMT"}
NAMES = sorted(SUBRESOURCES | {"list-type", "max-keys", "prefix", "delimiter", "marker", "encoding-type", "max-parts"})
NAMES += ["max-uploads", "key-marker", "upload-id-marker", "start-after", "fetch-owner", "part-number-marker"]
HEADERS = ["Range", "If-Match", "If-None-Match", "If-Modified-Since", "Content-MD5", "Content-Type", "x-oss-tagging"]
HEADERS += ["x-oss-forbid-overwrite", "x-oss-copy-source", "x-oss-copy-source-range", "x-oss-metadata-directive"]
HEADERS += ["x-oss-object-acl", "x-oss-acl", "x-oss-symlink-target", "x-oss-complete-all", "x-oss-storage-class"]
HEADERS += ["x-oss-meta-a", "x-oss-date", "x-oss-content-sha256", "Authorization", "Host", "Expires"]

methods = st.sampled_from(["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"])
paths = st.one_of(
    st.sampled_from(
        ["/", f"/{BUCKET}", f"/{BUCKET}/", f"/{BUCKET}/key", f"/{BUCKET}/new", "//", "/%", "/..", "/absent-bucket/k"]
    ),
    st.text("/%.abc-01%ff+?#", max_size=20).map(lambda text: f"/{BUCKET}/{text}"),
    st.binary(max_size=8).map(lambda raw: "/" + "".join(f"%{byte:02x}" for byte in raw)),
)
values = st.one_of(
    st.just(""),
    st.integers(-5, 2**70).map(str),
    st.sampled_from(
        ["true", "url", "2", "null", "yes", "%ff", "%00", "a=b", "bytes=0-", "١", "%F0%9F%98%80", "private"]
    ),
    st.text("abc%0123=;,/+-_.~ \"'<>", max_size=12),
)
queries = st.lists(st.tuples(st.sampled_from(NAMES), values), max_size=3)
header_values = st.one_of(
    values.map(lambda value: value.encode("utf-8").decode("latin-1")),
    st.sampled_from(
        ["bytes=5-2", "bytes=-0", "bytes=99-", f"/{BUCKET}/key", "/x", "*", '"', "COPY", "OSS a:b", "\x80\xff"]
    ),
)
headers = st.dictionaries(st.sampled_from(HEADERS), header_values, max_size=4)
bodies = st.one_of(
    st.just(b""),
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"<Delete><Object><Key>a</Key></Object></Delete>",
            b"<Delete></Delete>",
            b"<Delete><Quiet>maybe</Quiet><Object><Key>a</Key></Object></Delete>",
            b"<CompleteMultipartUpload><Part><PartNumber>x</PartNumber><ETag/></Part></CompleteMultipartUpload>",
            b"<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>",
            b"<Tagging/>",
            b"<a><b></a>",
            b'<?xml version="1.0" encoding="no-such"?><Delete/>',
            b"<Delete>" * 1000,
        ]
    ),
)


@settings(max_examples=400)
@given(methods, paths, queries, headers, bodies)
@example("GET", f"/{BUCKET}", [("max-keys", "١")], {}, b"")
@example("GET", f"/{BUCKET}/key", [("response-content-type", "a%0d%0aSet-Cookie: b")], {}, b"")
@example("PUT", f"/{BUCKET}/key", [], {"x-oss-copy-source": "/%ff/%ff"}, b"")
@example("PUT", f"/{BUCKET}/key", [("partNumber", "0"), ("uploadId", "x")], {}, b"")
@example("POST", f"/{BUCKET}/key", [("append", ""), ("position", "-1")], {}, b"")
@example("GET", "/", [("acl", "")], {"Host": "a.b.c:d:e"}, b"")
def test_any_request_is_answered_properly(
    address: str, method: str, path: str, query: list[tuple[str, str]], headers: dict[str, str], body: bytes
) -> None:
    target = path.replace("#", "%23").replace(" ", "%20")
    if query:
        pairs = "&".join(f"{name}={value}" if value else name for name, value in query)
        target += ("&" if "?" in target else "?") + pairs.replace(" ", "+").encode().decode("latin-1")
    target = "".join(character if character.isascii() else f"%{ord(character):02x}" for character in target)
    answer, content = send(address, method, target, SIGNED | headers, body)
    check(answer, content, method)


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(
        b'<!ENTITY a%d "%s">' % (level, b"&a%d;" % (level - 1) * 10 if level else b"&a;" * 10) for level in range(9)
    )
    + b"]><Delete><Object><Key>&a8;</Key></Object></Delete>"
)
FILE = b'<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&f;</Key></Object></Delete>'


@pytest.mark.parametrize("body", [BOMB, FILE, b"<!DOCTYPE Delete><Delete/>", b"<Delete>" + b"<a>" * 100])
def test_entity_bombs_and_document_types_are_refused(address: str, body: bytes) -> None:
    answer, content = send(address, "POST", f"/{BUCKET}?delete", SIGNED, body)
    assert answer.status == 400
    assert ElementTree.fromstring(content).findtext("Code") == "MalformedXML"


def test_a_body_too_large_for_xml_is_read_to_its_end_and_refused(address: str) -> None:
    answer, content = send(address, "POST", f"/{BUCKET}?delete", SIGNED, b" " * (3 * 1024 * 1024))
    assert answer.status == 400
    assert ElementTree.fromstring(content).findtext("Code") == "EntityTooLarge"


def test_too_many_keys_in_a_batch_are_refused(address: str) -> None:
    body = b"<Delete>" + b"<Object><Key>a</Key></Object>" * 1001 + b"</Delete>"
    answer, content = send(address, "POST", f"/{BUCKET}?delete", SIGNED, body)
    assert (answer.status, ElementTree.fromstring(content).findtext("Code")) == (400, "MalformedXML")


def test_a_quiet_batch_is_answered_with_nothing(address: str) -> None:
    body = b"<Delete><Quiet>true</Quiet><Object><Key>a</Key></Object></Delete>"
    answer, content = send(address, "POST", f"/{BUCKET}?delete", SIGNED, body)
    assert (answer.status, content) == (200, b"")


def test_a_client_that_leaves_in_the_middle_leaves_nothing(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.putrequest("PUT", f"/{BUCKET}/half")
    for name, value in {**SIGNED, "Content-Length": "1000"}.items():
        connection.putheader(name, value)
    connection.endheaders(b"only a little")
    connection.close()
    answer, _ = send(address, "HEAD", f"/{BUCKET}/half", SIGNED)
    assert answer.status == 404


def test_put_without_a_length_is_refused(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.putrequest("PUT", f"/{BUCKET}/no-length")
    for name, value in SIGNED.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    assert (answer.status, ElementTree.fromstring(content).findtext("Code")) == (411, "MissingContentLength")


def test_chunked_bodies_are_taken(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request("PUT", f"/{BUCKET}/chunked", body=iter([b"one", b"two"]), headers=SIGNED, encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
    assert send(address, "GET", f"/{BUCKET}/chunked", SIGNED)[1] == b"onetwo"


def test_credentials_are_checked_before_anything_is_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = OssStore(tmp_path_factory.mktemp("strict"))
    with store, ServiceHost(create_app(store, credentials=CREDENTIALS, clock=RealClock())) as host:
        answer, content = send(urlsplit(host.endpoint).netloc, "PUT", f"/{BUCKET}", SIGNED)
        assert (answer.status, ElementTree.fromstring(content).findtext("Code")) == (403, "SignatureDoesNotMatch")
        assert store.buckets() == []
