"""ItemReader and ResultWriter against OSS, by the same requests that the cloud would make (language page 5.7, B40)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any

from local_sim.definition.map_fields import problem_of_reader, problem_of_writer

from .items import csv_items, json_items, json_line_items
from .model import ActionFailure, Call, Json

if TYPE_CHECKING:
    import oss2

_CHUNK = 64 * 1024
_SECONDS = 30


class MapObjects:
    """Reads items and writes results. `variables` names the OSS (`OSS_ENDPOINT`, `OSS_BUCKET`, credentials); it is
    asked at the first use, so that nothing starts for flows that need no OSS.
    """

    def __init__(self, variables: Callable[[], Mapping[str, str]]) -> None:
        self._variables = variables

    def read(self, call: Call) -> Json:
        """Return the items an evaluated ItemReader names, at most `max_items` of them.

        Raises ActionFailure: `FnF.RuntimeError` for a reader or content that cannot be used, `OSS.<Code>` for what OSS
        refused.
        """
        reader, most = call.parameters["reader"], call.parameters["max_items"]
        if problem := problem_of_reader(reader):
            raise ActionFailure("FnF.RuntimeError", f"{problem}; or give a callable for Map:ReadItems")
        with _named():
            return list(islice(self._items(reader), most))

    def write(self, call: Call) -> Json:
        """Write the results below `<Prefix><map run>/` and return where they are.

        `succeeded.jsonl` and `failed.jsonl` have one JSON line for each child, `{"Index", "Status", ...}`, and
        `manifest.json` says what is there. The keys follow from the map run, so writing again after a crash changes
        nothing. Raises ActionFailure.
        """
        writer, results, name = (call.parameters[key] for key in ("writer", "results", "name"))
        if problem := problem_of_writer(writer):
            raise ActionFailure("FnF.RuntimeError", f"{problem}; or give a callable for Map:WriteResults")
        parameters = writer.get("Parameters", {})
        folder = f"{_text(parameters, 'Prefix', '')}{name}/"
        numbered = [{"Index": index, **result} for index, result in enumerate(results)]
        good = [result for result in numbered if result["Status"] == "Succeeded"]
        bad = [result for result in numbered if result["Status"] != "Succeeded"]
        with _named():
            bucket = self._bucket(_text(parameters, "Bucket", ""))
            counts = {"Succeeded": len(good), "Failed": len(bad)}
            files = {"succeeded.jsonl": good, "failed.jsonl": bad}
            for file, rows in files.items():
                bucket.put_object(folder + file, b"".join(_line(row) for row in rows))
            manifest = {"MapRunName": name, "Counts": counts, "Objects": [folder + file for file in files]}
            bucket.put_object(folder + "manifest.json", _line(manifest))
            return {"Bucket": bucket.bucket_name, "Manifest": folder + "manifest.json", **manifest}

    def _items(self, reader: Mapping[str, Any]) -> Iterator[Json]:
        parameters, config = reader.get("SourceParameters", {}), reader.get("ReaderConfig", {})
        bucket = self._bucket(_text(parameters, "Bucket", ""))
        if reader["SourceType"] == "OSS.Objects":
            yield from _listed(bucket, _text(parameters, "Prefix", ""))
            return
        key = _text(parameters, "ObjectName")
        what = f"oss://{bucket.bucket_name}/{key}"
        chunks = _chunks(bucket, key)
        if reader["SourceType"] == "OSS.CSV":
            yield from csv_items(chunks, what, _headers(config), _delimiter(config))
        elif reader["SourceType"] == "OSS.JSONLines":
            yield from json_line_items(chunks, what)
        else:
            yield from json_items(chunks, what)

    def _bucket(self, name: str) -> oss2.Bucket:
        import oss2

        found = self._variables()
        auth = oss2.StsAuth(
            found["ALIBABA_CLOUD_ACCESS_KEY_ID"],
            found["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
            found.get("ALIBABA_CLOUD_SECURITY_TOKEN", ""),
        )
        session = oss2.Session()
        session.session.trust_env = False  # a proxy of the user's has no way to loopback
        return oss2.Bucket(
            auth,
            found["OSS_ENDPOINT"],
            name or found["OSS_BUCKET"],
            session=session,
            connect_timeout=_SECONDS,
            enable_crc=False,
        )


class _named:  # noqa: N801 - a context manager that reads like a function
    """Turns what the SDK raises into an ActionFailure named `OSS.<Code>`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, ActionFailure) or not isinstance(error, Exception):
            return
        import oss2

        if isinstance(error, oss2.exceptions.ServerError):
            raise ActionFailure(f"OSS.{error.code or error.status}", f"{error.message}: {error.details}") from None
        if isinstance(error, oss2.exceptions.OssError):
            raise ActionFailure("OSS.RequestFailed", str(error)[:500]) from None


def _listed(bucket: oss2.Bucket, prefix: str) -> Iterator[Json]:
    import oss2

    for found in oss2.ObjectIterator(bucket, prefix=prefix):
        at = datetime.fromtimestamp(found.last_modified, timezone.utc)
        yield {
            "Key": found.key,
            "Size": found.size,
            "ETag": found.etag,
            "LastModified": f"{at:%Y-%m-%dT%H:%M:%S.000Z}",
            "StorageClass": found.storage_class,
        }


def _chunks(bucket: oss2.Bucket, key: str) -> Iterator[bytes]:
    stream = bucket.get_object(key)
    while chunk := stream.read(_CHUNK):
        yield chunk


def _text(given: Mapping[str, Any], field: str, missing: str | None = None) -> str:
    value = given.get(field, missing)
    if not isinstance(value, str):
        raise ActionFailure("FnF.RuntimeError", f"{field} must be text, not {value!r}"[:300])
    return value


def _headers(config: Mapping[str, Any]) -> list[str] | None:
    given = config.get("Headers")
    if given is None:
        return None
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise ActionFailure("FnF.RuntimeError", "Headers of ReaderConfig must be a list of texts")
    if len(set(given)) < len(given):
        raise ActionFailure("FnF.RuntimeError", "Headers of ReaderConfig has a name twice")
    return list(given)


def _delimiter(config: Mapping[str, Any]) -> str:
    given = _text(config, "Delimiter", ",")
    if len(given) != 1 or given in '\r\n"':
        raise ActionFailure("FnF.RuntimeError", f"Delimiter of ReaderConfig must be one character, not {given[:20]!r}")
    return given


def _line(value: Json) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
