"""What the packages promise to export is there, sorted, and nothing else is promised."""

from __future__ import annotations

from importlib import import_module

import pytest

PACKAGES = ["local_sim.server", "local_sim.services.cloudflow", "local_sim.services.function_compute"]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_export_is_there(name: str) -> None:
    package = import_module(name)
    for export in package.__all__:
        assert getattr(package, export).__doc__ or export.isupper() or not callable(getattr(package, export))
    assert len(set(package.__all__)) == len(package.__all__)
    with pytest.raises(AttributeError):
        package.nothing_of_this_name  # noqa: B018


def test_every_action_has_a_handler() -> None:
    from local_sim.services.cloudflow import ACTIONS, app
    from local_sim.services.function_compute import ACTIONS as FC_ACTIONS
    from local_sim.services.function_compute import app as fc_app

    class Anything:
        def __getattr__(self, name: str) -> object:
            return lambda: None

    any_: object = Anything()
    assert set(app._handlers(any_, any_, any_)) | {ACTIONS["DescribeRegions"]} == set(ACTIONS.values())  # type: ignore[arg-type]
    handlers = {
        **fc_app._function_handlers(any_, any_),  # type: ignore[arg-type]
        **fc_app._trigger_handlers(any_, any_, any_),  # type: ignore[arg-type]
        **fc_app._setting_handlers(any_, any_),  # type: ignore[arg-type]
        **fc_app._empty_handlers(any_, ""),  # type: ignore[arg-type]
    }
    assert set(handlers) == set(FC_ACTIONS)
