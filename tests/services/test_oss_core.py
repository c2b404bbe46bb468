"""The pure parts of the OSS service: checksums, conditions, listing, XML, names, tags, exports."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import format_datetime
from xml.etree import ElementTree

import oss2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.services import SchemaTooNew, StoreInUse, oss
from local_sim.services.oss import ApiError, OssStore
from local_sim.services.oss.attributes import check_tags, tags_from_header
from local_sim.services.oss.checksums import Digests, combine, combined, crc64
from local_sim.services.oss.conditions import Span, check_read, http_date, iso_date, parse_range
from local_sim.services.oss.errors import CATALOGUE
from local_sim.services.oss.listing import Page, from_token, page, successor, token
from local_sim.services.oss.markup import Element, document, parse, sayable
from local_sim.services.oss.model import Attributes, Bucket, Part, Segment
from local_sim.services.oss.names import boolean, check_bucket, check_key, integer
from local_sim.services.oss.uploads import chosen

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def code(call: object, *arguments: object) -> str:
    with pytest.raises(ApiError) as refused:
        call(*arguments)  # type: ignore[operator]
    return refused.value.code


def test_exports_are_sorted_and_complete() -> None:
    assert oss.__all__ == sorted(oss.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(oss, name) for name in oss.__all__)


def test_crc64_of_the_check_string() -> None:
    assert crc64(b"123456789") == 0x995DC9BBDF1939FA  # CRC-64/XZ, ECMA-182 reflected
    assert crc64(b"") == 0


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_crc64_agrees_with_oss2_and_combines(first: bytes, second: bytes) -> None:
    theirs = oss2.utils.Crc64()
    theirs.update(first + second)
    assert crc64(first + second) == crc64(second, crc64(first)) == theirs.crc
    assert combine(crc64(first), crc64(second), len(second)) == theirs.crc
    assert combined([(crc64(first), len(first)), (crc64(second), len(second)), (0, 0)]) == theirs.crc


def test_crc64_is_fast() -> None:
    data, best = bytes(8_000_000), 1e9
    for _ in range(5):
        begin = time.perf_counter()
        crc64(data)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.1  # a table in pure Python would take seconds


@given(st.lists(st.binary(max_size=50)))
def test_digests_do_not_care_how_the_bytes_arrive(pieces: list[bytes]) -> None:
    apart, whole = Digests(), Digests()
    for piece in pieces:
        apart.update(piece)
    whole.update(b"".join(pieces))
    assert (apart.md5(), apart.crc64, apart.size) == (whole.md5(), whole.crc64, whole.size)


@pytest.mark.parametrize(
    ("header", "size", "expected"),
    [
        (None, 10, None),
        ("bytes=0-", 10, Span(0, 10)),
        ("bytes=0-0", 10, Span(0, 1)),
        ("bytes=9-9", 10, Span(9, 10)),
        ("bytes=3-100", 10, Span(3, 10)),
        ("bytes=-1", 10, Span(9, 10)),
        ("bytes=-100", 10, Span(0, 10)),
        ("bytes=-", 10, None),
        ("bytes=4-2", 10, None),
        ("bytes=0-1,3-4", 10, None),
        ("byte=0-1", 10, None),
        ("bytes=١-٢", 10, None),
        ("bytes= 0-1", 10, None),
    ],
)
def test_ranges(header: str | None, size: int, expected: Span | None) -> None:
    assert parse_range(header, size) == expected


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=0-", 0), ("bytes=-0", 10), ("bytes=10-20", 10)]
)
def test_ranges_behind_the_end(header: str, size: int) -> None:
    assert code(parse_range, header, size) == "InvalidRange"


def test_conditions_follow_their_precedence() -> None:
    modified = 1_000_000_000_500
    same, later, earlier = http_date(modified), http_date(modified + 1000), http_date(modified - 1000)
    for headers in (
        {},
        {"if-match": '"E"'},
        {"if-match": "*"},
        {"if-match": '"A", "E"'},
        {"if-none-match": '"A"', "if-modified-since": later},
        {"if-unmodified-since": same},
        {"if-modified-since": earlier},
        {"if-modified-since": "yesterday"},
    ):
        check_read(headers, "E", modified)
    for headers in ({"if-match": '"A"'}, {"if-unmodified-since": earlier}, {"if-match": '"A"', "if-none-match": "*"}):
        assert code(check_read, headers, "E", modified) == "PreconditionFailed"
    for headers in ({"if-none-match": "*"}, {"if-modified-since": same}, {"if-none-match": "E"}):
        assert code(check_read, headers, "E", modified) == "NotModified"


@given(st.integers(0, 4_000_000_000_000))
def test_dates(at_ms: int) -> None:
    moment = datetime.fromtimestamp(at_ms // 1000, timezone.utc)
    assert http_date(at_ms) == format_datetime(moment, usegmt=True)
    assert datetime.fromisoformat(iso_date(at_ms).replace("Z", "+00:00")) == moment


@dataclass(frozen=True)
class Row:
    """A row that is only a key."""

    key: str


def paged(keys: list[str], **named: object) -> Page[Row]:
    def seek(start: str, inclusive: bool) -> Iterator[Row]:
        return iter([Row(key) for key in sorted(keys) if key > start or (inclusive and key == start)])

    return page(seek, **named)  # type: ignore[arg-type]


@given(
    st.sets(st.text("ab/é", min_size=1, max_size=6), max_size=30),
    st.text("ab/", max_size=2),
    st.sampled_from(["", "/", "b/"]),
    st.integers(1, 7),
)
def test_pages_together_show_everything_once(keys: set[str], prefix: str, delimiter: str, limit: int) -> None:
    rows: list[str] = []
    groups: list[str] = []
    after, turns = "", 0
    while True:
        found = paged(list(keys), prefix=prefix, delimiter=delimiter, after=after, limit=limit)
        assert found.count <= limit
        rows += [row.key for row in found.rows]
        groups += found.prefixes
        turns += 1
        assert turns < 50
        if not found.truncated:
            break
        after = found.last
    wanted = sorted(key for key in keys if key.startswith(prefix))
    plain = [key for key in wanted if not delimiter or delimiter not in key[len(prefix) :]]
    expected = {key[: key.index(delimiter, len(prefix)) + len(delimiter)] for key in wanted if key not in plain}
    assert rows == plain
    assert groups == sorted(expected)


@given(TEXT.filter(bool), TEXT)
def test_the_successor_is_behind_everything_under_a_prefix(prefix: str, rest: str) -> None:
    behind = successor(prefix)
    if behind is not None:
        behind.encode()
        assert behind > prefix + rest
        assert not behind.startswith(prefix)


@given(TEXT)
def test_tokens_come_back(last: str) -> None:
    assert from_token(token(last)) == last


@pytest.mark.parametrize("text", ["!", "a", "é", "/w==", "gICA"])
def test_foreign_tokens_are_refused(text: str) -> None:
    assert code(from_token, text) == "InvalidArgument"


@given(st.text(max_size=30))
def test_what_is_written_is_what_a_parser_reads(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    root = ElementTree.fromstring(document(Element("A", [Element("B", text), Element("C", 7)])))
    assert root.findtext("C") == "7"
    if sayable(text):
        assert root.findtext("B") == text


@given(st.binary(max_size=200))
def test_any_bytes_parse_or_are_malformed(body: bytes) -> None:
    assert code(parse, body, "Delete") == "MalformedXML"


def test_parsing_ignores_prefixes_and_keeps_order() -> None:
    root = parse(b'<o:Delete xmlns:o="x"><o:Object>1</o:Object><Quiet/><o:Object>2</o:Object></o:Delete>', "Delete")
    assert [node.text for node in root.all("Object")] == ["1", "2"]
    assert (root.get("Quiet"), root.get("None")) != (None, None)
    assert code(root.value, "None") == "MalformedXML"


def test_names() -> None:
    assert check_bucket("a-1") == "a-1"
    assert check_key("/") == "/"
    for bad in ("", "ab", "a_b", "a" * 64, "-ab", "ab-", "abc\n", "äbc"):
        assert code(check_bucket, bad) == "InvalidBucketName"
    for bad in ("", "中" * 342):
        assert code(check_key, bad) == "InvalidObjectName"
    for bad in ("", "-1", "+1", " 1", "1_0", "١", "11", "9" * 30):
        assert code(integer, bad, "n", 0, 10) == "InvalidArgument"
    assert (integer("10", "n", 0, 10), boolean("TRUE", "b"), boolean("false", "b")) == (10, True, False)


def test_tags() -> None:
    assert tags_from_header("") == ()
    assert tags_from_header("b=2&a=%E4%B8%AD+x&c") == (("a", "中 x"), ("b", "2"), ("c", ""))
    for bad in ("a=1&a=2", "&".join(f"k{n}=" for n in range(11)), "=1", "a=" + "x" * 257, "k" * 129, "a=%ff"):
        assert code(tags_from_header, bad) == "InvalidTag"
    assert check_tags(()) == ()


def test_parts_are_chosen_in_order() -> None:
    parts = [Part(number, Segment("b", 102_400), "AB", 0, 0) for number in (1, 2, 5)]
    assert chosen(parts, None) == parts
    assert chosen(parts, [(2, '"ab"'), (5, "AB")]) == parts[1:]
    assert code(chosen, parts, [(2, "AB"), (1, "AB")]) == "InvalidPartOrder"
    assert code(chosen, parts, [(1, "AB"), (1, "AB")]) == "InvalidPartOrder"
    assert code(chosen, parts, [(3, "AB")]) == "InvalidPart"
    assert code(chosen, [], None) == "MalformedXML"


def test_every_error_has_an_http_status_of_its_kind_and_its_own_ec() -> None:
    odd = {name: status for name, (status, _, _) in CATALOGUE.items() if not 400 <= status < 500}
    assert odd == {"InternalError": 500, "NotModified": 304, "ServiceUnavailable": 503}
    codes = [ec for _, ec, _ in CATALOGUE.values()]
    assert len(set(codes)) == len(codes)


def test_a_folder_serves_one_store_at_a_time(tmp_path: object) -> None:
    with OssStore(str(tmp_path)) as store:
        with pytest.raises(StoreInUse) as refused:
            OssStore(str(tmp_path))
        assert refused.value.path == store.folder
    store.close()  # twice is fine
    OssStore(str(tmp_path)).close()


def test_a_folder_of_a_later_version_is_left_alone(tmp_path: object) -> None:
    with OssStore(str(tmp_path)) as store:
        store.connection().execute("PRAGMA user_version = 99")
    with pytest.raises(SchemaTooNew):
        OssStore(str(tmp_path))


def test_unfinished_and_unnamed_files_are_swept_at_start(tmp_path: object) -> None:
    with OssStore(str(tmp_path)) as store:
        store.create_bucket(Bucket("some-bucket", 0))
        writer = store.write()
        writer.write(b"kept" * 10_000)
        store.put("some-bucket", "kept", writer.seal(), Attributes(), now_ms=0)
        orphan = store.write()
        orphan.write(b"sealed but never named" * 1000)
        orphan.seal()
        store.write().write(b"unfinished" * 2000)
    with OssStore(str(tmp_path)) as store:
        assert store.swept == 2
        with store.open("some-bucket", "kept") as reader:
            assert b"".join(reader.chunks()) == b"kept" * 10_000


def test_a_reader_keeps_its_version_until_it_closes(tmp_path: object) -> None:
    with OssStore(str(tmp_path)) as store:
        store.create_bucket(Bucket("some-bucket", 0))
        for data in (b"old" * 9000, b"new" * 9000):
            writer = store.write()
            writer.write(data)
            store.put("some-bucket", "key", writer.seal(), Attributes(), now_ms=0)
            if data[:3] == b"old":
                reader = store.open("some-bucket", "key")
        store.delete("some-bucket", ["key"])
        files = [path for path in (store.folder / "blobs").rglob("*") if path.is_file()]
        assert len(files) == 1
        assert b"".join(reader.chunks(1)) == (b"old" * 9000)[1:]
        reader.close()
        reader.close()
        assert [path for path in (store.folder / "blobs").rglob("*") if path.is_file()] == []
        assert reader.segments == (Segment(files[0].name, 27_000),)


def test_a_failed_change_takes_nothing_else_with_it(tmp_path: object) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with OssStore(str(tmp_path)) as store, ThreadPoolExecutor(8) as pool:
        store.create_bucket(Bucket("some-bucket", 0))

        def put(number: int) -> str:
            writer = store.write()
            writer.write(b"x")
            bucket = "some-bucket" if number % 2 else "no-bucket"
            try:
                return store.put(bucket, f"{number}", writer.seal(), Attributes(), now_ms=0).key
            except ApiError as error:
                return error.code

        results = list(pool.map(put, range(100)))
        assert results == [f"{number}" if number % 2 else "NoSuchBucket" for number in range(100)]
        assert store.totals("some-bucket") == (50, 50, 0)
