"""An error is named after its class, as Retry and Catch match it (A03; C11)."""

from __future__ import annotations

import sys

import pytest
from projects import flow_text, make_project, task

from local_sim.clock import VirtualClock
from local_sim.project import Project
from local_sim.runner import run_flow

HANDLERS = """\
import json
from deep.inner.errors import Declined, 余额不足

class Payment(Exception): ...
class Card(Payment): ...

def pay(event, context):
    kind = json.loads(event)["kind"]
    if kind == "module":
        raise Declined("no")
    if kind == "subclass":
        raise Card("no")
    if kind == "cause":
        try:
            raise KeyError("x")
        except KeyError as error:
            raise Payment("no") from error
    if kind == "group":
        raise ExceptionGroup("two", [Card("a"), Declined("b")])
    if kind == "names":
        raise 余额不足("no")
    class Local(Exception): ...
    raise Local("no")
"""
CATCH = "Catch: [{Errors: [%s], OutputConstructor: {e.$: $Context.Current.Error.Code}, Next: Z}]"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("names")
    (folder / "deep" / "inner").mkdir(parents=True)
    for name in ("deep", "deep/inner"):
        (folder / name / "__init__.py").write_text("", encoding="utf-8")
    text = "class Declined(Exception): ...\nclass 余额不足(Exception): ...\n"
    (folder / "deep/inner/errors.py").write_text(text, encoding="utf-8")
    return make_project(folder, HANDLERS, ["pay"])


def error_of(project: Project, kind: str, *rules: str) -> str:
    states = task("T", "pay", *rules) + "- {Type: Succeed, Name: Z}"
    result = run_flow(project, flow_text("f", states), {"kind": kind}, clock=VirtualClock(0))
    return result.error or f"caught {result.output['e']}"


GROUP = pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with Python 3.11")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("module", "Declined"),
        ("subclass", "Card"),
        ("cause", "Payment"),
        pytest.param("group", "ExceptionGroup", marks=GROUP),
        ("names", "余额不足"),
        ("local", "Local"),
    ],
)
def test_the_error_is_named_after_the_class_that_was_raised(project: Project, kind: str, name: str) -> None:
    assert error_of(project, kind) == name
    assert error_of(project, kind, CATCH % name) == f"caught {name}"


def test_a_subclass_is_not_caught_by_its_parents_name(project: Project) -> None:
    assert error_of(project, "subclass", CATCH % "Payment") == "Card"
