"""Cron expressions, against a search that tries every minute."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.services.cron import Cron, CronError, Every, next_fire, parse_cron

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def ms(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
    return (moment - EPOCH) // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("0 0 4 * * *", "2026-01-01T03:59:59", "2026-01-01T04:00:00"),
        ("0 0 4 * * *", "2026-01-01T04:00:00", "2026-01-02T04:00:00"),
        ("30 * * * * *", "2026-01-01T00:00:30", "2026-01-01T00:01:30"),
        ("0 0/15 * * * *", "2026-01-01T00:46:00", "2026-01-01T01:00:00"),
        ("0 5/20 * * * *", "2026-01-01T00:06:00", "2026-01-01T00:25:00"),
        ("0 0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 0 0 29 2 *", "2096-03-01T00:00:00", "2104-02-29T00:00:00"),
        ("0 0 0 31 * *", "2026-01-31T00:00:00", "2026-03-31T00:00:00"),
        ("0 0 9 ? * MON-FRI", "2026-01-02T09:00:00", "2026-01-05T09:00:00"),
        ("0 0 9 ? * 7", "2026-01-01T00:00:00", "2026-01-04T09:00:00"),
        ("0 0 9 ? * 0", "2026-01-01T00:00:00", "2026-01-04T09:00:00"),
        ("0 0 0 1 JAN ?", "2026-01-01T00:00:00", "2027-01-01T00:00:00"),
        ("0 0 0 13 * FRI", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
        ("59 59 23 31 12 *", "2026-12-31T23:59:59", "2027-12-31T23:59:59"),
        ("0 1,2,50-52 8-9 * * *", "2026-01-01T08:02:00", "2026-01-01T08:50:00"),
    ],
)
def test_next_moment(expression: str, after: str, expected: str) -> None:
    assert next_fire(expression, ms(after)) == ms(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "* * * * *",
        "* * * * * *",
        "0 0 0 0 * *",
        "60 * * * * *",
        "0 60 * * * *",
        "0 * 24 * * *",
        "0 * * 32 * *",
        "0 * * * 13 *",
        "0 * * * * 8",
        "0 5-1 * * * *",
        "0 */0 * * * *",
        "0 a * * * *",
        "0 1,,2 * * * *",
        "0 0 0 31 2 *",
        "0 0 0 30 2 *",
        "@every 0m",
        "@every 1h",
        "@every 1.5m",
        "@every -1m",
        "@daily",
        "0 0 0 * * * 2026",
        "0 ٣ * * * *",
    ],
)
def test_what_is_no_expression(expression: str) -> None:
    with pytest.raises(CronError):
        parse_cron(expression)


def test_the_error_names_the_field() -> None:
    with pytest.raises(CronError) as caught:
        parse_cron("0 0 25 * * *")
    assert caught.value.field == "hours"


def test_every_counts_from_its_anchor() -> None:
    assert parse_cron("@every 5m") == Every(5)
    assert next_fire("@every 5m", 0, anchor_ms=1000) == 301_000
    assert next_fire("@every 5m", 301_000, anchor_ms=1000) == 601_000
    assert next_fire("@every 5m", 300_999, anchor_ms=1000) == 301_000


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    ranges = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = st.integers(1, high).map(lambda step: f"*/{step}")
    part = st.one_of(number.map(str), ranges, steps)
    return st.one_of(st.just("*"), st.lists(part, min_size=1, max_size=3).map(",".join))


@given(
    st.integers(0, 59),
    field(0, 59),
    field(0, 23),
    field(1, 28),
    st.sampled_from(["*", "?", "1-5", "0", "SAT,SUN"]),
    st.integers(0, 40 * 365 * 86_400).map(lambda seconds: seconds * 1000 + 123),
)
def test_agrees_with_trying_every_minute(
    second: int, minutes: str, hours: str, days: str, weekdays: str, after_ms: int
) -> None:
    expression = f"{second} {minutes} {hours} {days} * {weekdays}"
    cron = parse_cron(expression)
    assert isinstance(cron, Cron)
    found = next_fire(expression, after_ms)
    assert found > after_ms
    assert matches(cron, found)
    # Whole days and hours without a match are skipped, so that the search ends.
    moment = after_ms // 60_000 * 60_000 + second * 1000
    while moment < found:
        assert moment <= after_ms or not matches(cron, moment), "an earlier moment was passed over"
        moment += 60_000
        if moment + 400 * 60_000 < found:
            when = EPOCH + timedelta(milliseconds=moment)
            if when.hour not in cron.hours or not day_matches(cron, when):
                moment = (moment // 3_600_000 + 1) * 3_600_000 + second * 1000


def matches(cron: Cron, at_ms: int) -> bool:
    when = EPOCH + timedelta(milliseconds=at_ms)
    inside = when.minute in cron.minutes and when.hour in cron.hours and when.month in cron.months
    return inside and when.second == cron.second and day_matches(cron, when)


def day_matches(cron: Cron, when: datetime) -> bool:
    by_day, by_week = when.day in cron.days, when.isoweekday() % 7 in cron.weekdays
    return by_day or by_week if cron.any_day else by_day and by_week
