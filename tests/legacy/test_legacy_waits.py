"""Waits of the older dialect: durations, RFC 3339 in full (C14)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from engine_kit import simulate
from hypothesis import given
from hypothesis import strategies as st
from legacy_kit import legacy

from local_sim.definition import InvalidFlowError
from local_sim.definition.legacy.timestamps import BadTimestamp, parse_timestamp

START = 1_790_000_000_000  # 2026-09-21T14:13:20Z


def waited_ms(field: str, value: object = None) -> float:
    run = simulate(legacy(f"- {{type: wait, name: w, {field}}}"), input={"at": value}, start_ms=START)
    assert run.status == "Succeeded", run.cause
    return run.at_ms - START


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("2026-09-21T14:14:20Z", 60_000),
        ("2026-09-21T22:14:20+08:00", 60_000),
        ("2026-09-21T10:44:20-03:30", 60_000),
        ("2026-09-21T14:14:20.000Z", 60_000),
        ("2026-09-21T14:13:20.243167252Z", 244),
        ("2026-09-21t14:14:20z", 60_000),
        ("2026-09-21 14:14:20Z", 60_000),
        ("2026-09-21T14:13:20Z", 0),
        ("2020-01-01T00:00:00Z", 0),
        ("2026-09-23T14:13:20Z", 172_800_000),
    ],
)
@pytest.mark.parametrize("how", ["quoted", "unquoted", "from a path"])
def test_a_timestamp_is_waited_for_and_a_past_one_ends_at_once(written: str, milliseconds: int, how: str) -> None:
    field = {"quoted": f'timestamp: "{written}"', "unquoted": f"timestamp: {written}", "from a path": "timestamp: $.at"}
    assert waited_ms(field[how], written) == milliseconds


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("2026-09-21T14:14:20", "no time zone"),
        ("2026-09-21", "no RFC 3339"),
        ("2026-13-21T14:14:20Z", "month"),
        ("2026-02-30T14:14:20Z", "day"),
        ("2026-09-21T25:14:20Z", "hour"),
        ("2026-09-21T14:14:20+25:00", "offset"),
        ("soon", "no RFC 3339"),
    ],
)
def test_what_is_no_moment_is_refused_before_the_run_and_at_run_time(written: str, why: str) -> None:
    with pytest.raises(InvalidFlowError, match=why):
        legacy(f"- {{type: wait, name: w, timestamp: {written}}}")
    run = simulate(legacy("- {type: wait, name: w, timestamp: $.at}"), input={"at": written})
    assert run.error == "FnF.RuntimeError"
    assert why in run.cause


def test_a_moment_more_than_two_days_away_fails() -> None:
    run = simulate(
        legacy("- {type: wait, name: w, timestamp: $.at}"), input={"at": "2026-09-23T14:13:21Z"}, start_ms=START
    )
    assert run.error == "FnF.RuntimeError"
    assert "at most 2" in run.cause


@pytest.mark.parametrize(
    ("field", "value", "seconds"),
    [
        ("duration: 1", None, 1),
        ("duration: 0", None, 0),
        ('duration: "20"', None, 20),
        ("duration: 172800", None, 172_800),
        ("duration: $.at", 301, 301),
        ("duration: $.at", "301", 301),
    ],
)
def test_a_duration_is_a_number_or_its_text(field: str, value: object, seconds: int) -> None:
    assert waited_ms(field, value) == seconds * 1000


@pytest.mark.parametrize("value", [-1, 1.5, None, "x", "-3", 172_801, True, [1]])
def test_other_durations_fail_by_name(value: object) -> None:
    run = simulate(legacy("- {type: wait, name: w, duration: $.at}"), input={"at": value})
    assert run.error == "FnF.RuntimeError"
    assert "duration of w" in run.cause


@pytest.mark.parametrize(
    "field", ["duration: 172801", "duration: -1", "duration: 1, timestamp: 2026-09-21T14:14:20Z", "end: true"]
)
def test_a_wait_without_one_usable_limit_is_refused(field: str) -> None:
    with pytest.raises(InvalidFlowError):
        legacy(f"- {{type: wait, name: w, {field}}}")


def test_a_wait_hands_nothing_on() -> None:
    run = simulate(legacy("- {type: wait, name: w, duration: 1}"), input={"a": 1})
    assert run.output == {}


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)),  # noqa: DTZ001 - the zone is drawn
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_a_timestamp_reads_as_pythons_own(moment: datetime, offset: int) -> None:
    zoned = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=timezone(timedelta(minutes=offset)))
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert parse_timestamp(zoned.isoformat()) == (zoned - epoch) // timedelta(milliseconds=1)


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    try:
        found: object = parse_timestamp(text)
    except BadTimestamp as error:
        found = str(error)
    assert isinstance(found, int) or found
