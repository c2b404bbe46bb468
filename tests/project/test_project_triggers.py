"""Triggers of s.yaml: read with the functions, there as soon as the server is up."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_sim.project import TemplateError, load_project

HEAD = """edition: 3.0.0
resources:
  hello:
    component: fc3
    props:
      region: cn-hangzhou
      functionName: hello
      runtime: python3.10
      handler: index.handler
      code: .
      triggers:
"""
TIMER = """        - triggerName: tick
          triggerType: timer
          triggerConfig: {cronExpression: "@every 5m", enable: true}
"""
PAGE = """        - triggerName: page
          triggerType: http
          triggerConfig:
            authType: "${env('AUTH','anonymous')}"
            methods: [GET, POST]
"""


def project(folder: Path, text: str) -> Path:
    (folder / "s.yaml").write_text(HEAD + text, encoding="utf-8")
    (folder / "index.py").write_text("def handler(event, context):\n    return event\n", encoding="utf-8")
    return folder


def test_triggers_are_read_with_their_settings_filled_in(tmp_path: Path) -> None:
    found = load_project(project(tmp_path, TIMER + PAGE), environment={"AUTH": "function"}).functions["hello"].triggers
    assert [(one.name, one.type) for one in found] == [("tick", "timer"), ("page", "http")]
    assert {one.qualifier for one in found} == {"LATEST"}
    assert found[0].config == {"cronExpression": "@every 5m", "enable": True}
    assert found[1].config == {"authType": "function", "methods": ["GET", "POST"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TIMER + TIMER, "'tick' twice"),
        ("        - triggerType: timer\n", "lacks its triggerName"),
        ("        - {triggerName: a, triggerType: cron}\n", "must be one of timer, http"),
        ("        - {triggerName: a, triggerType: http, triggerConfig: x}\n", "must be a map"),
        ("        - just text\n", "lacks its triggerName"),
    ],
)
def test_a_trigger_that_is_none_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TemplateError) as caught:
        load_project(project(tmp_path, text))
    assert said in str(caught.value)
    assert "s.yaml:" in str(caught.value)


def test_the_server_answers_an_http_trigger_of_s_yaml_and_drops_one_that_is_gone(tmp_path: Path) -> None:
    import httpx

    from local_sim.server import LocalServer

    root, data = project(tmp_path, TIMER + PAGE), tmp_path / "data"
    with LocalServer(load_project(root), data, workers="in-process") as server:
        answer = httpx.get(f"{server.endpoint}/http/hello/page/x?y=1")
        assert answer.json()["rawPath"] == "/x"
        assert httpx.delete(f"{server.endpoint}/http/hello/page/x").status_code == 403
    with LocalServer(load_project(project(tmp_path, TIMER)), data, workers="in-process") as server:
        assert httpx.get(f"{server.endpoint}/http/hello/page/x").status_code == 404


def test_the_local_environment_has_the_servers_address_and_a_secret_of_its_own(tmp_path: Path) -> None:
    from local_sim.cloud import LocalCloud
    from local_sim.server import LocalServer

    root = project(tmp_path, TIMER)
    settings = '[tool.local-sim.environment]\nKEYS = "k{secret}"\nPAGE = "{fc}/http"\n'
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    with LocalServer(load_project(root), tmp_path / "one", workers="in-process") as server:
        kept = server.environment["KEYS"]
        assert server.environment["PAGE"] == f"{server.endpoint}/http"
    with LocalCloud(load_project(root), tmp_path / "one") as cloud:
        assert (cloud.environment["KEYS"], cloud.environment["PAGE"]) == (kept, "")
    with LocalCloud(load_project(root), tmp_path / "two") as cloud:
        assert cloud.environment["KEYS"] != kept
    assert len(kept) == 65
    assert ((tmp_path / "one" / "secret.txt").stat().st_mode & 0o777) == 0o600
