"""When a schedule fires: six-field cron expressions in UTC, and `@every Nm`. Pure.

Fields: seconds minutes hours day-of-month month day-of-week; seconds only a number 0 to 59; the others take `, - * ? /`
(cloudflow-api page, section 5.4). Where both day fields are restricted a day that matches either counts; days of the
week are 0 to 7 with 0 and 7 Sunday, months and days also by their English three-letter names (S04).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_EVERY = re.compile(r"@every\s+([1-9][0-9]{0,6})m", re.ASCII)
_PART = re.compile(r"(\*|\?|(?P<low>[0-9A-Z]+)(?:-(?P<high>[0-9A-Z]+))?)(?:/(?P<step>[1-9][0-9]*))?", re.ASCII)
_SEARCH_YEARS = 9  # 29 February may be eight years away (2096 to 2104)


class CronError(ValueError):
    """The expression is none; `field` names the part at fault, empty when it is the whole."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Every:
    """Fires each `minutes` minutes, counted from the moment the schedule was made or changed."""

    minutes: int


@dataclass(frozen=True, slots=True)
class Cron:
    """The values each field allows. `any_day` says how the two day fields combine: either one matching is enough."""

    second: int
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool


def parse_cron(expression: str) -> Cron | Every:
    """Read an expression. Raises CronError, also for one that never fires, such as 30 February."""
    text = expression.strip()
    if text.startswith("@"):
        every = _EVERY.fullmatch(text)
        if every is None:
            raise CronError(f"'{expression}' is not '@every Nm' with a whole number of minutes of at least 1")
        return Every(int(every[1]))
    fields = text.upper().split()
    if len(fields) != 6:
        raise CronError(f"'{expression}' has {len(fields)} fields; a cron expression has six, seconds first")
    cron = _read_fields(fields)
    if next_fire_of(cron, 0) is None:
        raise CronError(f"'{expression}' never fires")
    return cron


def next_fire(expression: str, after_ms: int, anchor_ms: int = 0) -> int:
    """Return the first moment after `after_ms` at which `expression` fires; milliseconds since the epoch, UTC.

    `anchor_ms` is what `@every` counts from. Raises CronError.
    """
    parsed = parse_cron(expression)
    found = next_fire_of(parsed, after_ms, anchor_ms)
    if found is None:
        raise CronError(f"'{expression}' never fires again")
    return found


def next_fire_of(parsed: Cron | Every, after_ms: int, anchor_ms: int = 0) -> int | None:
    """Like `next_fire` for a parsed expression; None when it fires in no year to come."""
    if isinstance(parsed, Every):
        period = parsed.minutes * 60_000
        return anchor_ms + (max(after_ms - anchor_ms, 0) // period + 1) * period
    moment = _next_moment(parsed, _EPOCH + timedelta(milliseconds=after_ms))
    return None if moment is None else (moment - _EPOCH) // timedelta(milliseconds=1)


def _next_moment(cron: Cron, after: datetime) -> datetime | None:
    moment = after.replace(second=cron.second, microsecond=0)
    if moment <= after:
        moment += timedelta(minutes=1)
    last_year = after.year + _SEARCH_YEARS
    while moment.year <= min(last_year, 9998):
        if moment.month not in cron.months:
            moment = (moment.replace(day=1, hour=0, minute=0) + timedelta(days=32)).replace(day=1)
        elif not _day_matches(cron, moment):
            moment = moment.replace(hour=0, minute=0) + timedelta(days=1)
        elif moment.hour not in cron.hours:
            moment = moment.replace(minute=0) + timedelta(hours=1)
        elif moment.minute not in cron.minutes:
            moment += timedelta(minutes=1)
        else:
            return moment
    return None


def _day_matches(cron: Cron, moment: datetime) -> bool:
    by_month_day = moment.day in cron.days
    by_week_day = moment.isoweekday() % 7 in cron.weekdays
    return by_month_day or by_week_day if cron.any_day else by_month_day and by_week_day


def _read_fields(fields: list[str]) -> Cron:
    second, minutes, hours, days, months, weekdays = fields
    if not re.fullmatch(r"[0-9]{1,2}", second, re.ASCII) or int(second) > 59:
        raise CronError(f"the seconds must be a number from 0 to 59, not '{second}'", "seconds")
    return Cron(
        second=int(second),
        minutes=_values("minutes", minutes, 0, 59),
        hours=_values("hours", hours, 0, 23),
        days=_values("day-of-month", days, 1, 31),
        months=_values("month", months, 1, 12, _MONTHS, 1),
        weekdays=frozenset(day % 7 for day in _values("day-of-week", weekdays, 0, 7, _DAYS)),
        any_day=days[0] not in "*?" and weekdays[0] not in "*?",
    )


def _values(field: str, text: str, low: int, high: int, names: tuple[str, ...] = (), base: int = 0) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise CronError(f"'{text}' is no value of the field {field}", field)
        first, last = low, high
        if match["low"]:
            first = last = _number(field, match["low"], low, high, names, base)
            if match["high"]:
                last = _number(field, match["high"], low, high, names, base)
            elif match["step"]:
                last = high
        if last < first:
            raise CronError(f"the range '{part}' of the field {field} runs backwards", field)
        found.update(range(first, last + 1, int(match["step"] or 1)))
    return frozenset(found)


def _number(field: str, text: str, low: int, high: int, names: tuple[str, ...], base: int) -> int:
    value = names.index(text) + base if text in names else int(text) if text.isdigit() and len(text) < 4 else -1
    if not low <= value <= high:
        raise CronError(f"'{text}' is no value of the field {field}: {low} to {high}", field)
    return value
