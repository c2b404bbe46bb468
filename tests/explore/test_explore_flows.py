"""The shipped flows: every fault at every boundary ends well."""

from __future__ import annotations

import pytest
from explore_kit import ORDER, TASK, explored, told


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("flow", "value"),
    [("content_review", TASK), ("opc_minimal", TASK), ("order_saga", ORDER)],
    ids=lambda one: str(one)[:14],
)
def test_nothing_breaks_at_depth_one(flow: str, value: dict[str, object]) -> None:
    report = explored(flow, value, jobs=2)
    assert report.broken == [], told(report)
    assert report.coverage.whole
    assert report.coverage.known == len(report.runs) > 150
    assert {"recovered", "compensated"} <= set(report.verdicts)
    tasks = {state for state in report.base["path"] if state in report.matrix()}
    assert {"crash_after", "reply_lost", "slow_lease", "slow_timeout", "twice"} <= set.intersection(
        *(set(report.matrix()[state]) for state in tasks)
    )
