"""Bytes to calls and back, without a server."""

from __future__ import annotations

import contextlib
import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.services.cloudflow import ACTIONS
from local_sim.services.cloudflow import requests as r
from local_sim.services.cloudflow.errors import (
    ActionNotSupported,
    CloudFlowError,
    EntityTooLarge,
    InvalidArgument,
    MissingParameter,
    Refused,
    UnsupportedMediaType,
    VersionNotSupported,
)
from local_sim.services.cloudflow.paging import make_token, read_token
from local_sim.services.cloudflow.parameters import wire_names
from local_sim.services.cloudflow.wire import (
    HttpRequest,
    check_signature,
    decode,
    encode_error,
    encode_reply,
    open_envelope,
)
from local_sim.services.signing import acs3_signature, rpc_signature
from local_sim.services.timestamps import format_ms, parse_ms


def call(method: str = "GET", form: dict[str, str] | None = None, **query: str) -> object:
    headers = {"content-type": "application/x-www-form-urlencoded"} if form is not None else {}
    body = urlencode(form).encode() if form is not None else b""
    return decode(open_envelope(HttpRequest(method, "/", urlencode(query), headers, body)))


def test_there_are_twenty_nine_actions() -> None:
    assert len(ACTIONS) == 29
    assert wire_names(r.ReportTaskFailed) == ("TaskToken", "Error", "Cause")


@pytest.mark.parametrize("where", ["query", "form", "both", "header"])
def test_parameters_and_action_may_come_from_anywhere(where: str) -> None:
    if where == "query":
        found = call(Action="DescribeFlow", Name="f")
    elif where == "form":
        found = call("POST", {"Action": "DescribeFlow", "Name": "f"})
    elif where == "both":
        found = call("POST", {"Name": "f"}, Action="DescribeFlow")
    else:
        found = decode(open_envelope(HttpRequest("POST", "/", "Name=f", {"x-acs-action": "DescribeFlow"})))
    assert found == r.DescribeFlow(name="f")


@given(st.text(max_size=200))
def test_any_text_survives_both_ways_of_quoting(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    for quoted in (urlencode({"Output": json.dumps(text)}), "Output=" + quote(json.dumps(text), safe="-_.~")):
        query = f"Action=ReportTaskSucceeded&TaskToken=a%2Bb%2F%3D&{quoted}"
        found = decode(open_envelope(HttpRequest("POST", "/", query)))
        assert found == r.ReportTaskSucceeded(task_token="a+b/=", output=json.dumps(text))


@pytest.mark.parametrize(
    ("text", "value"), [("True", True), ("true", True), ("1", True), ("False", False), ("0", False)]
)
def test_truth_values_are_read_leniently(text: str, value: bool) -> None:
    found = call(Action="ListExecutions", FlowName="f", MetadataOnly=text)
    assert found == r.ListExecutions(flow_name="f", metadata_only=value)


def test_unknown_and_absent_parameters_are_no_matter() -> None:
    found = call(Action="DescribeFlow", Name="f", RegionId="cn", SignatureVersion="1.0", AcceptLanguage="zh")
    assert found == r.DescribeFlow(name="f")
    assert call(Action="ListFlows", NextToken="", Limit="") == r.ListFlows()


def test_an_empty_description_clears_and_an_absent_one_does_not() -> None:
    assert call(Action="UpdateFlow", Name="f", Description="") == r.UpdateFlow(name="f", description="")
    assert call(Action="UpdateFlow", Name="f") == r.UpdateFlow(name="f", description=None)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({}, MissingParameter),
        ({"Action": "Nothing"}, ActionNotSupported),
        ({"Action": "ListFlows", "Version": "2018-01-01"}, VersionNotSupported),
        ({"Action": "DescribeFlow"}, MissingParameter),
        ({"Action": "DescribeFlow", "Name": ""}, MissingParameter),
        ({"Action": "DescribeFlow", "Name": "1x"}, InvalidArgument),
        ({"Action": "DescribeFlow", "Name": "x" * 129}, InvalidArgument),
        ({"Action": "DescribeFlow", "Name": "x\n"}, InvalidArgument),
        ({"Action": "ListFlows", "Limit": "0"}, InvalidArgument),
        ({"Action": "ListFlows", "Limit": "1001"}, InvalidArgument),
        ({"Action": "ListFlows", "Limit": "１"}, InvalidArgument),
        (
            {"Action": "DescribeExecution", "FlowName": "f", "ExecutionName": "e", "WaitTimeSeconds": "61"},
            InvalidArgument,
        ),
        ({"Action": "StartExecution", "FlowName": "f", "Input": "[1]"}, InvalidArgument),
        ({"Action": "StartExecution", "FlowName": "f", "Input": "{"}, InvalidArgument),
        ({"Action": "StartExecution", "FlowName": "f", "Input": '{"x": NaN}'}, InvalidArgument),
        ({"Action": "ReportTaskFailed", "TaskToken": "t", "Error": "e" * 129}, InvalidArgument),
        ({"Action": "ReportTaskFailed", "TaskToken": "t", "Error": "e", "Cause": "c" * 4097}, InvalidArgument),
        ({"Action": "ListExecutions", "FlowName": "f", "StartedTimeBegin": "yesterday"}, InvalidArgument),
        ({"Action": "CreateFlowAlias", "FlowName": "f", "Name": "a", "RoutingConfigurations": "[]"}, InvalidArgument),
    ],
)
def test_what_is_refused(query: dict[str, str], error: type[CloudFlowError]) -> None:
    with pytest.raises(error):
        call(**query)


def test_inputs_are_measured_in_bytes() -> None:
    fits = json.dumps({"x": "文" * 21_000}, ensure_ascii=False)
    call("POST", {"FlowName": "f", "Input": fits}, Action="StartExecution")
    too_big = json.dumps({"x": "文" * 22_000}, ensure_ascii=False)
    assert len(too_big) < 64 * 1024 < len(too_big.encode())
    with pytest.raises(EntityTooLarge):
        call("POST", {"FlowName": "f", "Input": too_big}, Action="StartExecution")


def test_other_methods_paths_and_media_types_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        open_envelope(HttpRequest("PUT", "/", "Action=ListFlows"))
    with pytest.raises(InvalidArgument):
        open_envelope(HttpRequest("GET", "/flows", "Action=ListFlows"))
    with pytest.raises(UnsupportedMediaType):
        open_envelope(HttpRequest("POST", "/", "Action=ListFlows", {"content-type": "application/xml"}, b"<x/>"))
    with pytest.raises(InvalidArgument):
        open_envelope(HttpRequest("POST", "/", "Action=ListFlows", {}, b"Name=%ff%fe"))


def test_replies_have_capital_keys_and_errors_no_success_fields() -> None:
    assert json.loads(encode_reply({"Name": "f"}, "R")) == {"RequestId": "R", "Name": "f"}
    refused = json.loads(encode_error(InvalidArgument("no"), "R", "host"))
    assert refused == {"RequestId": "R", "HostId": "host", "Code": "InvalidArgument", "Message": "no"}


def test_signatures_rpc() -> None:
    parameters = {"Action": "ListFlows", "AccessKeyId": "a", "Timestamp": "2026-01-01T00:00:00Z", "Name": "a b+文*~"}
    parameters["Signature"] = rpc_signature("GET", parameters, "s")
    request = HttpRequest("GET", "/", urlencode(parameters))
    now = parse_ms("2026-01-01T00:10:00Z")
    check_signature(request, open_envelope(request), "s", now)
    for secret, at in (("t", now), ("s", now + 3_600_000)):
        with pytest.raises(Refused):
            check_signature(request, open_envelope(request), secret, at)


def test_signatures_acs3() -> None:
    headers = {
        "host": "h",
        "x-acs-action": "ListFlows",
        "x-acs-date": "2026-01-01T00:00:00Z",
        "x-acs-content-sha256": "e3",
    }
    signed = sorted(headers)
    value = acs3_signature("POST", "/", "Limit=3", headers, signed, "s")
    credential = f"ACS3-HMAC-SHA256 Credential=a,SignedHeaders={';'.join(signed)},Signature={value}"
    now = parse_ms("2026-01-01T00:00:01Z")
    request = HttpRequest("POST", "/", "Limit=3", {**headers, "authorization": credential})
    check_signature(request, open_envelope(request), "s", now)
    changed = HttpRequest("POST", "/", "Limit=4", {**headers, "authorization": credential})
    with pytest.raises(Refused):
        check_signature(changed, open_envelope(changed), "s", now)


@given(st.lists(st.one_of(st.text(), st.integers()), min_size=1, max_size=3))
def test_paging_tokens_come_back(key: list[str | int]) -> None:
    assert read_token(make_token(*key), *[type(part) for part in key]) == tuple(key)


@given(st.text(max_size=60))
def test_foreign_paging_tokens_are_invalid_arguments(text: str) -> None:
    with contextlib.suppress(InvalidArgument):
        key = read_token(text, str)
        assert key is None or [type(part) for part in key] == [str]


@given(st.integers(0, 253_000_000_000_000))
def test_times_come_back(at_ms: int) -> None:
    assert parse_ms(format_ms(at_ms)) == at_ms


@pytest.mark.parametrize("text", ["2026-01-01T08:00:00+08:00", "2026-01-01T00:00:00.0Z", "2026-01-01t00:00:00z"])
def test_times_of_other_spellings_are_the_same_moment(text: str) -> None:
    assert format_ms(parse_ms(text)) == "2026-01-01T00:00:00.000Z"
