"""The settings: documented, read anew, and clear about what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from functions.errors import SystemFault
from functions.settings import Settings, current

TEMPLATE = (Path(__file__).parents[2] / "s.yaml").read_text(encoding="utf-8")


def test_every_setting_is_documented() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_they_are_read_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPKEEPER_PROMPT_VERSION", "7")
    assert current().prompt_version == "7"
    monkeypatch.setenv("STEPKEEPER_PROMPT_VERSION", "8")
    assert current().prompt_version == "8"


def test_an_empty_variable_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPKEEPER_DRAFT_CHARS", "")
    assert current().draft_chars == 4000


def test_every_bad_variable_is_named_and_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPKEEPER_INLINE_BYTES", "-1")
    monkeypatch.setenv("STEPKEEPER_NOTICE_SENDER", "pigeon")
    monkeypatch.setenv("STEPKEEPER_DRAFT_API_KEY", "very-secret")
    with pytest.raises(SystemFault) as caught:
        current()
    assert "STEPKEEPER_INLINE_BYTES" in str(caught.value)
    assert "STEPKEEPER_NOTICE_SENDER" in str(caught.value)
    assert caught.value.effect_applied is False
    monkeypatch.undo()
    assert "very-secret" not in repr(Settings(draft_api_key="very-secret", notice_url="http://very-secret/"))


def test_s_yaml_sets_only_variables_that_somebody_reads() -> None:
    from ledger import LedgerSettings

    known = {f"STEPKEEPER_{name.upper()}" for name in Settings.model_fields}
    known |= {str(field.validation_alias) for field in LedgerSettings.model_fields.values()}
    set_there = set(re.findall(r"^      ([A-Z][A-Z_]+):", TEMPLATE, re.MULTILINE)) - {"PYTHONPATH"}
    assert set_there
    assert set_there <= known | {"OSS_ENDPOINT", "OSS_BUCKET", "SHOP_ENDPOINT", "FNF_ENDPOINT"}


def test_the_defaults_of_s_yaml_are_those_of_the_code() -> None:
    given = dict(re.findall(r"\$\{env\('STEPKEEPER_([A-Z_]+)','([^']*)'\)\}", TEMPLATE))
    for name, field in Settings.model_fields.items():
        if name.upper() in given:
            value = field.default
            text = value.get_secret_value() if hasattr(value, "get_secret_value") else str(value).removesuffix(".0")
            assert given[name.upper()] == text, name
