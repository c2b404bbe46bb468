"""The conformance suite as a whole: how many rows it has, and that each names its source.

A row is one line of a parametrized table that has a column `source`, or an object with one: a page of the language
reference by its key, an assumption's id (docs/assumptions.md) or a case's, C01 to C63 (docs/cases.md).
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from local_sim.expression.signatures import ALIASES, SIGNATURES

TESTS = Path(__file__).parents[1]
ROOMS = ("engine", "definition", "expression", "legacy", "actions", "runner")
PAGES = {
    *("FDL", "TASK", "PASS", "WAIT", "CHOICE", "PAR", "MAP", "MAPI", "MAPD", "SUCC", "FAIL", "IO", "DATA", "GLOB"),
    *("FUNC", "ERR", "MODE", "INT", "FC", "HTTP", "MNS", "SUB", "LIM", "LIMOLD", "EXEC", "EXI", "SDK", "META"),
    *("OLDTASK", "OLDERR", "SAMPLES", "FCERR", "IMS"),
}
SECTION = re.compile(r"\d+(\.\d+)*( [a-z-]+)?|issue 3")
"""A section of the older dialect's page, with the name of the sample; the issue's own list of ten faults."""
FILES = {
    "Pass": "engine/test_engine_pass.py",
    "Task": "engine/test_engine_task.py",
    "Choice": "engine/test_engine_choice.py",
    "Parallel": "engine/test_engine_parallel.py",
    "Map, inline": "engine/test_engine_map.py",
    "Map, distributed": "engine/test_engine_map_run.py",
    "Wait": "engine/test_engine_wait.py",
    "Succeed": "engine/test_engine_succeed.py",
    "Fail": "engine/test_engine_fail.py",
    "retry": "engine/test_engine_retry.py",
    "catch": "engine/test_engine_catch.py",
    "globals": "engine/test_engine_globals.py",
    "callbacks": "engine/test_engine_callbacks.py",
    "context": "engine/test_engine_context.py",
    "limits": "engine/test_engine_limits_table.py",
    "big integers": "engine/test_engine_integers.py",
    "sub-flows": "runner/test_conformance_subflows.py",
    "HTTP": "runner/test_conformance_http.py",
    "functions": "expression/test_expression_conformance.py",
    "conditions": "expression/test_expression_conditions.py",
    "fields": "definition/test_definition_fields.py",
    "the older dialect, data": "legacy/test_legacy_data.py",
    "the older dialect, choices": "legacy/test_legacy_choices.py",
    "the older dialect, tasks": "legacy/test_legacy_tasks.py",
}
"""One file for each state and topic."""
WANTED = 400


def load(path: Path) -> ModuleType:
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    return importlib.import_module(path.stem)


def sources(path: Path) -> Iterator[str]:
    """Yield the source of every row of a file's tables."""
    if "source" not in path.read_text(encoding="utf-8") and "rows(" not in path.read_text(encoding="utf-8"):
        return
    for _, test in inspect.getmembers(load(path), inspect.isfunction):
        for mark in getattr(test, "pytestmark", []):
            if mark.name == "parametrize":
                yield from _sources_of(*mark.args[:2])


def _sources_of(names: str | tuple[str, ...], values: list[object]) -> Iterator[str]:
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for value in values:
        if "source" in columns:
            yield str(value[columns.index("source")] if len(columns) > 1 else value)  # type: ignore[index]
        elif hasattr(value, "source"):
            yield str(value.source)


@pytest.fixture(scope="module")
def counts() -> dict[str, Counter[str]]:
    files = sorted(path for room in ROOMS for path in (TESTS / room).glob("test_*.py"))
    return {str(path.relative_to(TESTS)): Counter(sources(path)) for path in files}


def test_there_are_enough_rows(counts: dict[str, Counter[str]]) -> None:
    total = sum(sum(found.values()) for found in counts.values())
    assert total >= WANTED, {file: sum(found.values()) for file, found in counts.items() if found}


@pytest.mark.parametrize("topic", FILES)
def test_every_state_and_topic_has_a_file_of_its_own(topic: str, counts: dict[str, Counter[str]]) -> None:
    assert sum(counts[FILES[topic]].values()) > 0, FILES[topic]


@pytest.mark.parametrize("function", sorted({*SIGNATURES, *ALIASES}))
def test_every_built_in_function_has_rows(function: str) -> None:
    text = (TESTS / FILES["functions"]).read_text(encoding="utf-8")
    assert len(re.findall(rf"\b{function}\(", text)) >= 1


def test_every_row_names_a_source_that_exists(counts: dict[str, Counter[str]]) -> None:
    assumptions = set(
        re.findall(r"^\| ([A-Z]\d\d) \|", (TESTS.parent / "docs/assumptions.md").read_text("utf-8"), re.M)
    )
    cases = {f"C{number:02}" for number in range(1, 64)}
    known = PAGES | assumptions | cases
    unknown = {
        (file, source)
        for file, found in counts.items()
        for source in found
        if not SECTION.fullmatch(source) and not set(re.split(r"[,:;] ?", source)) <= known
    }
    assert unknown == set()
