"""Options and settings every test shares."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Offline and loopback only: a proxy or the metadata address of a cloud machine must never be asked.
for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(_name, None)
os.environ["ALIBABA_CLOUD_ECS_METADATA_DISABLED"] = "true"

settings.register_profile(
    "stepkeeper",
    deadline=None,  # two busy cores: a time limit per example would measure the machine
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("stepkeeper")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long runs too (minutes to hours)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--soak"):
        return
    skip = pytest.mark.skip(reason="a long run; ask for it with --soak")
    for item in items:
        if "soak" in item.keywords:
            item.add_marker(skip)
