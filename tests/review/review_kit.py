"""What the review tests share: a review in memory, votes, and a small world of the local cloud."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config

from functions.models import PayloadRef
from functions.review import Decision, Desk, Keys, Review, ReviewId, Seat
from functions.review.links import EVERYTHING, Link, Links, Scope
from functions.review.model import Vote
from functions.review.store import Record
from local_sim.server import ControlClient
from local_sim.services.faults import FaultKind

ROOT = Path(__file__).resolve().parents[2]
NOW_MS = 1_780_000_000_000
DAY_MS = 86_400_000
KEYS = Keys.parse("first-key-of-the-tests-" + "1" * 16)
TEXT = "# 合同\n\n甲方每月支付 48,000 元。The provider deletes all documents within thirty days.\n"


def ref(name: str = "draft.md", sha: str = "a") -> PayloadRef:
    return PayloadRef(uri=f"oss://bucket/{name}", size=3, sha256=sha * 64)


def review(**more: Any) -> Review:
    """A round that waits."""
    fields: dict[str, Any] = {
        "task_id": "t-1",
        "workflow": "content_review-1",
        "step": "HumanReview",
        "round": 1,
        "name": "a.md",
        "document": ref("a.md", "b"),
        "draft": ref(),
        "seats": (Seat(number=1),),
        "opened_ms": NOW_MS,
        "expires_ms": NOW_MS + 7 * DAY_MS,
    }
    return Review(**{**fields, **more})


def vote(decision: str = "approved", seat: int = 1, by: str = "Lin", at_ms: int = NOW_MS, comment: str = "") -> Vote:
    comment = comment or ("what?" if decision == "more_info" else "")
    return Vote(seat=seat, decision=Decision(decision), by=by, comment=comment, at_ms=at_ms)


def link(task_id: str = "t-1", scope: frozenset[Scope] = EVERYTHING, **more: Any) -> Link:
    where = ReviewId(task_id, more.pop("workflow", "content_review-1"), more.pop("step", "HumanReview"))
    fields = {"seat": 1, "generation": 1, "expires_s": NOW_MS // 1000 + 3600, **more}
    return Link(where, scope=scope, **fields)


@dataclass
class Town:
    """The shipped project on a local server, with the clients that the tests use."""

    control: ControlClient
    flows: set[str] = field(default_factory=set)

    @property
    def environment(self) -> Mapping[str, str]:
        return self.control.state.environment

    @property
    def endpoint(self) -> str:
        return self.control.state.endpoint

    def hurt(self, kind: FaultKind, api: str = "ReportTaskSucceeded", times: int | None = None) -> None:
        """Let reports meet a fault until `heal`."""
        rule = {"service": "fnf", "api": api, "kind": kind.value, "rate": 1.0, "times": times, "delay_ms": 0}
        self.control.call("POST", "faults", rule)

    def heal(self) -> None:
        self.control.call("POST", "faults/clear")

    @property
    def client(self) -> Client:
        return Client(Config(endpoint=self.endpoint, access_key_id="local", access_key_secret="local"))

    def begin(self, flow: str = "content_review", text: str = TEXT, **task: Any) -> str:
        """Start an execution and wait until its review is open; returns the task's id."""
        task_id = self.start_task(flow, text, **task)
        self.until(lambda: bool(self.rounds(task_id) and self.notices(task_id, "review_requested")))
        return task_id

    def start_task(self, flow: str = "content_review", text: str = TEXT, **task: Any) -> str:
        """Start an execution on a document; returns the task's id."""
        task_id = "t-" + uuid.uuid4().hex[:10]
        given: Any = {"task_id": task_id, "document": {"inline": text, "name": "合同.md"}} | task
        self.start(flow, task_id, given)
        return task_id

    def start(self, flow: str, name: str, given: Any) -> None:
        request = fnf.StartExecutionRequest(flow_name=flow, execution_name=name, input=json.dumps(given))
        self.client.start_execution(request)

    def define(self, name: str, *changes: tuple[str, str]) -> str:
        """Deploy a variant of content_review under another name."""
        if name not in self.flows:
            text = (ROOT / "flows/content_review.yaml").read_text(encoding="utf-8")
            for before, after in [('flow: "content_review"', f'flow: "{name}"'), *changes]:
                assert before in text
                text = text.replace(before, after)
            text = text.replace("Name: content_review", f"Name: {name}")
            self.client.create_flow(
                fnf.CreateFlowRequest(name=name, definition=text, description="", type="FDL", execution_mode="Standard")
            )
            self.flows.add(name)
        return name

    def two_reviewers(self) -> str:
        more = 'expires_in: 604800\n        approvals: 2\n        reviewers: ["Lin", "Mei"]'
        return self.define("two_reviewers", ("expires_in: 604800", more))

    def desk(self, **more: Any) -> Desk:
        return Desk.open(**more)

    def rounds(self, task_id: str) -> list[Record]:
        return self.desk().reviews.of_task(task_id)

    def round(self, task_id: str, number: int = 1, seconds: float = 20) -> Record:
        """The round, once it is open."""
        self.until(lambda: len(self.rounds(task_id)) >= number, seconds)
        return self.rounds(task_id)[number - 1]

    def token(self, task_id: str, number: int = 1) -> str:
        """The newest callback token of a round."""
        desk = self.desk()
        return desk._tokens(self.round(task_id, number))[0]

    def link(self, task_id: str, number: int = 1, seat: int = 1, scope: frozenset[Scope] = EVERYTHING) -> str:
        from functions.review.messages import link_of

        one = self.round(task_id, number).review
        chosen = one.seat(seat)
        assert chosen is not None
        return link_of(self.desk().settings, one, chosen, scope)

    def forged(self, task_id: str, **more: Any) -> str:
        """The address of a link made with a key that is not ours."""
        address = self.link(task_id)
        one = link(task_id, **more)
        return f"{address.rpartition('/')[0]}/{Links(KEYS).make(one)}"

    def stopped(self, task_id: str, flow: str = "content_review") -> None:
        self.client.stop_execution(fnf.StopExecutionRequest(flow_name=flow, execution_name=task_id))

    def status(self, task_id: str, flow: str = "content_review", seconds: int = 20) -> str:
        """Status of the execution, once it is over or after `seconds`."""
        request = fnf.DescribeExecutionRequest(
            flow_name=flow, execution_name=task_id, wait_time_seconds=min(seconds, 9)
        )
        for _ in range(max(1, seconds // 9)):
            body = self.client.describe_execution(request).body
            if body.status not in ("Starting", "Running"):
                break
        return str(body.status)

    def path(self, task_id: str, flow: str = "content_review") -> list[str]:
        """The states the execution has entered."""
        request = fnf.GetExecutionHistoryRequest(flow_name=flow, execution_name=task_id, limit=999)
        events = self.client.get_execution_history(request).body.events
        return [event.step_name for event in events if event.type == "StepEntered"]

    def until(self, condition: Any, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it never came true"
            time.sleep(0.02)

    def notices(self, task_id: str, kind: str = "") -> list[dict[str, Any]]:
        folder = Path(self.environment["STEPKEEPER_OUTBOX"])
        found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob(f"{kind}*.json"))]
        return [notice for notice in found if notice["task_id"] == task_id]


def form_of(page: httpx.Response) -> str:
    """The CSRF token of a page."""
    _, _, rest = page.text.partition('name="form" value="')
    return rest.partition('"')[0]


def decide(address: str, decision: str, **fields: str) -> httpx.Response:
    """Open a link and press a button, as a browser does."""
    page = httpx.get(address)
    return httpx.post(address, data={"form": form_of(page), "decision": decision, **fields})
