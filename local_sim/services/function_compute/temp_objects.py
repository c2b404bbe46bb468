"""The temporary bucket that Serverless Devs uploads code to before a deploy (serverless-devs page, section 5.2).

Its objects live as long as a deploy needs them: in memory, a few at a time, and only under names that were handed out.
"""

from __future__ import annotations

from collections import OrderedDict

from local_sim.services.oss.checksums import crc64

from .calls import Answer, Outside
from .records import Document

_KEPT = 16
BUCKET = "local-sim-temp-code"


class TempObjects:
    """Hands out names, takes uploads under them, gives the bytes to the create or update that follows."""

    def __init__(self, outside: Outside, account: str) -> None:
        self._outside = outside
        self._account = account
        self._issued: OrderedDict[str, None] = OrderedDict()
        self._objects: OrderedDict[str, bytes] = OrderedDict()

    def token(self) -> Document:
        """Return credentials, bucket and a fresh object name."""
        name = self._outside.new_id()
        self._issued[f"{self._account}/{name}"] = None
        while len(self._issued) > 8 * _KEPT:
            self._issued.popitem(last=False)
        return {
            "credentials": {
                "AccessKeyId": "STS.local-sim-temporary",
                "AccessKeySecret": "local-sim-temporary-secret",
                "SecurityToken": "local-sim-temporary-token",
            },
            "ossRegion": "oss-local",
            "ossBucket": BUCKET,
            "objectName": name,
        }

    def put(self, path: str, body: bytes) -> Answer | None:
        """Take an upload to `/<account>/<name>`; None when that name was not handed out."""
        key = self._key(path)
        if key is None:
            return None
        self._objects[key] = body
        while len(self._objects) > _KEPT:
            self._objects.popitem(last=False)
        headers = {
            "x-oss-request-id": self._outside.new_id().replace("-", "")[:24].upper(),
            "x-oss-hash-crc64ecma": str(crc64(body)),
            "etag": f'"{crc64(body):032X}"',
        }
        return Answer(headers=headers, body=b"")

    def get(self, bucket: str, key: str) -> bytes | None:
        """Return an upload by bucket and key, however the client spelled the key."""
        found = self._key(key) if bucket == BUCKET or self._account in key else None
        return self._objects.get(found) if found else None

    def _key(self, path: str) -> str | None:
        name = path.rpartition("/")[2]
        key = f"{self._account}/{name}"
        return key if key in self._issued else None
