"""GenerateDraft through its FC entry: the provider is asked once, whatever happens to the worker."""

from __future__ import annotations

from typing import Any

import pytest
from handler_kit import Desk, Json
from loopback import Answer, Asked, Loopback

from functions.errors import InvalidInput, SystemFault, TemporaryUpstreamError
from functions.models import PayloadRef
from functions.payloads import Payloads


class WorkerDied(BaseException):
    """Nothing that catches Exception sees it, as with a killed process."""


def completion(text: str) -> Answer:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return Answer.of({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


@pytest.fixture
def provider(cloud: pytest.MonkeyPatch, server: Loopback) -> Loopback:
    cloud.setenv("STEPKEEPER_DRAFT_PROVIDER", "openai")
    cloud.setenv("STEPKEEPER_DRAFT_BASE_URL", server.url)
    cloud.setenv("STEPKEEPER_DRAFT_API_KEY", "test-key")
    server.answers = [completion("# 草稿")]
    return server


@pytest.fixture
def prepared(desk: Desk) -> Json:
    return desk.material(desk.validate())


def text_of(task: Json) -> str:
    return Payloads.open().read(PayloadRef(**task["draft"])).decode()


def test_the_draft_lies_in_oss_and_a_repeat_does_not_ask_again(desk: Desk, provider: Loopback, prepared: Json) -> None:
    first, second = desk.draft(prepared), desk.draft(prepared)
    assert first == second
    assert text_of(first).startswith("# 草稿")
    assert len(provider.asked) == 1
    row = desk.row("GenerateDraft")
    assert (row.state, row.attempt, row.kind.value) == ("done", 1, "probed")


def test_the_offline_provider_drafts_from_the_document(desk: Desk, prepared: Json) -> None:
    assert "48,000 元" in text_of(desk.draft(prepared))
    assert desk.row("GenerateDraft").state == "done"


def test_a_flow_without_preparation_drafts_from_the_document_itself(desk: Desk) -> None:
    task = desk.draft(desk.validate(), review={"decision": "more_info", "note": "thirty days?"})
    assert task["material"] is None
    assert "thirty days?" in text_of(task)


def test_a_note_of_any_size_reaches_the_provider(desk: Desk, provider: Loopback) -> None:
    desk.attempt = 1
    task = desk.validate()
    for attempt, note in ((2, "短"), (3, "长" * 600)):
        desk.attempt = attempt
        desk.draft(desk.material(task, note=note))
        assert note in str(provider.asked[-1].json)
    assert [step for step in desk.states() if step.startswith("Gen")] == ["GenerateDraft@2", "GenerateDraft@3"]


def test_a_draft_left_by_a_worker_that_died_is_taken_without_asking_the_provider(
    desk: Desk, provider: Loopback, prepared: Json, cloud: pytest.MonkeyPatch
) -> None:
    cloud.setenv("STEPKEEPER_LEASE_SECONDS", "1")
    cloud.setenv("STEPKEEPER_MAX_CLOCK_SKEW_SECONDS", "0")
    keep = Payloads.keep

    def dies_after_storing(self: Payloads, key: str, data: bytes, *more: Any) -> Any:
        keep(self, key, data, *more)
        raise WorkerDied

    with cloud.context() as patch:
        patch.setattr(Payloads, "keep", dies_after_storing)
        with pytest.raises(WorkerDied):
            desk.draft(prepared)
    assert desk.row("GenerateDraft").state == "claimed"
    task = desk.draft(prepared)
    assert text_of(task).startswith("# 草稿")
    assert len(provider.asked) == 1
    row = desk.row("GenerateDraft")
    assert (row.state, row.attempt) == ("done", 2)


def test_a_worker_that_died_before_storing_is_followed_by_one_more_call_under_the_same_key(
    desk: Desk, provider: Loopback, prepared: Json, cloud: pytest.MonkeyPatch
) -> None:
    cloud.setenv("STEPKEEPER_LEASE_SECONDS", "1")
    cloud.setenv("STEPKEEPER_MAX_CLOCK_SKEW_SECONDS", "0")

    def dies(*_: object) -> None:
        raise WorkerDied

    with cloud.context() as patch:
        patch.setattr(Payloads, "keep", dies)
        with pytest.raises(WorkerDied):
            desk.draft(prepared)
    before = desk.row("GenerateDraft").side_effect_id
    desk.draft(prepared)
    assert len(provider.asked) == 2
    assert desk.row("GenerateDraft").side_effect_id == before


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(503), TemporaryUpstreamError),
        (Answer(429, headers={"Retry-After": "7"}), TemporaryUpstreamError),
        (Answer(401), SystemFault),
        (Answer.of({"error": {"message": "no", "code": "data_inspection_failed"}}, 400), InvalidInput),
    ],
    ids=["busy", "throttled", "wrong key", "refused content"],
)
def test_the_providers_failures_have_their_names_and_the_step_can_run_again(
    desk: Desk, provider: Loopback, prepared: Json, answer: Answer, error: type[Exception]
) -> None:
    provider.answers = [answer, completion("# 草稿")]
    with pytest.raises(error):
        desk.draft(prepared)
    row = desk.row("GenerateDraft")
    assert (row.state, row.error_type) == ("failed", error.__name__)
    assert text_of(desk.draft(prepared)).startswith("# 草稿")
    assert (desk.row("GenerateDraft").state, desk.row("GenerateDraft").attempt) == ("done", 2)


def test_the_key_of_the_provider_is_in_no_row(desk: Desk, provider: Loopback, prepared: Json) -> None:
    def echo(asked: Asked) -> Answer:
        return Answer.of({"error": {"message": f"bad key {asked.headers['authorization']}"}}, 401)

    provider.answers = [echo]
    with pytest.raises(SystemFault):
        desk.draft(prepared)
    assert "test-key" not in desk.row("GenerateDraft").error
