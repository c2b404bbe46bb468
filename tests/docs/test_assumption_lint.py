"""docs/assumptions.md: what it marks as lint, the checker reports; what the checker leans on, it lists."""

from __future__ import annotations

import re
from pathlib import Path

from local_sim.definition import RULES

PAGE = (Path(__file__).parents[2] / "docs/assumptions.md").read_text(encoding="utf-8")
LANGUAGE = PAGE.split("## The flow language and CloudFlow's API")[1].split("\n## ")[0]
LEANT_ON = {rule.assumption for rule in RULES.values() if rule.assumption}


def lines() -> dict[str, str]:
    """Return the lint column of each row of the language's table."""
    rows = re.findall(r"^\| ([A-Z]\d\d) \| .* \| ([^|]+) \|$", LANGUAGE.replace("\\|", "/"), re.M)
    return {name: lint.strip() for name, lint in rows}


def test_every_assumption_marked_lint_has_a_rule() -> None:
    marked = {name for name, lint in lines().items() if lint != "-"}
    assert len(marked) >= 15
    assert marked <= LEANT_ON


def test_every_rule_leans_on_an_assumption_that_is_listed() -> None:
    assert set(re.findall(r"^\| ([A-Z]\d\d) \|", PAGE, re.M)) >= LEANT_ON


def test_every_id_stands_there_once() -> None:
    ids = re.findall(r"^\| ([A-Z]\d\d) \|", PAGE, re.M)
    assert sorted(ids) == sorted(set(ids))
