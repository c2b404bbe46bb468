"""The ${...} variables of s.yaml, offline."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_sim.project import Place, TemplateError
from local_sim.project.nodes import Node
from local_sim.project.variables import Renderer
from local_sim.project.yaml_nodes import parse

TEXT = """\
access: main
vars:
  a: one
  b: ${vars.a}-two
  loop: ${vars.loop}
  cloud: ${config('AccountID')}
resources:
  r:
    access: other
    props:
      size: 3
      name: ${this.name}
      list: [x, "${vars.a}"]
"""


@pytest.fixture
def renderer(tmp_path: Path) -> Renderer:
    (tmp_path / "data.json").write_text('{"k": [1, 2]}', encoding="utf-8")
    (tmp_path / "plain.txt").write_text("hello", encoding="utf-8")
    return Renderer(parse(TEXT, "s.yaml"), tmp_path, {"HOME_TOWN": "杭州"})


def render(renderer: Renderer, text: str) -> object:
    return renderer.render(Node(text, Place("s.yaml", 9, 5)), "r").value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${vars.b}", "one-two"),
        ("a ${vars.a} and ${vars.b}!", "a one and one-two!"),
        ("${env('HOME_TOWN')}", "杭州"),
        ("${env('NONE','it''s')}", None),
        ("${env('NONE', 'dflt')}", "dflt"),
        ('${env("NONE","")}', ""),
        ("${this.name}", "r"),
        ("${this.access}", "other"),
        ("${this.props.size}", 3),
        ("${resources.r.props.list}", ["x", "one"]),
        ("n=${this.props.size}", "n=3"),
        ("${file('./plain.txt')}", "hello"),
        ("${json(file('./data.json'))}", {"k": [1, 2]}),
        ("$Context.x {{y}} $$.z", "$Context.x {{y}} $$.z"),
    ],
)
def test_a_variable_has_the_documented_value(renderer: Renderer, text: str, value: object) -> None:
    if value is None:
        with pytest.raises(TemplateError, match="expected quoted text"):
            render(renderer, text)
    else:
        assert render(renderer, text) == value


def test_path_is_absolute_and_relative_to_the_template(renderer: Renderer, tmp_path: Path) -> None:
    assert render(renderer, "${path('./x')}") == str(tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${config('AccountID')}", "cloud credentials"),
        ("acs:${config('AccountID')}:${vars.a}", "cloud credentials"),
        ("${resources.r.output.url}", "after a deploy"),
        ("${env('NONE')}", "NONE is not set"),
        ("${vars.cloud}", "cloud credentials"),
    ],
)
def test_what_only_the_cloud_knows_is_left_with_its_reason(renderer: Renderer, text: str, reason: str) -> None:
    rendered = renderer.render(Node(text, Place("s.yaml", 9, 5)), "r")
    assert rendered.value == text.replace("${vars.a}", "one")
    (problem,) = rendered.unresolved
    assert reason in problem.reason
    assert str(problem.place) == "s.yaml:9:5"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${vars.nope}", "not found in the template"),
        ("${vars.loop}", "refers to itself"),
        ("${resources.q.props.x}", "there is no resource 'q'"),
        ("${file('./none')}", "No such file"),
        ("${json(file('./plain.txt'))}", "not JSON"),
        ("${foo}", "unknown variable"),
        ("${foo('a')}", "unknown function foo()"),
    ],
)
def test_what_can_never_have_a_value_is_an_error_with_its_place(renderer: Renderer, text: str, words: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render(renderer, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith("s.yaml:")
