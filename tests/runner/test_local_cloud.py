"""LocalCloud: lazily started, reachable with the real SDKs, its data outlives it."""

from __future__ import annotations

from pathlib import Path

import oss2
import pytest
from projects import make_project, write_project

from local_sim.cloud import CloudError, LocalCloud


def bucket(environment: dict[str, str] | object, name: str = "b-one") -> oss2.Bucket:
    assert hasattr(environment, "__getitem__")
    auth = oss2.Auth(environment["ALIBABA_CLOUD_ACCESS_KEY_ID"], environment["ALIBABA_CLOUD_ACCESS_KEY_SECRET"])
    return oss2.Bucket(auth, environment["OSS_ENDPOINT"], name)


def test_nothing_runs_before_it_is_needed(tmp_path: Path) -> None:
    with LocalCloud(make_project(tmp_path), tmp_path / "d") as cloud:
        assert not cloud.started
        assert not (tmp_path / "d").exists()
        assert cloud.environment["OSS_ENDPOINT"].startswith("http://127.0.0.1:")
        assert cloud.started
    assert not cloud.started


def test_what_was_stored_is_there_the_next_time(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with LocalCloud(project, tmp_path / "d") as cloud:
        one = bucket(cloud.environment)
        one.create_bucket()
        one.put_object("k", b"v")
    with LocalCloud(project, tmp_path / "d") as cloud:
        assert bucket(cloud.environment).get_object("k").read() == b"v"


def test_a_temporary_cloud_leaves_nothing(tmp_path: Path) -> None:
    with LocalCloud(make_project(tmp_path)) as cloud:
        assert cloud.environment["TABLESTORE_ENDPOINT"]
        folder = cloud.folder
        assert folder.exists()
    assert not folder.exists()


def test_names_come_from_the_template(tmp_path: Path) -> None:
    props = "environmentVariables: {OSS_BUCKET: mine, TABLESTORE_INSTANCE: ours}"
    with LocalCloud(make_project(tmp_path, "", ["f"], props)) as cloud:
        seen = cloud.environment
    assert (seen["OSS_BUCKET"], seen["TABLESTORE_INSTANCE"], seen["FC_REGION"]) == ("mine", "ours", "cn-hangzhou")


def test_two_clouds_cannot_share_a_folder(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with LocalCloud(project, tmp_path / "d") as first, LocalCloud(project, tmp_path / "d") as second:
        assert first.environment
        with pytest.raises(CloudError, match="cannot start"):
            _ = second.environment
        assert not second.started


@pytest.mark.parametrize("hook", ["nocolon", "nomodule:f", "index:nothing"])
def test_a_setup_hook_that_cannot_be_run_is_named(tmp_path: Path, hook: str) -> None:
    write_project(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f'[tool.local-sim]\nsetup = "{hook}"\n', encoding="utf-8")
    from local_sim.project import load_project

    with LocalCloud(load_project(tmp_path)) as cloud, pytest.raises(CloudError, match=hook):
        _ = cloud.environment


def test_a_proxy_of_the_users_is_not_asked_for_the_services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    with LocalCloud(make_project(tmp_path), tmp_path / "d") as cloud:
        assert cloud.environment["NO_PROXY"] == "intranet.example,127.0.0.1,localhost,::1"
        assert cloud.environment["no_proxy"] == cloud.environment["NO_PROXY"]
