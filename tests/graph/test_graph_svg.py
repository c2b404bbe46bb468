"""The picture says what the flow says, and holds whatever names it gets."""

# ruff: noqa: E501 - flows and rows are read as one line

from __future__ import annotations

import json
import sys
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import local_sim.graph as graph
from local_sim.definition import load_flow, load_flow_file
from local_sim.errors import LocalSimError
from local_sim.graph import LayoutMissing, draw_flow
from local_sim.graph.from_flow import END, START, part_of
from local_sim.graph.labels import choose
from local_sim.graph.model import Kind, Line
from local_sim.graph.place import PlacedPart, place
from local_sim.graph.text import shorten, width_of, wrap

IMAGES = Path(__file__).parents[2] / "docs" / "img"
FLOWS = sorted((Path(__file__).parents[2] / "flows").glob("*.yaml"))
SVG = "{http://www.w3.org/2000/svg}"
HEAD = "Type: StateMachine\nSpecVersion: v1\nName: 图\nStartAt: 准备\nStates:\n"
NESTED = HEAD + """
  - Type: Parallel
    Name: 准备
    Branches:
      - {StartAt: a, States: [{Type: Pass, Name: a, Next: b}, {Type: Wait, Name: b, Seconds: 5, End: true}]}
      - StartAt: m
        States:
          - {Type: Map, Name: m, ItemsPath: $Input.l, Processor: {StartAt: x, States: [{Type: Succeed, Name: x}]}, End: true}
    Catch: [{Errors: [A, B], Next: 失败}, {Errors: [FnF.ALL], Next: 失败}]
    Next: "审 & <批>"
  - {Type: Task, Name: "审 & <批>", Action: "FC:InvokeFunction", TaskMode: WaitForCustomCallback, Next: c}
  - Type: Choice
    Name: c
    Branches: [{Condition: '$Input.a < 3 && "x" in $Input', Next: 失败}]
    Default: 准备
  - {Type: Fail, Name: 失败, Code: E, Detail: d}
"""  # fmt: skip
LEGACY = """
version: v1
type: flow
name: old
steps:
  - {type: wait, name: w, timestamp: 2026-01-01T00:00:00Z}
  - {type: choice, name: c, choices: [{condition: $.a == 1, steps: [{type: pass, name: p}], goto: w}]}
  - {type: foreach, name: e, iterationMapping: {collection: $.l, item: i}, steps: [{type: succeed, name: s}]}
"""


def elements(svg: str, kind: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [one for one in root.iter() if (one.get("class") or "").split(" ")[:2] == kind.split(" ")]


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_state_and_every_error_edge_of_the_shipped_flows_is_there() -> None:
    assert FLOWS
    for file in FLOWS:
        flow = load_flow_file(file)
        svg = draw_flow(flow)
        assert set(flow.root.states) <= set(texts(svg))
        caught = {(name, rule.next) for name, state in flow.root.states.items() for rule in getattr(state, "catch", ())}
        in_legend = 1
        assert len(elements(svg, "edge error")) == len(caught) + in_legend


@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.stem)
def test_the_pictures_in_the_docs_show_todays_states(path: Path) -> None:
    flow, picture = load_flow_file(path), IMAGES / f"{path.stem}.svg"
    shown = set(texts(picture.read_text(encoding="utf-8")))
    assert set(flow.root.states) <= shown, f"draw it anew: local-sim graph {flow.source} -o {picture}"


def test_edges_say_what_they_stand_for() -> None:
    part = part_of(load_flow(NESTED))
    found = {(edge.source, edge.target): (edge.line, edge.label) for edge in part.edges}
    assert found[START, "准备"] == (Line.NEXT, "")
    assert found["准备", "失败"] == (Line.ERROR, "A, B, FnF.ALL")
    assert found["c", "失败"] == (Line.CHOICE, '$Input.a < 3 && "x" in $Input')
    assert found["c", "准备"] == (Line.CHOICE, "otherwise")
    kinds = {node.name: node.kind for node in part.nodes}
    assert (kinds["准备"], kinds["审 & <批>"], kinds["失败"]) == (Kind.GROUP, Kind.CALLBACK, Kind.FAIL)
    assert END not in kinds


def test_callbacks_are_hexagons_and_nested_states_lie_in_their_box() -> None:
    svg = draw_flow(load_flow(NESTED))
    groups = elements(svg, "callback")
    assert len(groups) == 1 + 1  # one in the legend
    polygon = groups[0].find(f"{SVG}polygon")
    assert polygon is not None
    assert len((polygon.get("points") or "").split()) == 6
    box = next(node for node in place(part_of(load_flow(NESTED))).nodes if node.node.name == "准备")
    for part in box.parts:
        assert part.x >= 0 <= part.y
        assert part.x + part.width <= box.width + 0.01
        assert part.y + part.height <= box.height + 0.01


def overlapping(part: PlacedPart) -> list[tuple[str, str]]:
    return [
        (one.node.name, two.node.name)
        for one, two in combinations(part.nodes, 2)
        if one.x < two.x + two.width - 0.01
        and two.x < one.x + one.width - 0.01
        and one.y < two.y + two.height - 0.01
        and two.y < one.y + one.height - 0.01
    ]


def test_no_two_states_overlap() -> None:
    for flow in [*map(load_flow_file, FLOWS), load_flow(NESTED), load_flow(LEGACY)]:
        assert overlapping(place(part_of(flow))) == []


def test_the_older_dialect_is_drawn_too() -> None:
    svg = draw_flow(load_flow(LEGACY))
    assert {"w", "c", "p", "e", "s", "until 2026-01-01T00:00:00Z", "Map $.l"} <= set(texts(svg))


def test_light_and_dark_by_the_readers_setting_and_a_legend() -> None:
    svg = draw_flow(load_flow(NESTED))
    assert "@media (prefers-color-scheme:dark)" in svg
    assert "var(" not in svg
    assert {"next", "caught error", "waits for a callback"} <= set(texts(svg))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30).filter(lambda name: name == name.strip() and name.isprintable()), min_size=1, max_size=4, unique=True))  # fmt: skip
def test_any_name_gives_sound_xml_and_twice_the_same(names: list[str]) -> None:
    states = [{"Type": "Pass", "Name": one, "Next": two} for one, two in pairwise(names)]
    states.append({"Type": "Succeed", "Name": names[-1]})
    flow = load_flow(
        json.dumps({"Type": "StateMachine", "SpecVersion": "v1", "Name": "n", "StartAt": names[0], "States": states})
    )
    svg = draw_flow(flow)
    assert len(elements(svg, "name")) >= len(names)
    assert draw_flow(flow) == svg


@given(st.text(max_size=80), st.integers(4, 40), st.integers(1, 4))
def test_wrapped_text_keeps_to_its_lines(text: str, columns: int, lines: int) -> None:
    assert 1 <= len(wrap(text, columns, lines)) <= lines
    assert width_of(shorten(text, columns), 1.0) <= (columns + 2.8) * 0.56


def test_a_label_avoids_what_is_taken() -> None:
    line = [(0.0, 0.0), (0.0, 100.0)]
    assert choose(line, 20, 10, []) == (0.0, 50.0)
    assert choose(line, 20, 10, [(-50, 40, 50, 60)]) == (0.0, 35.0)
    assert choose(line, 20, 10, [(-50, -50, 50, 150)])[0] == 0.0


def test_without_the_layout_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphlay", None)
    with pytest.raises(LayoutMissing, match="pip install"):
        draw_flow(load_flow(NESTED))


def test_exports_are_complete_sorted_and_one_except_takes_all() -> None:
    assert sorted(graph.__all__) == graph.__all__
    assert all(hasattr(graph, name) for name in graph.__all__)
    assert issubclass(LayoutMissing, graph.GraphError)
    assert issubclass(graph.GraphError, LocalSimError)
