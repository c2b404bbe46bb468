"""What the handlers share: the event, and requests to the other side."""

import json
import os
import urllib.error
import urllib.request


class Busy(Exception):
    """Try again."""


class Refused(Exception):
    """The other side said no."""


def given(event):
    return json.loads(event)


def post(path, order, key="", amount=0):
    """Ask for something; returns the answer."""
    body = json.dumps({"order": order, "amount": amount}).encode()
    headers = {"Idempotency-Key": key} if key else {}
    return _answer(urllib.request.Request(f"{os.environ['DESK_URL']}/{path}", body, headers, method="POST"))


def has(name, order):
    return _answer(urllib.request.Request(f"{os.environ['DESK_URL']}/has/{name}/{order}"))["has"]


def _answer(request):
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        if error.code in (402, 410):
            raise Refused(request.full_url) from error
        raise Busy(f"{error.code}") from error
    except OSError as error:
        raise Busy(str(error)) from error


def bucket():
    import oss2

    auth = oss2.Auth(os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"], os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"])
    return oss2.Bucket(auth, os.environ["OSS_ENDPOINT"], os.environ["OSS_BUCKET"])
