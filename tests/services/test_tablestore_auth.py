"""Who is served: signatures, digests, dates, headers, and what an unsigned answer looks like."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tablestore_rig import Rig, refusal, running, sdk

from local_sim.services.tablestore import Credentials, auth
from local_sim.services.tablestore.messages import table_pb2

REGIONS = [{}, {"region": "cn-hangzhou"}]


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running(tmp_path_factory.mktemp("ots"), credentials=Credentials({"known": "right"})) as made:
        yield made


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running(tmp_path_factory.mktemp("strict"), credentials=Credentials({"known": "right"}, strict=True)) as made:
        yield made


def login(rig: Rig, key: str, secret: str, **options: Any) -> Any:
    return rig.client(access_key_id=key, access_key_secret=secret, **options)


@pytest.mark.parametrize("options", REGIONS)
@pytest.mark.parametrize("pair", [("known", "right"), ("other", "right"), ("same", "same")])
def test_a_lenient_service_takes_any_key_with_a_secret_it_can_know(rig: Rig, pair: Any, options: Any) -> None:
    assert login(rig, *pair, **options).list_table() == ()


@pytest.mark.parametrize("options", REGIONS)
def test_a_wrong_secret_of_a_known_key_is_refused(rig: Rig, options: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        login(rig, "known", "wrong", **options).list_table()
    assert refusal(caught) == (403, "OTSAuthFailed", "Signature mismatch.")


@pytest.mark.parametrize("options", REGIONS)
def test_an_unknown_key_with_an_unknown_secret_is_told_who_is_known(rig: Rig, options: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        login(rig, "stranger", "secret", **options).list_table()
    assert refusal(caught)[:2] == (403, "OTSAuthFailed")
    assert caught.value.message == "The AccessKeyID 'stranger' does not exist. The local service knows: known."


@pytest.mark.parametrize("options", REGIONS)
def test_a_strict_service_takes_known_pairs_only(strict: Rig, options: Any) -> None:
    assert login(strict, "known", "right", **options).list_table() == ()
    for pair in (("other", "right"), ("same", "same"), ("known", "wrong")):
        with pytest.raises(sdk.OTSServiceError) as caught:
            login(strict, *pair, **options).list_table()
        assert refusal(caught)[:2] == (403, "OTSAuthFailed")


def test_refusals_after_the_signature_are_signed(rig: Rig) -> None:
    client = login(rig, "known", "right")
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.describe_table("absent")
    assert caught.value.code == "OTSObjectNotExist"
    assert len(caught.value.request_id) == 36


def test_a_security_token_is_part_of_the_signature(rig: Rig) -> None:
    assert login(rig, "known", "right", sts_token="token").list_table() == ()


class Raw:
    """Sends hand-made requests, correctly signed unless told otherwise."""

    def __init__(self, rig: Rig) -> None:
        self._port = rig.host.port

    def send(
        self,
        api: str = "ListTable",
        body: bytes = b"",
        *,
        method: str = "POST",
        sign: bool = True,
        **change: str | None,
    ) -> tuple[int, dict[str, str], Any]:
        now = datetime.now(timezone.utc)
        headers: dict[str, str] = {
            "x-ots-date": now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "x-ots-apiversion": "2015-12-31",
            "x-ots-accesskeyid": "known",
            "x-ots-instancename": "inst",
            "x-ots-contentmd5": auth.md5(body),
        }
        for name, value in change.items():
            header = "x-ots-" + name
            if value is None:
                del headers[header]
            else:
                headers[header] = value
        if sign:
            from tablestore.auth import RequestContext, SignV2
            from tablestore.credentials import Credentials as Pair

            SignV2("utf8").make_request_signature_and_add_headers(
                f"/{api}", headers, RequestContext(Pair("known", "right"))
            )
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request(method, f"/{api}", body, headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status == 200:
            return answer.status, dict(answer.headers), data
        error = table_pb2().Error.FromString(data)
        return answer.status, dict(answer.headers), (error.code, error.message)


def test_an_answer_has_everything_the_client_checks(rig: Rig) -> None:
    status, headers, data = Raw(rig).send()
    assert (status, headers["x-ots-contentmd5"]) == (200, auth.md5(data))
    assert headers["authorization"].startswith("OTS known:")
    assert headers["x-ots-date"].endswith("Z")
    assert {"x-ots-requestid", "x-ots-contenttype"} <= set(headers)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"date": None}, "OTSMissingHeader", "Missing header: x-ots-date."),
        ({"accesskeyid": None}, "OTSMissingHeader", "Missing header: x-ots-accesskeyid."),
        ({"instancename": None}, "OTSMissingHeader", "Missing header: x-ots-instancename."),
        ({"contentmd5": None}, "OTSMissingHeader", "Missing header: x-ots-contentmd5."),
        (
            {"contentmd5": "AAAA"},
            "OTSAuthFailed",
            "Mismatch between MD5 value of request body and x-ots-contentmd5 in header.",
        ),
        ({"date": "yesterday"}, "OTSAuthFailed", "Invalid date format: yesterday."),
    ],
)
def test_bad_headers(rig: Rig, change: Any, code: str, message: str) -> None:
    status, _, told = Raw(rig).send(**change)
    assert (status, told) == (400 if code == "OTSMissingHeader" else 403, (code, message))


@pytest.mark.parametrize(("minutes", "status"), [(14, 200), (-14, 200), (16, 403), (-16, 403)])
def test_requests_must_be_fresh(rig: Rig, minutes: int, status: int) -> None:
    date = (datetime.now(timezone.utc) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert Raw(rig).send(date=date)[0] == status


def test_without_a_signature(rig: Rig) -> None:
    assert Raw(rig).send(sign=False)[2] == ("OTSMissingHeader", "Missing header: x-ots-signature.")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_post(rig: Rig, method: str) -> None:
    status, headers, told = Raw(rig).send(method=method)
    assert (status, told[0]) == (405, "OTSMethodNotAllowed")
    assert "authorization" not in headers


def test_an_unknown_api(rig: Rig) -> None:
    assert Raw(rig).send("Explode")[2] == ("OTSUnsupportOperation", "Unsupported operation: Explode.")


def test_a_body_that_is_no_message(rig: Rig) -> None:
    status, _, told = Raw(rig).send("PutRow", b"\xff\xff\xff")
    assert (status, told[0]) == (400, "OTSParameterInvalid")


@pytest.mark.parametrize("digest", ["sha1", "sha256"])
@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 200])
def test_the_hmac_is_the_standard_librarys(digest: str, length: int) -> None:
    import base64
    import hmac

    key = b"k" * length
    assert auth._hmac(key, "text é", digest) == base64.b64encode(hmac.digest(key, "text é".encode(), digest)).decode()
