"""A small web shop over HTTP: what the order flow charges, ships and refunds at.

It stands for somebody else's service. Offline the local cloud runs it (`[tool.local-sim.services]` in pyproject.toml);
in the cloud `SHOP_ENDPOINT` names the shop that is really there. Its API is described in `scripts.shop.app`.
"""

from scripts.shop.app import create_app
from scripts.shop.store import Effect, Fault, FaultKind, Store

__all__ = ["Effect", "Fault", "FaultKind", "Store", "create_app"]
