"""Shipping by a carrier that takes no key, with the ledger to see to it that it happens once."""

import json

from client import Busy, Refused, given, has, post

from ledger import Compensation, EffectKind, Ledger, Probe, StepRequest

VERSION = "1"


def request(order, kind=EffectKind.PROBED):
    undo = Compensation("unship", {"order": order})
    return StepRequest(order, VERSION, "Ship", input={"order": order}, kind=kind, compensation=undo)


def shipped(order):
    """Ask the carrier what it has."""
    return Probe.applied({"shipped": True}) if has("ship", order) else Probe.not_applied()


def undo(event, context):
    order = given(event)["order"]
    saga = Ledger.open().saga(order, VERSION)
    saga.compensate({"unship": lambda context: post("undo/ship", order, context.idempotency_key)}, steps=["Ship"])
    return json.dumps({"undone": True})


def probed(event, context):
    order = given(event)["order"]

    def effect(context):
        try:
            post("do/ship", order)
        except Refused as error:
            error.effect_applied = False
            raise
        return {"shipped": True}

    return json.dumps(Ledger.open().run(request(order), effect, probe=lambda context: shipped(order)).value)


def bypassed(event, context):
    order = given(event)["order"]
    if not has("ship", order):
        post("do/ship", order)  # <- here
    return json.dumps({"shipped": True})


def no_probe(event, context):
    order = given(event)["order"]

    def effect(context):
        post("do/ship", order)
        return {"shipped": True}

    result = Ledger.open().run(request(order, EffectKind.IDEMPOTENT), effect)  # <- here
    return json.dumps(result.value)


def effect_before_the_claim(event, context):
    order = given(event)["order"]
    post("do/ship", order)  # <- here
    result = Ledger.open().run(request(order, EffectKind.IDEMPOTENT), lambda context: {"shipped": True})
    return json.dumps(result.value)


def timeout_means_it_did_not_happen(event, context):
    order = given(event)["order"]

    def effect(context):
        try:
            post("do/ship", order)
        except (Busy, Refused) as error:
            error.effect_applied = False
            raise
        return {"shipped": True}

    ledger = Ledger.open()
    return json.dumps(ledger.run(request(order), effect, probe=lambda context: shipped(order)).value)  # <- here


def probe_that_never_looks(event, context):
    order = given(event)["order"]

    def effect(context):
        post("do/ship", order)
        return {"shipped": True}

    ledger = Ledger.open()
    return json.dumps(ledger.run(request(order), effect, probe=lambda context: Probe.not_applied()).value)  # <- here


def claims_under_a_new_name(event, context):
    order = given(event)["order"]
    step = StepRequest(order, VERSION, f"Ship-{context.request_id}", kind=EffectKind.IDEMPOTENT)

    def effect(context):
        post("do/ship", order)
        return {"shipped": True}

    return json.dumps(Ledger.open().run(step, effect).value)  # <- here


def without_compensation(event, context):
    order = given(event)["order"]
    step = StepRequest(order, VERSION, "Ship", input={"order": order}, kind=EffectKind.PROBED)

    def effect(context):
        post("do/ship", order)
        return {"shipped": True}

    return json.dumps(Ledger.open().run(step, effect, probe=lambda context: shipped(order)).value)  # <- here
