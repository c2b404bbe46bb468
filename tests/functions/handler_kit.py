"""Calls the functions through their FC entry points, with the events that the flows build, on the local services."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from functions.entry import fc_handlers
from functions.payloads import Payloads
from functions.people import tokens
from functions.review import Desk as ReviewDesk
from functions.review.seal import open_sealed, place
from ledger import Ledger, StepRow

WORKFLOW = "content_review-1"
TEXT = "# 合同\n\n甲方每月支付 48,000 元。The provider deletes all documents within thirty days.\n"
Json = dict[str, Any]


@dataclass
class Desk:
    """One task and what can be asked about it. `outbox` is where notices land."""

    task_id: str
    outbox: Path
    attempt: int = 1

    def ask(self, handler: str, step: str, **event: Any) -> Json:
        """Call a function as FC does, with bytes, and read its text."""
        body = {"step": step, "attempt": self.attempt, **event}
        text = getattr(fc_handlers, handler)(json.dumps(body, ensure_ascii=False).encode(), None)
        assert isinstance(text, str)
        return dict(json.loads(text))

    def loose(self, handler: str, step: str, **event: Any) -> Json:
        """As `ask`, for the states that work on anything."""
        return self.ask(handler, step, **{"workflow": WORKFLOW, "execution": f"run-{self.task_id}", **event})

    def validate(self, document: Json | None = None, **task: Any) -> Json:
        given = {"task_id": self.task_id, "document": document or {"inline": TEXT, "name": "合同.md"}, **task}
        return dict(self.ask("validate_input", "ValidateInput", workflow=WORKFLOW, task=given)["task"])

    def material(self, task: Json, **review: Any) -> Json:
        return dict(self.ask("prepare_material", "PrepareMaterial", task=task, review=review)["task"])

    def draft(self, task: Json, **event: Any) -> Json:
        return dict(self.ask("generate_draft", "GenerateDraft", task=task, **event)["task"])

    def review(self, task: Json, token: str = "token-1") -> Json:
        return self.ask("request_review", "HumanReview", task=task, token=token)

    def save(self, task: Json, decision: str = "approved") -> Json:
        return dict(self.ask("save_result", "SaveResult", task=task, review={"decision": decision})["task"])

    def check(self, task: Json) -> Json:
        return self.ask("check_existing_result", "CheckExistingResult", task=task)

    def notify(self, task: Json) -> Json:
        return self.ask("notify", "Notify", task=task)

    def undo(self, outcome: str = "rejected") -> Json:
        return self.loose("compensate", "Compensate", task={"task_id": self.task_id}, outcome=outcome)

    def hand_over(self, failed_step: str, code: str, detail: Any, token: str = "token-9", **event: Any) -> Json:
        given = {"task": {"task_id": self.task_id}, "failed_step": failed_step, "failed_attempt": 1, **event}
        return self.loose("hand_over", "ManualReview", error={"code": code, "detail": detail}, token=token, **given)

    def decide(self, failed_step: str, answer: Any, **event: Any) -> Json:
        given = {"task": {"task_id": self.task_id}, "failed_step": failed_step, "failed_attempt": 1, **event}
        return self.loose("record_decision", "RecordDecision", answer=answer, **given)

    def drafted(self, **task: Any) -> Json:
        """A task as it comes to the review."""
        return self.draft(self.material(self.validate(**task)))

    def saved(self) -> Json:
        """A task whose result is saved."""
        task = self.drafted()
        self.review(task)
        return self.save(task)

    def rows(self) -> list[StepRow]:
        return Ledger.open().rows(self.task_id)

    def row(self, step: str, direction: str = "forward") -> StepRow:
        (found,) = [row for row in self.rows() if row.step == step and row.direction == direction]
        return found

    def states(self) -> dict[str, str]:
        return {row.step: row.state for row in self.rows() if row.direction == "forward"}

    def notices(self, kind: str = "") -> list[Json]:
        found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(self.outbox.glob(f"{kind}*.json"))]
        return [notice for notice in found if notice["task_id"] == self.task_id]

    def tokens(self) -> list[str]:
        """Every token that is kept: those of reviews in the ledger, the others in OSS; newest first."""
        desk = ReviewDesk.open()
        rounds = reversed(desk.reviews.of_task(self.task_id))
        opened = [
            open_sealed(desk.keys, one, place(record.review.id)) for record in rounds for one in record.sealed.split()
        ]
        return opened + [kept.token for kept in tokens(Payloads.open(), self.task_id)]

    def objects(self) -> list[str]:
        """Kinds of the objects that lie in OSS for this task."""
        keys = [info.key for info in Payloads.open().bucket.listing("")]
        return sorted(key.split("/", 1)[0] for key in keys if f"/{self.task_id}/" in key)
