"""What the recorder makes of requests, and what a service tells itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from local_sim.explore.effects import effects_of, told_effect
from local_sim.explore.model import Effect, EffectRule
from local_sim.explore.wire import Request, Response
from local_sim.explore.world import Answered


class Silent:
    def effects(self) -> None:
        return None


@dataclass
class Telling:
    told: list[Any]

    def effects(self) -> list[Any]:
        return self.told


@dataclass
class FakeWorld:
    outside: dict[str, Any]
    answered: list[Answered]


def asked(method: str, path: str, body: Any = None, key: str = "", answer: str = "{}", status: int = 201) -> Answered:
    headers = (("Idempotency-Key", key),) if key else ()
    data = b"" if body is None else json.dumps(body).encode()
    request = Request(method, "127.0.0.1", 4010, path, headers, data)
    return Answered("bank", request, Response(status, (), answer.encode()), "src/a.py:1", ("src/a.py:1",), 0)


def recorded(*answered: Answered, rules: dict[str, EffectRule] | None = None) -> list[str]:
    world: Any = FakeWorld({"bank": Silent()}, list(answered))
    return [effect.text for effect in effects_of(world, {"bank": rules or {}})]


def test_a_changing_request_is_an_effect_and_reading_is_none() -> None:
    assert recorded(asked("GET", "/payments"), asked("POST", "/payments", {"order": "1"})) == [
        'POST /payments {"order": "1"}'
    ]


def test_a_refused_request_is_no_effect() -> None:
    assert recorded(asked("POST", "/payments", {}, status=402), asked("POST", "/payments", {}, status=500)) == []


def test_the_same_key_and_answer_is_one_effect() -> None:
    assert len(recorded(asked("POST", "/p", {"a": 1}, "k"), asked("POST", "/p", {"a": 1}, "k"))) == 1


def test_the_same_key_with_another_answer_is_two_effects() -> None:
    assert len(recorded(asked("POST", "/p", {"a": 1}, "k", "1"), asked("POST", "/p", {"a": 1}, "k", "2"))) == 2


def test_another_key_for_the_same_thing_is_two_effects() -> None:
    assert len(recorded(asked("POST", "/p", {"a": 1}, "k1"), asked("POST", "/p", {"a": 1}, "k2"))) == 2


def test_without_a_key_a_repeated_post_is_two_effects_and_a_repeated_put_one() -> None:
    assert len(recorded(asked("POST", "/p", {"a": 1}), asked("POST", "/p", {"a": 1}))) == 2
    assert len(recorded(asked("PUT", "/p", {"a": 1}), asked("PUT", "/p", {"a": 1}))) == 1


def test_a_rule_names_identifies_ignores_and_forgives() -> None:
    pay = EffectRule("pay", ("order",))
    rules = {"POST /payments/*": pay, "POST /search": EffectRule("", ignore=True), "POST /tell": EffectRule("tell")}
    rules["POST /tell"] = EffectRule("tell", ("to",), repeatable=True)
    found = recorded(
        asked("POST", "/payments/now", {"order": "7", "at": 1}),
        asked("POST", "/search", {}),
        asked("POST", "/tell", {"to": "a", "at": 1}),
        asked("POST", "/tell", {"to": "a", "at": 2}),
        rules=rules,
    )
    assert found == ["pay 7", "tell a"]


def test_a_body_that_is_not_json_has_a_subject_too() -> None:
    one = Answered("bank", Request("POST", "h", 1, "/p", (), b"\xff"), Response(200, ()), "", (), 0)
    assert recorded(one) == recorded(one)
    assert recorded(one)[0].startswith("POST /p ")


def test_a_service_tells_effects_as_mappings_or_objects() -> None:
    assert told_effect({"name": "ship", "subject": "1"}) == Effect("ship", "1")
    assert told_effect(Effect("ship")) == Effect("ship")

    @dataclass
    class Own:
        name: str
        subject: str
        undoes: str = "ship"

    assert told_effect(Own("cancel", "1")) == Effect("cancel", "1", "ship")


def test_a_told_effect_gets_the_line_of_the_request_that_made_it() -> None:
    first, second = asked("POST", "/a"), asked("POST", "/b")
    lines = [
        Answered(first.service, first.request, first.response, "src/a.py:1", ("src/a.py:1",), 0),
        Answered(second.service, second.request, second.response, "src/a.py:9", ("src/a.py:9",), 1),
    ]
    world: Any = FakeWorld({"bank": Telling([{"name": "pay"}])}, lines)
    (effect,) = effects_of(world, {})
    assert effect.line == "src/a.py:9"
