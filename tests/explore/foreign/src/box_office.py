"""Sells a seat: reserve it, take the money, issue the ticket; undo what was done when one of them says no.

There is no ledger here. What keeps a repeat from doing things twice are keys that the other side remembers, and keys
that are closed before they come. Three clients on purpose: urllib, requests and httpx.
"""

import json
import os
import urllib.error
import urllib.request

import httpx
import oss2
import requests


class Busy(Exception):
    """Try again."""


class Declined(Exception):
    """The bank said no."""


class Gone(Exception):
    """The seat is no longer ours."""


def reserve(event, context):
    order = json.loads(event)
    _venue("PUT", f"/seats/{order['order']}", {"seat": order["seat"]})
    return json.dumps({"reserved": True})


def pay(event, context):
    order = json.loads(event)
    key = f"pay-{order['order']}"
    body = {"order": order["order"], "amount": order["amount"]}
    _bank("/payments", body, key)
    return json.dumps({"paid": key, "release": os.environ["TICKETS_RELEASE"]})


def issue(event, context):
    order = json.loads(event)
    try:
        answer = httpx.post(
            f"{os.environ['VENUE_URL']}/tickets",
            json={"order": order["order"]},
            headers={"Idempotency-Key": f"ticket-{order['order']}"},
            timeout=5,
        )
    except httpx.HTTPError as error:
        raise Busy(str(error)) from error
    if answer.status_code == 410:
        raise Gone(order["order"])
    if answer.status_code >= 400:
        raise Busy(f"the venue said {answer.status_code}")
    _keep(f"receipts/{order['order']}.json", answer.content)
    return json.dumps({"ticket": answer.json()["ticket"]})


def undo(event, context):
    order = json.loads(event)
    _venue("DELETE", f"/tickets/{order['order']}", None)
    _bank("/refunds", {"order": order["order"], "key": f"pay-{order['order']}"}, f"refund-{order['order']}")
    _venue("DELETE", f"/seats/{order['order']}", None)
    return json.dumps({"undone": True})


def _venue(method, path, body):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["VENUE_URL"] + path, data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        if error.code == 410:
            raise Gone(path) from error
        raise Busy(f"the venue said {error.code}") from error
    except OSError as error:
        raise Busy(str(error)) from error


def _bank(path, body, key):
    try:
        answer = requests.post(os.environ["BANK_URL"] + path, json=body, headers={"Idempotency-Key": key}, timeout=5)
    except requests.RequestException as error:
        raise Busy(str(error)) from error
    if answer.status_code in (402, 409):
        raise Declined(path)
    if answer.status_code >= 400 and answer.status_code != 404:
        raise Busy(f"the bank said {answer.status_code}")


def _keep(key, data):
    auth = oss2.Auth(os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"], os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"])
    bucket = oss2.Bucket(auth, os.environ["OSS_ENDPOINT"], os.environ["OSS_BUCKET"])
    try:
        bucket.put_object(key, data, headers={"x-oss-forbid-overwrite": "true"})
    except oss2.exceptions.OssError as error:
        if error.code != "FileAlreadyExists":
            raise Busy(str(error)) from error
