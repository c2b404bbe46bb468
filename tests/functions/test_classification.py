"""Errors are classified by type, status, code, text and business; what no rule knows is P1, and an error in tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.classification import ErrorClass, ErrorTable, Facts, Severity, Unclassified, facts_of, load_table
from functions.errors import InvalidInput, OrderRefused, SystemFault, TemporaryUpstreamError, UncertainOutcome

TABLE = """
rules:
  - {type: TemporaryUpstreamError, status: 401, class: systemic, severity: P1, notify: [operators]}
  - {type: TemporaryUpstreamError, class: transient, severity: P3, retry: true}
  - {code: insufficient_balance, business: [payout], class: business, severity: P0, notify: [finance]}
  - {code: insufficient_balance, class: business, severity: P2, hand_over: true}
  - {text: "余额不足|not enough", class: business, severity: P2}
  - {type: [InvalidInput, OrderRefused], class: business, severity: P3, record: false}
  - {type: UncertainOutcome, class: uncertain, severity: P1, hand_over: true}
"""


@pytest.fixture
def table(tmp_path: Path) -> ErrorTable:
    file = tmp_path / "errors.yaml"
    file.write_text(TABLE, encoding="utf-8")
    return load_table(file)


def refused(reason: str) -> OrderRefused:
    return OrderRefused("no", reason=reason)


@pytest.mark.parametrize(
    ("error", "business", "expected"),
    [
        (TemporaryUpstreamError("busy", upstream="m"), "", (ErrorClass.TRANSIENT, Severity.P3, True, False)),
        (TemporaryUpstreamError("key", upstream="m", status=401), "", (ErrorClass.SYSTEMIC, Severity.P1, False, False)),
        (refused("insufficient_balance"), "payout", (ErrorClass.BUSINESS, Severity.P0, False, True)),
        (refused("insufficient_balance"), "refund", (ErrorClass.BUSINESS, Severity.P2, False, True)),
        (ValueError("账户余额不足"), "", (ErrorClass.BUSINESS, Severity.P2, False, False)),
        (ValueError("NOT ENOUGH money"), "", (ErrorClass.BUSINESS, Severity.P2, False, False)),
        (InvalidInput("no"), "", (ErrorClass.BUSINESS, Severity.P3, False, False)),
        (UncertainOutcome("?", step="s"), "", (ErrorClass.UNCERTAIN, Severity.P1, False, True)),
        (KeyError("x"), "", (ErrorClass.SYSTEMIC, Severity.P1, False, True)),
    ],
)
def test_the_first_rule_that_fits_decides(
    table: ErrorTable, error: Exception, business: str, expected: tuple[ErrorClass, Severity, bool, bool]
) -> None:
    found = table.classify(facts_of(error, business=business))
    assert (found.error_class, found.severity, found.rule.retry, found.rule.hand_over) == expected
    assert found.stops == (found.severity is Severity.P0)


def test_the_rule_is_named(table: ErrorTable) -> None:
    assert table.classify(facts_of(refused("insufficient_balance"))).place == "errors.yaml: rule 4"
    assert table.classify(Facts(("Odd",))).place == ""


def test_causes_are_looked_at_too(table: ErrorTable) -> None:
    try:
        try:
            raise TemporaryUpstreamError("busy", upstream="model", status=503)
        except TemporaryUpstreamError as inner:
            raise RuntimeError("outer") from inner
    except RuntimeError as error:
        facts = facts_of(error)
    assert facts.status == 503
    assert "busy" in facts.text
    assert table.classify(facts).error_class is ErrorClass.TRANSIENT


def test_an_error_nobody_knows_is_an_error_in_tests(table: ErrorTable) -> None:
    strict = ErrorTable(table.source, table.model, strict=True)
    assert strict.classify(facts_of(InvalidInput("no"))).severity is Severity.P3
    with pytest.raises(Unclassified, match="KeyError"):
        strict.classify(facts_of(KeyError("x")))


def test_facts_hold_nothing_that_identifies_anybody() -> None:
    assert "13800138000" not in facts_of(ValueError("call 13800138000")).text


def test_a_circle_of_causes_comes_to_an_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert "other" in facts_of(one).text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules: []", "rules: List should have at least 1 item"),
        ("rules: [{class: business, severity: P1}]", "rule 1: a rule needs a condition"),
        ("rules: [{type: A, class: business, severity: P1, retry: true}]", "rule 1: only transient errors are retried"),
        ("rules: [{type: A, class: odd, severity: P1}]", "rule 1: class: Input should be 'transient'"),
        ("rules: [{type: A, class: business, severity: P9}]", "rule 1: severity: Input should be 'P0'"),
        ("rules: [{typ: A, class: business, severity: P1}]", "rule 1: typ: Extra inputs are not permitted"),
        ("rules: [{text: '(', class: business, severity: P1}]", "rule 1: text is no pattern"),
        ("rules: [", "is not YAML"),
        ("- 1", "valid dictionary"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_with_its_rule(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(SystemFault, match=r"bad\.yaml") as caught:
        load_table(file)
    assert problem in str(caught.value)


def test_a_table_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match="No such file"):
        load_table(tmp_path / "none.yaml")


NAMES = st.sampled_from(["InvalidInput", "TemporaryUpstreamError", "KeyError", "UncertainOutcome"])


@given(st.lists(NAMES, max_size=3), st.none() | st.integers(100, 599), st.text(max_size=20), st.text(max_size=20))
def test_every_error_has_a_class_and_only_transient_ones_are_retried(
    types: list[str], status: int | None, code: str, text: str
) -> None:
    found = ErrorTable("t", _model()).classify(Facts(tuple(types), status, code, text))
    assert not found.rule.retry or found.error_class is ErrorClass.TRANSIENT


def _model() -> object:
    import yaml

    from functions.classification.table import TableModel

    return TableModel.model_validate(yaml.safe_load(TABLE))
