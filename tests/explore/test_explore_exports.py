"""The public names of the explorer."""

from __future__ import annotations

import local_sim.explore as explore


def test_every_name_is_there_and_the_list_is_sorted() -> None:
    assert explore.__all__ == sorted(explore.__all__)
    for name in explore.__all__:
        assert getattr(explore, name) is not None
