"""Is everybody there? Credentials, region, clocks, tables, bucket."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from ledger import Ledger, LedgerSettings
from scripts.cloud import CloudSettings, current_keys
from scripts.cloud.objects import Objects
from scripts.diagnosis.model import Result
from scripts.provisioning import Data

__all__ = ["bucket", "clock", "credentials", "region", "tables"]

_SKEW_SECONDS = 60
"""Signatures are refused at 15 minutes; leases suffer earlier (assumption L05)."""


def credentials() -> Iterator[Result]:
    """Are there any, and of which kind?"""
    keys = current_keys()
    if keys.token:
        yield Result("credentials", "good", "temporary (with a security token)")
    else:
        mend = "fine for a person; for machines use a role (temporary credentials)"
        yield Result("credentials", "good", "a permanent key pair", mend)


def region(settings: CloudSettings) -> Iterator[Result]:
    """Do the endpoints belong to the region that everything is deployed to?"""
    named = {
        name: os.environ.get(name, "")
        for name in ("FNF_ENDPOINT", "FC_ENDPOINT", "TABLESTORE_ENDPOINT", "OSS_ENDPOINT")
    }
    others = [
        f"{name}={value}" for name, value in named.items() if "aliyuncs.com" in value and settings.region not in value
    ]
    if others:
        mend = f"unset them, or set ALIBABA_CLOUD_REGION to their region (it is {settings.region})"
        yield Result("region", "bad", f"endpoints of another region: {', '.join(others)}", mend)
    else:
        yield Result("region", "good", settings.region)


def clock(endpoint: str) -> Iterator[Result]:
    """How far is this machine's clock from the service's?"""
    url = endpoint if "://" in endpoint else f"https://{endpoint}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=10) as reply:  # noqa: S310
            date = reply.headers.get("Date")
    except urllib.error.HTTPError as error:  # an answer all the same
        date = error.headers.get("Date")
    except OSError as error:
        yield Result("clock", "warning", f"{url} does not answer: {error}", "check the network and OSS_ENDPOINT")
        return
    if not date:
        yield Result("clock", "warning", "the service told no time", "compare the clock by hand")
        return
    skew = (datetime.now(timezone.utc) - parsedate_to_datetime(date)).total_seconds()
    if abs(skew) <= _SKEW_SECONDS:
        yield Result("clock", "good", f"{skew:+.0f} s against OSS")
    else:
        mend = "set the clock (NTP): signatures are refused at 15 minutes"
        yield Result("clock", "bad", f"{skew:+.0f} s against OSS", mend)


def tables(data: Data, settings: LedgerSettings) -> Iterator[Result]:
    """Instance, tables, schema."""
    there = data.tables()
    missing = [table for table in (settings.table, settings.tasks_table) if table not in there]
    if missing:
        yield Result("tables", "bad", f"missing: {', '.join(missing)}", "run python -m scripts.provision")
        return
    yield Result("tables", "good", f"{settings.table}, {settings.tasks_table}")
    Ledger.open(settings).rows("-doctor-")  # reads the schema's row: raises when it does not fit
    yield Result("schema", "good", "the tables have the schema of this code")


def bucket(objects: Objects, data: Data) -> Iterator[Result]:
    """The bucket and its rules."""
    if not objects.there():
        yield Result("bucket", "bad", f"{objects.name} does not exist", "run python -m scripts.provision")
        return
    yield Result("bucket", "good", objects.name)
    missing = [change for change in data.plan() if change.what.startswith("lifecycle")]
    if missing:
        yield Result("bucket rules", "warning", f"{len(missing)} differ", "run python -m scripts.provision")
    else:
        yield Result("bucket rules", "good", "as provisioned")
