"""The requests that Serverless Devs' fc3 makes in one `s deploy`, in its order (serverless-devs page, section 5)."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from local_sim.project import Project, load_project
from local_sim.server import LocalServer
from local_sim.services.oss.checksums import crc64

API = "/2023-03-30/functions"


def package(text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", text)
    return buffer.getvalue()


class Deployer:
    def __init__(self, endpoint: str) -> None:
        self.client = httpx.Client(base_url=endpoint, trust_env=False, timeout=20)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.request(method, path, json=body, headers=headers)

    def deploy(self, name: str, text: str) -> Any:
        """Do what `s deploy` does; returns the function as it is afterwards."""
        found = self.ask("GET", f"{API}/{name}")
        for path in (
            "async-invoke-config?qualifier=LATEST",
            "vpc-bindings",
            "scaling-config?qualifier=LATEST",
            "concurrency",
        ):
            assert self.ask("GET", f"{API}/{name}/{path}").status_code in (200, 404)
        code = package(text)
        body: dict[str, Any] = {"functionName": name, "runtime": "python3.10", "handler": "index.handler", "timeout": 3}
        body |= {"memorySize": 512, "cpu": 0.35, "diskSize": 512, "nasConfig": {}, "vpcConfig": {}, "layers": []}
        body |= {
            "role": "acs:ram::1:role/myfcrole",
            "tags": [{"Key": "team", "Value": "x"}],
            "environmentVariables": {},
        }
        if found.status_code == 404 or found.json()["codeChecksum"] != str(crc64(code)):
            token = self.ask("GET", "/2016-08-15/tempBucketToken").json()
            assert {"AccessKeyId", "AccessKeySecret", "SecurityToken"} <= set(token["credentials"])
            key = f"1000000000000000/{token['objectName']}"
            put = self.client.put(f"/{key}", content=code)
            assert (put.status_code, put.headers["x-oss-hash-crc64ecma"]) == (200, str(crc64(code)))
            body["code"] = {"ossBucketName": token["ossBucket"], "ossObjectName": key}
        made = self.ask("POST", API, body) if found.status_code == 404 else self.ask("PUT", f"{API}/{name}", body)
        assert made.status_code == 200, made.text
        return self.ask("GET", f"{API}/{name}").json()


@pytest.fixture
def deployer(tmp_path: Path) -> Iterator[Deployer]:
    with LocalServer(Project(tmp_path), tmp_path / "data", workers="in-process") as server:
        made = Deployer(server.endpoint)
        yield made
        made.client.close()


def test_deploy_changes_what_runs_and_skips_an_unchanged_upload(deployer: Deployer) -> None:
    first = deployer.deploy("f", "def handler(event, context): return 'one'")
    assert (first["state"], first["codeSize"] > 0, first["role"]) == ("Active", True, "acs:ram::1:role/myfcrole")
    assert deployer.ask("POST", f"{API}/f/invocations").text == "one"
    again = deployer.deploy("f", "def handler(event, context): return 'one'")
    assert again["codeChecksum"] == first["codeChecksum"]
    deployer.deploy("f", "def handler(event, context): return 'two'")
    assert deployer.ask("POST", f"{API}/f/invocations").text == "two"


def test_triggers_are_sent_with_their_config_as_text(deployer: Deployer) -> None:
    deployer.deploy("f", "def handler(event, context): return ''")
    config = json.dumps({"cronExpression": "@every 1m", "enable": False, "payload": "x"})
    body = {"triggerName": "t", "triggerType": "timer", "triggerConfig": config, "qualifier": "LATEST"}
    assert deployer.ask("GET", f"{API}/f/triggers/t").json()["Code"] == "TriggerNotFound"
    assert deployer.ask("POST", f"{API}/f/triggers", body).json()["triggerConfig"] == config
    assert deployer.ask("PUT", f"{API}/f/triggers/t", body).status_code == 200
    assert [trigger["triggerName"] for trigger in deployer.ask("GET", f"{API}/f/triggers").json()["triggers"]] == ["t"]


def test_the_domain_component_learns_that_there_is_no_domain(deployer: Deployer) -> None:
    answer = deployer.ask("GET", "/2023-03-30/custom-domains/example.com")
    assert (answer.status_code, answer.json()["Code"]) == (404, "DomainNameNotFound")


def test_remove_leaves_nothing(deployer: Deployer) -> None:
    deployer.deploy("f", "def handler(event, context): return ''")
    deployer.ask("PUT", f"{API}/f/async-invoke-config?qualifier=LATEST", {"maxAsyncRetryAttempts": 1})
    deployer.ask("DELETE", f"{API}/f/async-invoke-config?qualifier=LATEST")
    assert deployer.ask("DELETE", f"{API}/f").status_code == 204
    assert deployer.ask("GET", f"{API}/f").json()["Code"] == "FunctionNotFound"
    assert deployer.ask("GET", API).json() == {"functions": []}


def test_uploads_go_only_to_names_that_were_handed_out(deployer: Deployer) -> None:
    refused = deployer.client.put("/1000000000000000/guess", content=b"x")
    assert (refused.status_code, refused.json()["Code"]) == (400, "PathNotSupported")


def test_chunked_and_fixed_length_bodies_are_the_same(deployer: Deployer) -> None:
    deployer.deploy("f", "def handler(event, context): return event")
    data = b"\x00\xff" * 100_000
    fixed = deployer.client.post(f"{API}/f/invocations", content=data)
    chunked = deployer.client.post(f"{API}/f/invocations", content=iter([data[:7], data[7:]]))
    assert fixed.content == chunked.content == data


def test_edited_code_of_a_project_is_used_without_a_restart(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "edition: 3.0.0\nname: x\naccess: default\nresources:\n  f:\n    component: fc3\n    props:\n"
        "      region: cn-hangzhou\n      functionName: f\n      runtime: python3.10\n      handler: index.handler\n"
        "      code: ./code\n"
    )
    (tmp_path / "code").mkdir()
    source = tmp_path / "code" / "index.py"
    source.write_text("def handler(event, context): return 'one'")
    server = LocalServer(load_project(tmp_path), tmp_path / "data")
    with server, httpx.Client(base_url=server.start().endpoint, trust_env=False) as client:
        assert client.post(f"{API}/f/invocations").text == "one"
        source.write_text("def handler(event, context): return 'another'")
        deadline = time.monotonic() + 10
        while client.post(f"{API}/f/invocations").text != "another":
            assert time.monotonic() < deadline, "the edit was never noticed"
        assert "LOCAL_SIM_CODE_STAMP" not in client.get(f"{API}/f").text


def test_code_in_oss_is_read_from_the_local_oss(tmp_path: Path) -> None:
    import oss2

    with LocalServer(Project(tmp_path), tmp_path / "data", workers="in-process") as server:
        bucket = oss2.Bucket(oss2.Auth("local", "local"), server.environment["OSS_ENDPOINT"], "code-bucket")
        bucket.create_bucket()
        bucket.put_object("f.zip", package("def handler(event, context): return 'from oss'"))
        body = {
            "functionName": "f",
            "runtime": "python3.10",
            "handler": "index.handler",
            "code": {"ossBucketName": "code-bucket", "ossObjectName": "f.zip"},
        }
        with httpx.Client(base_url=server.endpoint, trust_env=False) as client:
            assert client.post(API, json=body).status_code == 200
            assert client.post(f"{API}/f/invocations").text == "from oss"
            missing = {**body, "functionName": "g", "code": {"ossBucketName": "code-bucket", "ossObjectName": "none"}}
            assert client.post(API, json=missing).json()["Code"] == "InvalidArgument"
