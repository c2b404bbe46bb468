"""Whatever is sent, the answer is a success or a documented error: never a 500, never a dead connection."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tablestore_rig import Rig, create_table, running

from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET, auth
from local_sim.services.tablestore.messages import filter_pb2, table_pb2
from local_sim.services.tablestore.plainbuffer import Cell, CellOp, PlainRow, write_rows
from local_sim.services.tablestore.values import Special

from tablestore.auth import RequestContext, SignV2  # isort: skip
from tablestore.credentials import Credentials as Pair  # isort: skip

APIS = [
    "CreateTable", "ListTable", "DescribeTable", "UpdateTable", "DeleteTable", "PutRow", "UpdateRow",
    "DeleteRow", "GetRow", "BatchGetRow", "BatchWriteRow", "GetRange", "StartLocalTransaction",
    "CommitTransaction", "AbortTransaction",
]  # fmt: skip
CODES = {
    "OTSParameterInvalid", "OTSInvalidPK", "OTSObjectNotExist", "OTSObjectAlreadyExist", "OTSConditionCheckFail",
    "OTSSessionNotExist", "OTSUnsupportOperation", "OTSQuotaExhausted", "OTSRowOperationConflict",
}  # fmt: skip


class Wire:
    """One connection that must outlive every request."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def send(self, api: str, body: bytes) -> tuple[int, bytes]:
        from datetime import datetime, timezone

        headers = {
            "x-ots-date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "x-ots-apiversion": "2015-12-31",
            "x-ots-accesskeyid": LOCAL_KEY_ID,
            "x-ots-instancename": "inst",
            "x-ots-contentmd5": auth.md5(body),
        }
        context = RequestContext(Pair(LOCAL_KEY_ID, LOCAL_SECRET))
        SignV2("utf8").make_request_signature_and_add_headers(f"/{api}", headers, context)
        self.connection.request("POST", f"/{api}", body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running(tmp_path_factory.mktemp("ots")) as made:
        create_table(made.client())
        yield made


@pytest.fixture(scope="module")
def wire(rig: Rig) -> Iterator[Wire]:
    made = Wire(rig.host.port)
    yield made
    made.connection.close()


def check(wire: Wire, api: str, body: bytes) -> None:
    socket = wire.connection.sock
    status, data = wire.send(api, body)
    assert socket is None or wire.connection.sock is socket, "the connection was dropped"
    if status == 200:
        getattr(table_pb2(), f"{api}Response").FromString(data)
        return
    error = table_pb2().Error.FromString(data)
    assert error.code in CODES, (status, error.code, error.message)
    assert error.message
    assert 400 <= status < 500


@settings(max_examples=150)
@given(api=st.sampled_from(APIS), body=st.binary(max_size=60))
def test_noise(wire: Wire, api: str, body: bytes) -> None:
    check(wire, api, body)


names = st.sampled_from(["t", "task", "entry", "a", "absent", "", "é", "1x", "x" * 300])
key_values = st.one_of(
    st.sampled_from([*Special, None, True, 1.5]), st.integers(-5, 5), st.text(max_size=3), st.binary(max_size=3)
)
cell = st.builds(Cell, names, key_values, st.sampled_from([None, 0, -1, 1 << 62]), st.sampled_from([None, *CellOp]))
key_cells = st.one_of(
    st.tuples(
        st.builds(Cell, st.just("task"), key_values, st.none(), st.none()),
        st.builds(Cell, st.just("entry"), key_values, st.none(), st.none()),
    ),
    st.lists(cell, max_size=3).map(tuple),
)
plain = st.one_of(
    st.binary(max_size=20),
    st.lists(st.builds(PlainRow, key_cells, st.lists(cell, max_size=3).map(tuple), st.booleans()), max_size=2).map(
        write_rows
    ),
)


@st.composite
def messages(draw: st.DrawFn, kind: Any) -> Any:
    """A message of the wire with every field set or left out, well typed but senseless."""
    message = kind()
    for field in kind.DESCRIPTOR.fields:
        if field.label == 3:
            for _ in range(draw(st.integers(0, 2))):
                value = draw(field_values(field))
                if field.message_type is None:
                    getattr(message, field.name).append(value)
                else:
                    getattr(message, field.name).add().MergeFrom(value)
        elif draw(st.sampled_from([True, True, True, False])):
            value = draw(field_values(field))
            if field.message_type is None:
                setattr(message, field.name, value)
            else:
                getattr(message, field.name).MergeFrom(value)
                getattr(message, field.name).SetInParent()
    return message


def field_values(field: Any) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return messages(field.message_type._concrete_class)
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values])
    if field.name in ("filter", "column_condition"):
        return st.one_of(st.binary(max_size=10), conditions())
    by_type = {
        12: plain,
        9: names,
        8: st.booleans(),
        5: st.one_of(st.integers(-2, 5), st.integers(-(1 << 31), (1 << 31) - 1)),
        3: st.one_of(st.integers(-2, 5), st.integers(-(1 << 63), (1 << 63) - 1)),
    }
    return by_type[field.type]


def conditions() -> st.SearchStrategy[bytes]:
    inner = st.one_of(
        messages(filter_pb2().SingleColumnValueFilter), messages(filter_pb2().ColumnPaginationFilter)
    ).map(lambda message: message.SerializePartialToString())
    return st.builds(
        lambda kind, data: filter_pb2().Filter(type=kind, filter=data).SerializeToString(), st.integers(1, 3), inner
    )


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=25)
@given(data=st.data())
def test_well_typed_nonsense(wire: Wire, api: str, data: st.DataObject) -> None:
    if api == "DeleteTable":
        message = table_pb2().DeleteTableRequest(table_name=data.draw(names.filter(lambda name: name != "t")))
    else:
        message = data.draw(messages(getattr(table_pb2(), f"{api}Request")))
    check(wire, api, message.SerializePartialToString())


@settings(max_examples=60)
@given(api=st.sampled_from(["PutRow", "UpdateRow", "GetRow", "GetRange"]), data=st.data())
def test_a_damaged_request(wire: Wire, api: str, data: st.DataObject) -> None:
    row = write_rows([PlainRow((Cell("task", "a"), Cell("entry", 1)), (Cell("n", 5), Cell("s", "text")))])
    pb = table_pb2()
    bodies = {
        "PutRow": pb.PutRowRequest(table_name="t", row=row, condition=pb.Condition(row_existence=0)),
        "UpdateRow": pb.UpdateRowRequest(table_name="t", row_change=row, condition=pb.Condition(row_existence=0)),
        "GetRow": pb.GetRowRequest(table_name="t", primary_key=row, max_versions=1),
        "GetRange": pb.GetRangeRequest(
            table_name="t", direction=0, inclusive_start_primary_key=row, exclusive_end_primary_key=row, max_versions=1
        ),
    }
    body = bytearray(bodies[api].SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(body)), st.integers(0, len(body))))
    check(wire, api, bytes(body[:cut]))


def test_one_table_twice_in_a_batch_is_answered_twice(wire: Wire) -> None:
    pb = table_pb2()
    request = pb.BatchWriteRowRequest()
    for entry in (1, 2):
        part = request.tables.add(table_name="t")
        change = write_rows([PlainRow((Cell("task", "twice"), Cell("entry", entry)), (Cell("n", entry),))])
        part.rows.add(type=1, row_change=change, condition=pb.Condition(row_existence=2))
    status, data = wire.send("BatchWriteRow", request.SerializeToString())
    answer = pb.BatchWriteRowResponse.FromString(data)
    assert (status, [[row.is_ok for row in part.rows] for part in answer.tables]) == (200, [[True], [True]])


def test_the_service_still_works_after_all_that(rig: Rig) -> None:
    assert "t" in rig.client().list_table()
