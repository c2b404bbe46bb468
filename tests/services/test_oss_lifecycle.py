"""Rules that delete objects by age: kept, shown, forgotten with their bucket."""

from __future__ import annotations

from pathlib import Path

import oss2
import pytest
from oss2.models import BucketLifecycle, LifecycleExpiration, LifecycleRule

from local_sim.clock import RealClock
from local_sim.services.host import Services
from local_sim.services.oss import OssStore, create_app


@pytest.fixture
def bucket(tmp_path: Path):  # type: ignore[no-untyped-def]
    with OssStore(tmp_path / "oss") as store:
        services = Services()
        services.add("oss", create_app(store, credentials=None, clock=RealClock()))
        with services.start():
            made = oss2.Bucket(oss2.Auth("local", "local"), services["oss"].endpoint, "rules-bucket")
            made.create_bucket()
            yield made


def rules_of(bucket: oss2.Bucket) -> list[tuple[str, str, str, int]]:
    return [(rule.id, rule.prefix, rule.status, rule.expiration.days) for rule in bucket.get_bucket_lifecycle().rules]


def rule(name: str, days: int) -> LifecycleRule:
    return LifecycleRule(name, f"{name}/", LifecycleRule.ENABLED, LifecycleExpiration(days=days))


def test_rules_are_kept_until_they_are_replaced_or_deleted(bucket: oss2.Bucket) -> None:
    bucket.put_bucket_lifecycle(BucketLifecycle([rule("tmp", 3), rule("code", 7)]))
    assert rules_of(bucket) == [("tmp", "tmp/", "Enabled", 3), ("code", "code/", "Enabled", 7)]
    bucket.put_bucket_lifecycle(BucketLifecycle([rule("tmp", 4)]))
    assert rules_of(bucket) == [("tmp", "tmp/", "Enabled", 4)]
    bucket.delete_bucket_lifecycle()
    with pytest.raises(oss2.exceptions.NoSuchLifecycle):
        bucket.get_bucket_lifecycle()


def test_a_new_bucket_of_the_old_name_has_no_rules(bucket: oss2.Bucket) -> None:
    bucket.put_bucket_lifecycle(BucketLifecycle([rule("tmp", 3)]))
    bucket.delete_bucket()
    bucket.create_bucket()
    with pytest.raises(oss2.exceptions.NoSuchLifecycle):
        bucket.get_bucket_lifecycle()


def test_bad_rules_are_refused_and_a_missing_bucket_is_named(bucket: oss2.Bucket) -> None:
    with pytest.raises(oss2.exceptions.OssError) as caught:
        bucket.put_bucket_lifecycle(BucketLifecycle([rule("tmp", 0)]))
    assert (caught.value.status, caught.value.code) == (400, "InvalidArgument")
    with pytest.raises(oss2.exceptions.OssError) as caught:
        bucket.put_bucket_lifecycle(BucketLifecycle([]))
    assert caught.value.code == "MalformedXML"
    bucket.delete_bucket()
    with pytest.raises(oss2.exceptions.NoSuchBucket):
        bucket.put_bucket_lifecycle(BucketLifecycle([rule("tmp", 3)]))
