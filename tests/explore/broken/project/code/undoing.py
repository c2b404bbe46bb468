"""Undoing: what was paid and then shipped."""

from client import Refused, given, has, post
from keys import DONE


def wrong_order(event, context):
    order = given(event)["order"]
    post("undo/pay", order, f"unpay-{order}")  # <- here
    post("undo/ship", order, f"unship-{order}")
    return DONE


def one_forgotten(event, context):
    order = given(event)["order"]
    post("undo/ship", order, f"unship-{order}")
    return DONE


def looks_then_undoes(event, context):
    order = given(event)["order"]
    if has("pay", order):
        post("undo/pay", order)  # <- here
    return DONE


def what_never_happened(event, context):
    order = given(event)["order"]
    post("undo/pay", order)  # <- here
    return DONE


def only_what_is_there(event, context):
    order = given(event)["order"]
    if has("pay", order):
        post("undo/pay", order, f"unpay-{order}")
    return DONE


def swallows(event, context):
    order = given(event)["order"]
    try:
        post("undo/pay", order, f"unpay-{order}")  # <- here
    except Exception:  # noqa: BLE001 - the mistake
        print("never mind")
    return DONE


def tolerates_a_refusal(event, context):
    order = given(event)["order"]
    try:
        post("undo/pay", order, f"unpay-{order}")
    except Refused:
        print("nothing to take back")
    return DONE
