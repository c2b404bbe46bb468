"""The mistakes. Each is one that people make; docs/explore.md has the rules they break."""

from __future__ import annotations

from local_sim.explore import Answer

from .kit import Case

_UNDO = {"undo": "keys.undo"}
_KEYED = {"act": "keys.keyed", **_UNDO}
_TWO = {"first": "keys.keyed", "second": "keys.ship", **_UNDO}
_REFUSED = {"amount": 5000}
_SHIP_REFUSED = {"ship": 5000}
_ALONE = ("crash_before", "crash_after", "reply_lost", "error_after", "slow_timeout")
_SIDE_BY_SIDE = ("crash_after", "slow_lease", "slow_timeout", "twice")

_KEYS = (
    Case("timestamp in the key", "at most once", {"act": "keys.timestamp", **_UNDO}, _KEYED),
    Case("random number in the key", "at most once", {"act": "keys.random_number", **_UNDO}, _KEYED),
    Case(
        "a new key for each try",
        "at most once",
        {"act": "keys.new_key_a_try", **_UNDO},
        {"act": "keys.one_key_for_all_tries", **_UNDO},
    ),
    Case("request id as key", "at most once", {"act": "keys.request_id", **_UNDO}, _KEYED),
    Case("no key", "at most once", {"act": "keys.no_key", **_UNDO}, _KEYED),
    Case("remembered in memory", "at most once", {"act": "keys.remembers_in_memory", **_UNDO}, _KEYED),
    Case(
        "one key for doing and undoing",
        "nothing is left standing",
        {"act": "keys.shared_with_the_undo", "undo": "keys.undo_by_the_same_key"},
        _KEYED,
    ),
    Case(
        "one key for two steps",
        "what_is_done_was_shipped",
        {"first": "keys.pays_by_the_order", "second": "keys.ships_by_the_order", **_UNDO},
        _TWO,
        flow="two",
    ),
    Case(
        "letter again on redelivery",
        "at most once",
        {"act": "keys.letter_without_key", **_UNDO},
        {"act": "keys.letter_with_key", **_UNDO},
    ),
)

_LAPS = (
    Case(
        "key without the lap",
        "each_round_has_its_letter",
        {"ask": "keys.letter_without_the_lap"},
        {"ask": "keys.letter_a_round"},
        flow="laps",
        given={"lap": 1},
        answers=(Answer("Ask", "again"), Answer("Ask", "approved")),
    ),
)

_ALL = "      - Errors: [FnF.ALL]\n        Next: Undo\n"
_ACT = ("    Name: Act\n", "    Name: Act  # <- here\n")
_NAMED = "      - Errors: [Refused]\n        Next: NotDone\n"
_RETRY = """    Retry:
      - Errors: [Busy, FC.ResourceThrottled, FC.InternalServerError, FC.Unknown]
        MaxAttempts: 3
        IntervalSeconds: 1
        BackoffRate: 2
    Catch:
      - Errors: [FnF.ALL]
        Next: Undo
"""
_ASKED = {"ask": "keys.letter_a_round"}
_ASK = ("    Name: Ask\n", "    Name: Ask  # <- here\n")
_ASK_ALL = "      - Errors: [FnF.ALL]\n        Next: NotDone\n"

_FLOWS = (
    Case(
        "catch rules in the wrong order",
        "the rule that names an error takes it",
        _KEYED,
        _KEYED,
        both=((_ALL, _NAMED + _ALL),),
        edits=((_NAMED + _ALL, _ALL + _NAMED.replace("[Refused]", "[Refused]  # <- here")),),
        given=_REFUSED,
    ),
    Case(
        "forgotten catch",
        "every error is taken",
        _KEYED,
        _KEYED,
        edits=(("    Catch:\n" + _ALL, ""), _ACT),
    ),
    Case(
        "error name misspelt in the catch",
        "every error is taken",
        _KEYED,
        _KEYED,
        both=((_ALL, _NAMED + _ALL),),
        edits=((_NAMED + _ALL, _NAMED.replace("Refused", "Refusd")), _ACT),
        given=_REFUSED,
    ),
    Case(
        "catch that goes on to success",
        "exactly once",
        _KEYED,
        _KEYED,
        edits=((_ALL, _ALL.replace("[FnF.ALL]\n", "[FnF.ALL]  # <- here\n").replace("Undo", "Done")),),
    ),
    Case(
        "retry of a call that is not idempotent",
        "at most once",
        {"act": "keys.ship_without_key", **_UNDO},
        {"act": "keys.ship_without_key", **_UNDO},
        both=((_RETRY, "    Catch:\n" + _ALL),),
        edits=(("    Catch:\n" + _ALL, _RETRY),),
        faults=_ALONE,
        limits=_ALONE,
    ),
    Case(
        "nobody answers and nobody catches it",
        "every error is taken",
        _ASKED,
        _ASKED,
        flow="laps",
        edits=((_ASK_ALL, _ASK_ALL.replace("FnF.ALL", "Refused")), _ASK),
        given={"lap": 1},
        answers=(Answer("Ask", "approved"),),
    ),
)

_ERRORS = (
    Case("swallowed exception", "exactly once", {"act": "keys.swallows", **_UNDO}, _KEYED),
    Case(
        "thread nobody waits for",
        "exactly once",
        {"act": "keys.fires_and_forgets", **_UNDO},
        {"act": "keys.waits_for_its_thread", **_UNDO},
        line="thread",
    ),
)

_UNDOING = (
    Case(
        "undone in the wrong order",
        "undone in reverse order",
        {**_TWO, "undo": "undoing.wrong_order"},
        _TWO,
        flow="two",
    ),
    Case(
        "undoing of one step forgotten",
        "nothing is left standing",
        {**_TWO, "undo": "undoing.one_forgotten"},
        _TWO,
        flow="two",
        line="pay",
    ),
    Case(
        "undoing that is not idempotent",
        "undone once",
        {**_TWO, "undo": "undoing.what_never_happened"},
        _TWO,
        flow="two",
        given=_SHIP_REFUSED,
    ),
    Case(
        "undoing what never happened",
        "undone once",
        {"act": "keys.keyed", "undo": "undoing.what_never_happened"},
        _KEYED,
    ),
    Case(
        "looked first and undone twice at once",
        "undone once",
        {**_TWO, "undo": "undoing.looks_then_undoes"},
        _TWO,
        flow="two",
        given=_SHIP_REFUSED,
        faults=("slow_lease",),
    ),
    Case(
        "effect that comes after its undoing",
        "nothing is left standing",
        {"act": "keys.keyed", "undo": "undoing.only_what_is_there"},
        _KEYED,
        line="pay",
    ),
    Case(
        "undoing that swallows its failure",
        "exactly once",
        {**_TWO, "undo": "undoing.swallows"},
        {**_TWO, "undo": "undoing.tolerates_a_refusal"},
        flow="two",
        given=_SHIP_REFUSED,
        line="pay",
    ),
)

_NO_RETRY = (_RETRY, "    Catch:\n" + _ALL)
_NOT_BY_OTHERS = (
    "crash_before",
    "crash_after",
    "reply_lost",
    "error_after",
    "throttled",
    "slow_lease",
    "slow_timeout",
    "twice",
)

_OBJECTS = (
    Case(
        "object overwritten",
        "written once",
        {"act": "objects.overwrites", **_UNDO},
        {"act": "objects.writes_once", **_UNDO},
        kind="objects",
    ),
    Case(
        "object deleted before its copy is there",
        "no_page_is_lost",
        {"act": "objects.deletes_first", **_UNDO},
        {"act": "objects.deletes_last", **_UNDO},
        kind="objects",
        limits=_NOT_BY_OTHERS,
    ),
    Case(
        "object named before it is there",
        "what_is_named_is_there",
        {"act": "objects.names_it_first", **_UNDO},
        {"act": "objects.names_it_last", **_UNDO},
        kind="objects",
        both=(_NO_RETRY,),
    ),
    Case(
        "GET that approves",
        "nobody_decides_by_looking",
        {"page": "objects.opens_on_any_visit"},
        {"page": "objects.opens_on_post_only"},
        flow="look",
        kind="objects",
    ),
    Case(
        "two decisions that both count",
        "one_decision_counts",
        {"act": "objects.last_decision_counts"},
        {"act": "objects.first_decision_counts"},
        flow="both",
        kind="objects",
        limits=_SIDE_BY_SIDE,
    ),
    Case(
        "looked whether decided and then decided",
        "one_decision_counts",
        {"act": "objects.looks_whether_decided"},
        {"act": "objects.first_decision_counts"},
        flow="both",
        kind="objects",
        limits=_SIDE_BY_SIDE,
    ),
    Case(
        "token of the first round kept for all rounds",
        "each_round_has_a_token",
        {"ask": "objects.keeps_one_token"},
        {"ask": "objects.keeps_each_token"},
        flow="laps",
        kind="objects",
        given={"lap": 1},
        answers=(Answer("Ask", "again"), Answer("Ask", "approved")),
    ),
)

_ROWS = (
    Case(
        "result row written without a condition",
        "the_row_says_what_the_flow_says",
        {"act": "rows.unconditional", **_UNDO},
        {"act": "rows.first_one_counts", **_UNDO},
        kind="rows",
        faults=("slow_lease",),
    ),
    Case(
        "read and then written",
        "the_row_says_what_the_flow_says",
        {"act": "rows.reads_then_writes", **_UNDO},
        {"act": "rows.first_one_counts", **_UNDO},
        kind="rows",
        faults=("slow_lease",),
    ),
    Case(
        "counted again on redelivery",
        "an_order_is_counted_once",
        {"act": "rows.counts_each_try", **_UNDO},
        {"act": "rows.counts_each_order", **_UNDO},
        kind="rows",
    ),
    Case(
        "branches that write the same row",
        "both_parts_are_there",
        {"act": "rows.joins_the_list"},
        {"act": "rows.has_a_column"},
        flow="both",
        kind="rows",
        limits=_SIDE_BY_SIDE,
        faults=("slow_lease",),
    ),
    Case(
        "compensation recorded after the effect",
        "nothing is left standing",
        {"act": "rows.notes_it_afterwards", "undo": "rows.undoes_what_is_noted"},
        {"act": "rows.notes_it_before", "undo": "rows.undoes_what_is_noted"},
        kind="rows",
    ),
    Case(
        "result stored before the effect",
        "exactly once",
        {"act": "rows.result_before_effect", **_UNDO},
        {"act": "rows.effect_before_result", **_UNDO},
        kind="rows",
    ),
    Case(
        "looked in the table instead of a key",
        "at most once",
        {"act": "rows.looks_in_the_table_first", **_UNDO},
        {"act": "rows.effect_before_result", **_UNDO},
        kind="rows",
    ),
)

_KEPT_UNDO = {"undo": "kept.undo"}
_PROBED = {"act": "kept.probed", **_KEPT_UNDO}


def _kept(name: str, rule: str, broken: str, *faults: str) -> Case:
    functions = {"act": f"kept.{broken}", **_KEPT_UNDO}
    return Case(name, rule, functions, _PROBED, flow="kept", kind="ledger", faults=faults)


_LEDGER = (
    _kept("ledger bypassed", "at most once", "bypassed", "slow_lease"),
    _kept("no probe", "at most once", "no_probe", "crash_after"),
    _kept("effect before the claim", "at most once", "effect_before_the_claim", "crash_after"),
    _kept("timeout taken for did not happen", "at most once", "timeout_means_it_did_not_happen", "reply_lost"),
    _kept("probe that never looks", "at most once", "probe_that_never_looks", "crash_after"),
    _kept("claimed under a new name at each try", "at most once", "claims_under_a_new_name", "crash_after"),
    _kept("step without a compensation", "nothing is left standing", "without_compensation", "slow_timeout"),
)

CASES = (*_KEYS, *_LAPS, *_FLOWS, *_ERRORS, *_UNDOING, *_OBJECTS, *_ROWS, *_LEDGER)
