"""What is kept in OSS."""

import hashlib
import json
import time

import oss2
from client import Busy, bucket, given
from keys import DONE

ONCE = {"x-oss-forbid-overwrite": "true"}


def put(key, data, headers=None):
    """Put an object; False when it is there and may not be overwritten."""
    try:
        bucket().put_object(key, data, headers=headers)
    except oss2.exceptions.OssError as error:
        if error.code == "FileAlreadyExists":
            return False
        raise Busy(str(error)) from error
    return True


def get(key):
    """The bytes of an object; None when there is none."""
    try:
        return bucket().get_object(key).read()
    except oss2.exceptions.NoSuchKey:
        return None
    except oss2.exceptions.OssError as error:
        raise Busy(str(error)) from error


def delete(key):
    try:
        bucket().delete_object(key)
    except oss2.exceptions.OssError as error:
        raise Busy(str(error)) from error


def overwrites(event, context):
    order = given(event)["order"]
    put(f"results/{order}", f"made at {time.time()}")  # <- here
    return DONE


def writes_once(event, context):
    order = given(event)["order"]
    put(f"results/{order}", f"made at {time.time()}", ONCE)
    return DONE


def deletes_first(event, context):
    order = given(event)["order"]
    data = get(f"in/{order}")  # <- here
    delete(f"in/{order}")  # <- here
    put(f"out/{order}", data or b"nothing")  # <- here
    return DONE


def deletes_last(event, context):
    order = given(event)["order"]
    data = get(f"in/{order}")
    if data is not None:
        put(f"out/{order}", data, ONCE)
        delete(f"in/{order}")
    return DONE


def names_it_first(event, context):
    order = given(event)["order"]
    put(f"index/{order}", f"data/{order}")  # <- here
    put(f"data/{order}", b"a page")  # <- here
    return DONE


def names_it_last(event, context):
    order = given(event)["order"]
    put(f"data/{order}", b"a page")
    put(f"index/{order}", f"data/{order}")
    return DONE


def opens_on_any_visit(event, context):
    visit = given(event)
    put(f"decisions/{visit['order']}", visit["decision"], ONCE)  # <- here
    return DONE


def opens_on_post_only(event, context):
    visit = given(event)
    if visit["method"] == "POST":
        put(f"decisions/{visit['order']}", visit["decision"], ONCE)
    return DONE


def last_decision_counts(event, context):
    asked = given(event)
    put(f"decisions/{asked['order']}", asked["part"])  # <- here
    return json.dumps({"counts": True})


def looks_whether_decided(event, context):
    asked = given(event)
    key = f"decisions/{asked['order']}"
    if get(key) is not None:
        return json.dumps({"counts": False})
    put(key, asked["part"])  # <- here
    return json.dumps({"counts": True})


def first_decision_counts(event, context):
    asked = given(event)
    key = f"decisions/{asked['order']}"
    put(key, asked["part"], ONCE)
    return json.dumps({"counts": get(key) == asked["part"].encode()})


def keeps_one_token(event, context):
    asked = given(event)
    put(f"tokens/{asked['order']}", asked["token"], ONCE)  # <- here
    return DONE


def keeps_each_token(event, context):
    asked = given(event)
    mark = hashlib.sha256(asked["token"].encode()).hexdigest()[:12]
    put(f"tokens/{asked['order']}/{asked['lap']}-{mark}", asked["token"], ONCE)
    return DONE
