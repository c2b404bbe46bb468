"""OSS on loopback, for unmodified `oss2` and `alibabacloud-oss-v2` clients.

`OssStore(folder)` keeps buckets and objects on disk; `create_app(store, credentials=..., clock=...)` serves them.
"""

from local_sim.services.oss.app import create_app
from local_sim.services.oss.dialect import DIALECT
from local_sim.services.oss.errors import ApiError, OssError
from local_sim.services.oss.store import OssStore

__all__ = ["DIALECT", "ApiError", "OssError", "OssStore", "create_app"]
