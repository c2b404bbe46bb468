"""Keys by which the other side knows a repeat; it undoes and closes whatever it is told by a key of its own."""

import json
import random
import threading
import time
import uuid

from client import Busy, given, post

DONE = json.dumps({"done": True})
_paid = set()


def keyed(event, context):
    order = given(event)
    post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])  # <- pay
    return DONE


def undo(event, context):
    order = given(event)["order"]
    post("undo/ship", order, f"unship-{order}")
    post("undo/pay", order, f"unpay-{order}")
    return DONE


def timestamp(event, context):
    order = given(event)
    post("do/pay", order["order"], f"pay-{order['order']}-{time.time()}", order["amount"])  # <- here
    return DONE


def random_number(event, context):
    order = given(event)
    post("do/pay", order["order"], f"pay-{random.randrange(10**9)}", order["amount"])  # <- here
    return DONE


def new_key_a_try(event, context):
    order = given(event)
    for number in range(3):
        try:
            post("do/pay", order["order"], str(uuid.uuid4()), order["amount"])  # <- here
            break
        except Busy:
            if number == 2:
                raise
    return DONE


def one_key_for_all_tries(event, context):
    order = given(event)
    for number in range(3):
        try:
            post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])
            break
        except Busy:
            if number == 2:
                raise
    return DONE


def request_id(event, context):
    order = given(event)
    post("do/pay", order["order"], context.request_id, order["amount"])  # <- here
    return DONE


def no_key(event, context):
    order = given(event)
    post("do/pay", order["order"], amount=order["amount"])  # <- here
    return DONE


def remembers_in_memory(event, context):
    order = given(event)
    if order["order"] not in _paid:
        post("do/pay", order["order"], amount=order["amount"])  # <- here
        _paid.add(order["order"])
    return DONE


def shared_with_the_undo(event, context):
    order = given(event)
    post("do/pay", order["order"], order["order"], order["amount"])  # <- here
    return DONE


def undo_by_the_same_key(event, context):
    order = given(event)["order"]
    post("undo/pay", order, order)
    return DONE


def letter_without_key(event, context):
    post("do/letter", given(event)["order"])  # <- here
    return DONE


def letter_with_key(event, context):
    order = given(event)["order"]
    post("do/letter", order, f"letter-{order}")
    return DONE


def letter_a_round(event, context):
    asked = given(event)
    post("do/letter", f"{asked['order']}-{asked['lap']}", f"letter-{asked['order']}-{asked['lap']}")
    return DONE


def letter_without_the_lap(event, context):
    asked = given(event)
    post("do/letter", f"{asked['order']}-{asked['lap']}", f"letter-{asked['order']}")  # <- here
    return DONE


def swallows(event, context):
    order = given(event)
    try:
        post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])  # <- here
    except Exception:  # noqa: BLE001 - the mistake
        print("could not pay")
    return DONE


def fires_and_forgets(event, context):
    order = given(event)
    key = f"pay-{order['order']}"
    threading.Thread(target=lambda: post("do/pay", order["order"], key, order["amount"])).start()  # <- thread
    return DONE


def waits_for_its_thread(event, context):
    order = given(event)
    key, failed = f"pay-{order['order']}", []

    def work():
        try:
            post("do/pay", order["order"], key, order["amount"])
        except Exception as error:  # noqa: BLE001 - carried to the caller
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return DONE


def ship(event, context):
    order = given(event)
    post("do/ship", order["order"], f"ship-{order['order']}", order.get("ship", 0))
    return DONE


def pays_by_the_order(event, context):
    order = given(event)
    post("do/pay", order["order"], order["order"], order["amount"])
    return DONE


def ships_by_the_order(event, context):
    order = given(event)
    post("do/ship", order["order"], order["order"])  # <- here
    return DONE


def ship_without_key(event, context):
    order = given(event)
    post("do/ship", order["order"])  # <- here
    return DONE
