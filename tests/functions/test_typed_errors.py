"""The error tree: names, what may be retried, what a person should do, and what is shown of an error."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from functions import errors
from functions.errors import (
    InvalidInput,
    OrderRefused,
    ResultConflict,
    ReviewRejected,
    StepkeeperError,
    SystemFault,
    TemporaryUpstreamError,
    UncertainOutcome,
    VersionMismatch,
    describe,
    redact,
)

EVERY = [
    TemporaryUpstreamError("busy", upstream="oss", retry_after=3, status=429),
    InvalidInput("bad", path="task.document.size", reason="too large"),
    ReviewRejected("no", decision="rejected", round=2),
    OrderRefused("no stock", reason="out_of_stock", status=409),
    ResultConflict("other", key="k", stored="a", wanted="b"),
    UncertainOutcome("who knows", step="Notify", key="sk-1", reason="lost"),
    VersionMismatch("old", pinned={"function": "1"}, given={"function": "2"}),
    SystemFault("broken"),
]


def test_the_tree_is_the_one_drawn_in_the_docstring() -> None:
    drawn = {line.split()[1] for line in (errors.__doc__ or "").splitlines() if line.strip().startswith(("├", "└"))}
    assert drawn == {kind.__name__ for kind in StepkeeperError.__subclasses__() if kind.__module__ == errors.__name__}
    assert drawn == {type(error).__name__ for error in EVERY}


def test_the_module_is_the_bottom_of_the_import_order() -> None:
    tree = ast.parse(Path(errors.__file__).read_text(encoding="utf-8"))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {alias.name for node in names if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in names if isinstance(node, ast.ImportFrom)}
    assert {module.split(".")[0] for module in modules - {"functions.redaction"}} <= sys.stdlib_module_names


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_each_error_says_what_to_do_and_fits_into_json(error: StepkeeperError) -> None:
    shown = describe(error)
    assert shown["error"] == type(error).__name__
    assert shown["message"] == str(error)
    assert shown["retryable"] is (type(error) is TemporaryUpstreamError)
    assert len(str(shown["advice"])) > 20
    assert json.loads(json.dumps(shown)) == shown


def test_only_errors_raised_before_any_effect_say_so() -> None:
    certain = {type(error).__name__ for error in EVERY if error.effect_applied is False}
    assert certain == {"InvalidInput", "OrderRefused", "ReviewRejected", "ResultConflict", "VersionMismatch"}
    assert TemporaryUpstreamError("x", upstream="u", effect_applied=False).effect_applied is False
    assert SystemFault("x", effect_applied=False).effect_applied is False


def test_the_data_is_there_as_attributes() -> None:
    busy, bad, no, sold_out, other, unclear, old, _ = EVERY
    assert (busy.upstream, busy.retry_after, busy.status) == ("oss", 3, 429)  # type: ignore[attr-defined]
    assert (bad.path, bad.reason) == ("task.document.size", "too large")  # type: ignore[attr-defined]
    assert (no.decision, no.round) == ("rejected", 2)  # type: ignore[attr-defined]
    assert (sold_out.reason, sold_out.status) == ("out_of_stock", 409)  # type: ignore[attr-defined]
    assert (other.key, other.stored, other.wanted) == ("k", "a", "b")  # type: ignore[attr-defined]
    assert (unclear.step, unclear.key) == ("Notify", "sk-1")  # type: ignore[attr-defined]
    assert old.given == {"function": "2"}  # type: ignore[attr-defined]


def test_the_cause_is_named() -> None:
    error = SystemFault("outer")
    error.__cause__ = ValueError("inner")
    assert describe(error)["cause"] == "ValueError: inner"
    assert describe(KeyError("k"))["error"] == "KeyError"


@pytest.mark.parametrize(
    "secret",
    [
        "Authorization: Bearer abc.DEF-123456",
        "https://h/x?Signature=abcd%2F1&OSSAccessKeyId=LTAIabcdefgh1234",
        '{"access_key_secret": "s3cr3t-value"}',
        "api_key=sk-0123456789abcdef",
        "password: hunter2hunter2",
        "STS.NUgYrLnoC37mZZCNnAbez",
        "access_token=0123abc",
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET=hunter2hunter2",
    ],
)
def test_credentials_are_not_shown(secret: str) -> None:
    shown = redact(secret)
    assert "***" in shown
    for part in ("abc.DEF", "abcd%2F1", "LTAIabc", "s3cr3t", "0123456789abcdef", "hunter2", "NUgYr", "0123abc"):
        assert part not in shown


def test_details_are_redacted_and_cut_as_well() -> None:
    error = SystemFault("x" * 2000, effect_applied=False, url="http://h/?token=abcdefgh", parts=["password=abcdefgh"])
    shown = json.dumps(describe(error))
    assert "abcdefgh" not in shown
    assert len(shown) < 1500


def test_ordinary_text_is_left_alone() -> None:
    text = "合同 a.pdf is encrypted; send it without a password"
    assert redact(text) == text
