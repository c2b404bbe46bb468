"""Every rule of the registry: its example shows it, its mend is clean, the page lists it, load_flow agrees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local_sim.definition import RULES, DefinitionError, check_flow, load_flow
from local_sim.definition.examples import EXAMPLE_FUNCTIONS, EXAMPLES, WITH_FUNCTIONS, whole_flow
from local_sim.definition.findings_page import findings_page

ROOT = Path(__file__).parents[2]
SHOWN = [code for code, example in EXAMPLES.items() if example.broken]
# One fault that cannot come alone: the comment also changes the name StartAt names, and so on.
COMPANIONS = {"SK016": {"SK201"}, "SK109": {"SK110"}, "SK201": {"SK203"}, "SK514": {"SK513"}}


def functions(code: str) -> dict[str, tuple[str, ...]] | None:
    return EXAMPLE_FUNCTIONS if code in WITH_FUNCTIONS else None


def test_every_rule_has_an_example() -> None:
    assert list(EXAMPLES) == list(RULES)


@pytest.mark.parametrize("code", SHOWN)
def test_the_broken_example_shows_the_rule_and_nothing_else(code: str) -> None:
    found = set(check_flow(whole_flow(EXAMPLES[code].broken), functions=functions(code)).codes())
    assert found - COMPANIONS.get(code, set()) == {code}


@pytest.mark.parametrize("code", SHOWN)
def test_the_mended_example_is_clean(code: str) -> None:
    given = None if code == "SK503" else functions(code)
    assert check_flow(whole_flow(EXAMPLES[code].mended), functions=given).findings == ()


@pytest.mark.parametrize("code", SHOWN)
def test_what_the_checker_refuses_load_flow_refuses_with_the_same_words(code: str) -> None:
    text = whole_flow(EXAMPLES[code].broken)
    report = check_flow(text, functions=functions(code))
    if report.errors:
        with pytest.raises(DefinitionError) as caught:
            load_flow(text)
        assert caught.value.findings == report.errors
        assert str(report.errors[0]) in str(caught.value)
    else:
        assert load_flow(text).name == "demo" or code == "SK111"


@pytest.mark.parametrize("code", SHOWN)
def test_strict_makes_everything_an_error(code: str) -> None:
    report = check_flow(whole_flow(EXAMPLES[code].broken), functions=functions(code), strict=True)
    assert report.errors == report.findings
    assert not report.ok


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "findings.md").read_text(encoding="utf-8") == findings_page()


def test_every_assumption_a_rule_leans_on_is_written_down() -> None:
    text = (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8")
    named = {rule.assumption for rule in RULES.values() if rule.assumption}
    assert named <= set(re.findall(r"^\| ([AB]\d\d) ", text, re.MULTILINE))


def test_every_lint_row_of_the_decisions_has_a_rule() -> None:
    lint = {
        "A01",
        "A02",
        "A06",
        "A07",
        "A09",
        "A10",
        "A11",
        "A13",
        "A16",
        "A19",
        "A21",
        "A23",
        "A24",
        "A26",
        "A27",
        "A28",
        "A35",
    }
    lint |= {"A38", "A39"}
    assert lint <= {rule.assumption for rule in RULES.values()}


def test_codes_and_names_are_used_once() -> None:
    slugs = [rule.slug for rule in RULES.values()]
    assert len(slugs) == len(set(slugs))
    assert all(re.fullmatch(r"SK\d{3}", code) for code in RULES)
