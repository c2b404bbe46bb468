"""A rule of this project's own: whoever gets a ticket has a receipt, and nobody else has a ticket."""

import os
from collections.abc import Iterator

import oss2

from local_sim.explore import Run, invariant


@invariant
def a_ticket_has_a_receipt(run: Run) -> Iterator[str]:
    auth = oss2.Auth(os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"], os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"])
    bucket = oss2.Bucket(auth, os.environ["OSS_ENDPOINT"], os.environ["OSS_BUCKET"])
    if run.end == "Sold" and not bucket.object_exists(f"receipts/{run.input['order']}.json"):
        yield f"{run.input['order']} was sold without a receipt"
