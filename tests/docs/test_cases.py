"""docs/cases.md: every case of the groups it has is there, and every test it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALL = [f"C{number:02}" for number in range(1, 64)]
ROW = re.compile(r"^\| (C\d\d) \| [^|]+ \| ([^|]+) \|$", re.M)
GROUPS = {
    "the interpreter": range(1, 22),
    "YAML": range(22, 25),
    "the ledger": range(25, 40),
    "callbacks": range(40, 47),
    "deploying": range(47, 54),
    "payloads": range(54, 60),
    "the documentation's traps": range(60, 64),
}


def page() -> str:
    return (ROOT / "docs/cases.md").read_text(encoding="utf-8")


def named_tests() -> list[str]:
    """Return `file::test`; a name without a file belongs to the file before it, `...` stands for its beginning."""
    found, file = [], ""
    for _, cell in ROW.findall(page()):
        for name in re.findall(r"`([^`]+)`", cell):
            where, _, test = name.rpartition("::") if "::" in name else ("", "", name)
            if name.endswith(".py"):
                found.append(name)
                continue
            file = where or file
            found.append(f"{file}::{test}")
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_every_case_of_the_group_has_a_row_and_a_test(group: str) -> None:
    rows = dict(ROW.findall(page()))
    wanted = [f"C{number:02}" for number in GROUPS[group]]
    assert [case for case in wanted if "`tests/" not in rows.get(case, "")] == []


def test_every_case_stands_there_once() -> None:
    assert sorted(case for case, _ in ROW.findall(page())) == ALL
    assert sorted(number for group in GROUPS.values() for number in group) == list(range(1, 64))


@pytest.mark.parametrize("name", named_tests())
def test_the_test_exists(name: str) -> None:
    file, _, test = name.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    pattern = re.escape(test.removeprefix("...")) if test.startswith("...") else f"def {re.escape(test)}\\("
    assert not test or re.search(pattern, text), test
