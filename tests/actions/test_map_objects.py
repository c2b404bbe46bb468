"""Distributed Maps over objects of the local OSS, by `run_flow` and by the server, on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oss2
import pytest
from projects import flow_text, make_project
from served_oss import bucket_of, served

from local_sim.cloud import LocalCloud
from local_sim.engine import Status
from local_sim.project import Project
from local_sim.runner import RunResult, run_flow

CHILD = "- {Type: Pass, Name: Each, End: true}"
PICKY = (
    "- {Type: Choice, Name: Each, Branches: [{Condition: '$Input.n == 2', Next: Bad}], Default: Good}\n"
    "      - {Type: Fail, Name: Bad, Code: Odd, Detail: two}\n"
    "      - {Type: Pass, Name: Good, End: true}"
)
MAP = """\
- Type: Map
  Name: All
  ProcessorConfig: {{ExecutionMode: Express}}
  {lines}
  Processor:
    StartAt: Each
    States:
      {child}
  End: true
"""


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    folder = tmp_path_factory.mktemp("oss")
    with LocalCloud(make_project(folder), folder / "data") as made:
        bucket_of(made.environment).create_bucket()
        yield made


def put(cloud: LocalCloud, key: str, data: str | bytes) -> None:
    bucket_of(cloud.environment).put_object(key, data)


def reader(source: str, key: str, more: str = "") -> str:
    return f"ItemReader: {{SourceType: {source}, SourceParameters: {{ObjectName: {key}}}{more}}}"


def run(cloud: LocalCloud, *lines: str, child: str = CHILD, value: object = None) -> RunResult:
    states = MAP.format(lines="\n  ".join(lines), child=child)
    return run_flow(cloud.project, flow_text("f", states), value or {}, cloud=cloud)


@pytest.mark.parametrize(
    ("kind", "key", "data", "items"),
    [
        ("OSS.CSV", "a.csv", "id,name\n1,甲\n2,b\n", [{"id": "1", "name": "甲"}, {"id": "2", "name": "b"}]),
        ("OSS.JSONLines", "a.jsonl", '{"n":1}\n{"n":2}\n', [{"n": 1}, {"n": 2}]),
        ("OSS.JSON", "a.json", '[{"n": 1}, {"n": 12345678901234567890}]', [{"n": 1}, {"n": 12345678901234567890}]),
        ("OSS.JSON", "none.json", "[]", []),
    ],
)
def test_items_are_read_from_an_object(cloud: LocalCloud, kind: str, key: str, data: str, items: list[Any]) -> None:
    put(cloud, key, data.encode())
    result = run(cloud, reader(kind, key))
    assert (result.cause, result.output) == ("", {"Items": items})


def test_a_csv_may_come_without_a_header_and_with_another_delimiter(cloud: LocalCloud) -> None:
    put(cloud, "b.csv", "1;x\n")
    result = run(cloud, reader("OSS.CSV", "b.csv", ", ReaderConfig: {Headers: [id, v], Delimiter: ';'}"))
    assert result.output == {"Items": [{"id": "1", "v": "x"}]}


def test_the_objects_below_a_prefix_are_items(cloud: LocalCloud) -> None:
    for number in range(3):
        put(cloud, f"in/{number}", "x" * number)
    lines = "ItemReader: {SourceType: OSS.Objects, SourceParameters: {Prefix.$: $Input.p}}"
    made = run(cloud, lines, "ItemConstructor: {k.$: $Item.Key, s.$: $Item.Size}", value={"p": "in/"})
    assert made.output == {"Items": [{"k": f"in/{number}", "s": number} for number in range(3)]}


def test_a_listing_goes_over_several_pages_and_stops_at_max_items(cloud: LocalCloud) -> None:
    for number in range(130):
        put(cloud, f"many/{number:03}", "")
    lines = "ItemReader: {SourceType: OSS.Objects, SourceParameters: {Prefix: many/}}"
    batches = "ItemBatcher: {MaxItemsPerBatch: 60}"
    out = "OutputConstructor: {n.$: length($Output.Items)}"
    assert run(cloud, lines, batches, out).output == {"n": 3}
    assert run(cloud, lines, "MaxItems: 70", out).output == {"n": 70}


@pytest.mark.parametrize(
    ("lines", "error", "says"),
    [
        (reader("OSS.CSV", "gone.csv"), "OSS.NoSuchKey", "gone.csv"),
        (
            "ItemReader: {SourceType: OSS.JSON, SourceParameters: {Bucket: no-such-bucket, ObjectName: k}}",
            "OSS.NoSuchBucket",
            "",
        ),
        (reader("OSS.CVS", "a.csv"), "FnF.RuntimeError", "did you mean OSS.CSV?"),
        ("ItemReader: {SourceType: OSS.JSON}", "FnF.RuntimeError", "needs ObjectName"),
        (reader("OSS.JSON", "a.json", ", ReaderConfig: {Headers: [a]}"), "FnF.RuntimeError", "no field 'Headers'"),
        (reader("OSS.CSV", "a.csv", ", ReaderConfig: {Delimiter: ab}"), "FnF.RuntimeError", "one character"),
        (reader("OSS.CSV", "a.csv", ", ReaderConfig: {Headers: [a, a]}"), "FnF.RuntimeError", "a name twice"),
        ("ItemReader: {SourceType: OSS.JSON, SourceParameters: {ObjectName: 7}}", "FnF.RuntimeError", "must be text"),
    ],
)
def test_what_cannot_be_read_fails_the_map_by_name(cloud: LocalCloud, lines: str, error: str, says: str) -> None:
    result = run(cloud, lines)
    assert result.error == error
    assert says in result.cause


def test_catch_takes_what_oss_refused(cloud: LocalCloud) -> None:
    caught = "Catch: [{Errors: [OSS.NoSuchKey], OutputConstructor: {why.$: $Context.Current.Error.Code}, Next: None}]"
    states = MAP.format(lines=f"{reader('OSS.JSON', 'gone.json')}\n  {caught}", child=CHILD)
    result = run_flow(cloud.project, flow_text("f", states + "- {Type: Succeed, Name: None}"), {}, cloud=cloud)
    assert result.output == {"why": "OSS.NoSuchKey"}


def test_results_are_written_where_the_next_map_can_read_them(cloud: LocalCloud) -> None:
    put(cloud, "three.jsonl", '{"n":1}\n{"n":2}\n{"n":3}\n')
    writer = "ResultWriter: {Parameters: {Prefix: out/}}"
    lines = (reader("OSS.JSONLines", "three.jsonl"), writer, "ToleratedFailureCount: 1")
    result = run(cloud, *lines, child=PICKY)
    assert result.status is Status.SUCCEEDED, result.cause
    assert result.output["Counts"] == {"Succeeded": 2, "Failed": 1}
    bucket = bucket_of(cloud.environment)
    manifest = json.loads(bucket.get_object(result.output["Manifest"]).read())
    good, bad = (bucket.get_object(key).read().decode() for key in manifest["Objects"])
    assert [json.loads(line) for line in good.splitlines()] == [
        {"Index": 0, "Status": "Succeeded", "Output": {"n": 1}},
        {"Index": 2, "Status": "Succeeded", "Output": {"n": 3}},
    ]
    assert json.loads(bad) == {"Index": 1, "Status": "Failed", "Error": "Odd", "Cause": "two"}
    again = run(cloud, reader("OSS.JSONLines", manifest["Objects"][0]), "ItemConstructor: {n.$: $Item.Output.n}")
    assert again.output == {"Items": [{"n": 1}, {"n": 3}]}


@pytest.mark.parametrize(
    ("writer", "error", "says"),
    [
        ("{Parameters: {Bucket: no-such-bucket}}", "OSS.NoSuchBucket", ""),
        ("{Parameters: {Prefx: a}}", "FnF.RuntimeError", "did you mean Prefix?"),
        ("{Prefix: a}", "FnF.RuntimeError", "ResultWriter has no field 'Prefix'"),
    ],
)
def test_results_that_cannot_be_written_fail_the_map(cloud: LocalCloud, writer: str, error: str, says: str) -> None:
    result = run(cloud, "ItemsPath: $Input.xs", f"ResultWriter: {writer}", value={"xs": [{"n": 1}]})
    assert result.error == error
    assert says in result.cause


def test_more_items_than_an_execution_may_have_are_refused(cloud: LocalCloud) -> None:
    put(cloud, "huge.jsonl", "{}\n" * 10_001)
    result = run(cloud, reader("OSS.JSONLines", "huge.jsonl"))
    assert (result.error, "10001 items, the limit is 10000" in result.cause) == ("FnF.MapItemsExceeded", True)


def test_any_text_survives_writing_and_reading(cloud: LocalCloud) -> None:
    items = [{"t": "whole 😀"}, {"t": "a\nb"}]
    writer = "ResultWriter: {Parameters: {Prefix: text/}}"
    written = run(cloud, "ItemsPath: $Input.xs", writer, value={"xs": items})
    key = written.output["Objects"][0]
    again = run(cloud, reader("OSS.JSONLines", key), "ItemConstructor: {t.$: $Item.Output.t}")
    assert again.output == {"Items": items}


@pytest.mark.parametrize("secret", [None, "s3cret"])
def test_the_server_reads_and_writes_too(tmp_path: Path, secret: str | None) -> None:
    states = MAP.format(
        lines=f"{reader('OSS.CSV', 'a.csv')}\n  ResultWriter: {{Parameters: {{Prefix: r/}}}}", child=CHILD
    )
    with served(Project(tmp_path), tmp_path / "data", secret) as client:
        bucket = bucket_of(client.environment)
        bucket.create_bucket()
        bucket.put_object("a.csv", "id\n1\n2\n")
        status, output = client.run("f", flow_text("f", states))
        assert (status, output["Counts"]) == ("Succeeded", {"Succeeded": 2, "Failed": 0})
        rows = bucket.get_object(output["Objects"][0]).read().decode().splitlines()
        assert [json.loads(row)["Output"] for row in rows] == [{"id": "1"}, {"id": "2"}]


def test_sdk_faults_without_an_answer_have_a_name(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise oss2.exceptions.RequestError(OSError("connection refused"))

    monkeypatch.setattr(oss2.Bucket, "get_object", gone)
    assert run(cloud, reader("OSS.JSON", "a.json")).error == "OSS.RequestFailed"
