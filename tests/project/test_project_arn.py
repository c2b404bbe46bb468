"""All forms of function and flow ARNs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import make_project

from local_sim.project import FunctionArn, InvalidArn, parse_flow_arn, parse_function_arn

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,20}", fullmatch=True)


@pytest.mark.parametrize(
    ("arn", "expected"),
    [
        ("acs:fc:cn-hangzhou:123:services/s/functions/f", FunctionArn("f", "LATEST", "s")),
        ("acs:fc:cn-hangzhou:123:services/s.prod/functions/f", FunctionArn("f", "prod", "s")),
        ("acs:fc:::services/s.LATEST/functions/f", FunctionArn("f", "LATEST", "s")),
        ("acs:fc:cn-hangzhou:123:functions/f/2", FunctionArn("f", "2")),
        ("acs:fc:cn-hangzhou:123:functions/f", FunctionArn("f")),
        ("acs:fc:::functions/f/LATEST", FunctionArn("f")),
    ],
)
def test_every_documented_form_is_taken_apart(arn: str, expected: FunctionArn) -> None:
    assert parse_function_arn(arn) == expected


@pytest.mark.parametrize("arn", [None, 5, "", "f", "acs:fc:::functions/", "acs:fc:::functions/9f", "acs:fnf:::flow/f"])
def test_anything_else_is_no_function_arn(arn: object) -> None:
    with pytest.raises(InvalidArn) as caught:
        parse_function_arn(arn)
    assert caught.value.arn == arn


@given(NAMES, st.sampled_from(["", "/LATEST", "/7", "/prod-1"]))
def test_a_function_name_survives(name: str, qualifier: str) -> None:
    assert parse_function_arn(f"acs:fc:cn-beijing:1:functions/{name}{qualifier}").name == name


def test_flow_arns() -> None:
    assert parse_flow_arn("acs:fnf:::flow/child") == "child"
    assert parse_flow_arn("acs:fnf:cn-hangzhou:1:flow/child") == "child"
    with pytest.raises(InvalidArn):
        parse_flow_arn("acs:fc:::functions/f")


def test_a_project_finds_the_function_of_an_arn(tmp_path: Path) -> None:
    project = make_project(tmp_path, functions=["f"])
    assert project.function_of("acs:fc:::services/any.LATEST/functions/f").name == "f"
    assert project.function_of("acs:fc:::functions/f").name == "f"
