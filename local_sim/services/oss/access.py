"""Requests without a signature: allowed as far as the ACL of bucket or object goes, as in OSS."""

from __future__ import annotations

from local_sim.services.oss.context import Context
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.index import find_object

_READS = frozenset({"GET", "HEAD"})


def check_anonymous(context: Context) -> None:
    """Raise `AccessDenied` unless the ACL lets everybody do this.

    Only plain reads and writes of objects ever qualify.
    """
    request = context.request
    # A copy would let everybody read its source through a bucket that everybody may write to.
    copies = "x-oss-copy-source" in request.headers
    if request.bucket is None or request.key is None or request.query or copies:
        raise ApiError("AccessDenied", "Anonymous access is forbidden for this operation.")
    acl = _acl(context, request.bucket, request.key)
    readable = request.method in _READS and acl in {"public-read", "public-read-write"}
    if not (readable or acl == "public-read-write"):
        raise ApiError("AccessDenied", "You have no right to access this object because of bucket acl.")


def _acl(context: Context, bucket: str, key: str) -> str:
    found = find_object(context.store.connection(), bucket, key)
    if found is not None and found.attributes.acl != "default":
        return found.attributes.acl
    return context.store.bucket(bucket).acl
