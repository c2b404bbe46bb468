"""The one function that probes call; it goes to the account as it is, alone in a ZIP."""

import json
import os
import time


class ProbeError(Exception):
    """Raised when told to."""


def handler(event, context):  # type: ignore[no-untyped-def]
    """Do what the event's `do` says."""
    told = json.loads(event)
    do = told.get("do")
    if do == "raise":
        raise ProbeError("told to")
    if do == "exit":
        os._exit(1)
    if do == "text":
        return "plain text"
    if do == "dict":
        return {"returned": "dict"}
    if do == "sleep":
        time.sleep(told["seconds"])
    if do == "until" and told["retries"] < told["wanted"]:
        raise ProbeError(f"{told['retries']} of {told['wanted']}")
    return json.dumps(told)
