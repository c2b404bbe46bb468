"""Outside services: a project's own ASGI apps beside the local cloud, found by handlers through their variable."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from projects import flow_text, make_project, task, write_project

from local_sim.cloud import CloudError, LocalCloud
from local_sim.engine.events import Status
from local_sim.project import OutsideService, Project, ProjectError, load_project
from local_sim.runner import run_flow

APP = """\
class App:
    def __init__(self, folder):
        self.folder = folder

    async def __call__(self, scope, receive, send):
        seen = self.folder / "seen"
        seen.write_text(seen.read_text() + "x" if seen.exists() else "x")
        if scope["path"] == "/block":
            import time
            time.sleep(1.5)
        body = seen.read_bytes()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def close(self):
        (self.folder / "closed").touch()


def create_app(folder):
    return App(folder)


def broken(folder):
    raise RuntimeError("no licence")
"""
HANDLERS = """\
import json, os, urllib.request

def ask(event, context):
    with urllib.request.urlopen(os.environ["WEATHER_URL"]) as answer:
        return json.dumps({"said": answer.read().decode()})
"""


def services(folder: Path, *lines: str) -> None:
    text = "\n".join(["[tool.local-sim.services]", *lines])
    (folder / "pyproject.toml").write_text(text + "\n", encoding="utf-8")


def project(folder: Path, app: str = "weather:create_app", props: str = "") -> Project:
    write_project(folder, HANDLERS, ["ask"], props)
    (folder / "weather.py").write_text(APP, encoding="utf-8")
    services(folder, f'weather = {{app = "{app}", variable = "WEATHER_URL"}}')
    return load_project(folder)


def get(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())


def test_services_are_read_from_the_project(tmp_path: Path) -> None:
    assert project(tmp_path).settings.services == (OutsideService("weather", "weather:create_app", "WEATHER_URL"),)


def test_a_project_needs_none(tmp_path: Path) -> None:
    assert make_project(tmp_path).settings.services == ()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('weather = "weather:create_app"', "must be {app"),
        ('weather = {app = "weather:create_app"}', "must be {app"),
        ('weather = {app = "weather", variable = "W"}', "module:function, not 'weather'"),
        ('weather = {app = "weather:create_app", variable = "1W"}', "no name of an environment variable"),
        ('"a/b" = {app = "weather:create_app", variable = "W"}', "a letter first"),
        ('a = {app = "a:b", variable = "W"}\nb = {app = "a:c", variable = "W"}', "two services have the variable W"),
    ],
)
def test_a_service_that_cannot_be_read_is_named(tmp_path: Path, line: str, named: str) -> None:
    services(tmp_path, line)
    with pytest.raises(ProjectError, match=r"\[tool\.local-sim\.services\]") as caught:
        load_project(tmp_path)
    assert named in str(caught.value)


def test_a_table_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.local-sim]\nservices = "all"\n', encoding="utf-8")
    with pytest.raises(ProjectError, match="services must be a table"):
        load_project(tmp_path)


@pytest.mark.parametrize("workers", ["in-process", "process"])
def test_a_handler_finds_the_service_and_s_yaml_is_overruled(tmp_path: Path, workers: str) -> None:
    given = project(tmp_path, props="environmentVariables: {WEATHER_URL: 'http://weather.invalid'}")
    flow = flow_text("sky", task("Ask", "ask"))
    result = run_flow(given, flow, {}, data_dir=tmp_path / "d", workers=workers)  # type: ignore[arg-type]
    assert (result.status, result.output["Body"]) == (Status.SUCCEEDED, {"said": "x"})


def test_nothing_is_imported_or_started_before_it_is_needed(tmp_path: Path) -> None:
    with LocalCloud(project(tmp_path, "weather:broken"), tmp_path / "d") as cloud:
        assert not cloud.started
        assert not (tmp_path / "d").exists()


def test_its_files_lie_in_a_folder_of_their_own_and_outlive_it(tmp_path: Path) -> None:
    given = project(tmp_path)
    for answer in ("x", "xx"):
        with LocalCloud(given, tmp_path / "d") as cloud:
            assert cloud.environment["WEATHER_URL"].startswith("http://127.0.0.1:")
            assert get(cloud.environment["WEATHER_URL"]) == answer
    assert sorted(file.name for file in (tmp_path / "d/outside/weather").iterdir()) == ["closed", "seen"]


def test_a_service_that_blocks_does_not_hold_up_the_cloud(tmp_path: Path) -> None:
    with LocalCloud(project(tmp_path), tmp_path / "d") as cloud:
        environment = cloud.environment
        asking = threading.Thread(target=get, args=(environment["WEATHER_URL"] + "/block",))
        asking.start()
        while not (tmp_path / "d/outside/weather/seen").exists():
            time.sleep(0.01)
        begun = time.monotonic()
        with pytest.raises(urllib.error.HTTPError):
            get(environment["OSS_ENDPOINT"] + "/no-such-bucket/key")
        assert time.monotonic() - begun < 1
        asking.join()


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        ("weather:broken", "RuntimeError: no licence"),
        ("nowhere:create_app", "ModuleNotFoundError"),
        ("weather:nothing", "AttributeError"),
    ],
)
def test_a_service_that_cannot_start_is_named_and_nothing_stays_up(tmp_path: Path, app: str, reason: str) -> None:
    with LocalCloud(project(tmp_path, app), tmp_path / "d") as cloud:
        with pytest.raises(CloudError, match=f"outside service weather .*{reason}"):
            _ = cloud.environment
        assert not cloud.started
    with LocalCloud(project(tmp_path), tmp_path / "d") as cloud:
        assert get(cloud.environment["WEATHER_URL"]) == "x"


def test_the_setup_hook_sees_the_address_and_runs_once_though_it_changes(tmp_path: Path) -> None:
    project(tmp_path)
    hook = "import os, pathlib\ndef setup():\n    with pathlib.Path(__file__).with_name('log').open('a') as log:\n"
    (tmp_path / "hook.py").write_text(hook + "        log.write(os.environ['WEATHER_URL'] + '\\n')\n", encoding="utf-8")
    settings = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(f'[tool.local-sim]\nsetup = "hook:setup"\n{settings}', encoding="utf-8")
    for _ in range(2):
        with LocalCloud(load_project(tmp_path), tmp_path / "d") as cloud:
            assert cloud.environment["WEATHER_URL"]
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("http://127.0.0.1:")


def test_the_server_plays_them_too(tmp_path: Path) -> None:
    from local_sim.server import LocalServer

    with LocalServer(project(tmp_path), tmp_path / "d", workers="in-process") as server:
        assert get(server.environment["WEATHER_URL"]) == "x"
