"""Sets the shop up and looks at it, by hand.

    local-sim exec -- python -m scripts.shop stock tea 5
    local-sim exec -- python -m scripts.shop fault carrier/shipments drop
    local-sim exec -- python -m scripts.shop effects order-1

`SHOP_ENDPOINT` says where the shop is; `local-sim exec` sets it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from scripts.shop.store import FaultKind


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one thing and print the shop's answer. Returns 0; 1 when the shop says no, 2 when it cannot be asked."""
    import httpx

    method, path, body = _request(_parser().parse_args(arguments))
    endpoint = os.environ.get("SHOP_ENDPOINT", "")
    try:
        reply = httpx.request(method, f"{endpoint.rstrip('/')}/{path}", json=body, timeout=10)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        sys.stderr.write(f"the shop at SHOP_ENDPOINT={endpoint!r} cannot be asked: {error}\n")
        return 2
    sys.stdout.write(reply.text + "\n" if reply.text else "")
    return 0 if reply.is_success else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="shop", description="Set the shop up and look at it.")
    commands = parser.add_subparsers(dest="command", required=True)
    stock = commands.add_parser("stock", help="show, or set, how many pieces can be reserved")
    stock.add_argument("sku")
    stock.add_argument("available", type=int, nargs="?")
    effects = commands.add_parser("effects", help="what really happened for an order, or for all")
    effects.add_argument("order", nargs="?", default="")
    fault = commands.add_parser("fault", help="let the next requests to a place go wrong")
    fault.add_argument("place", help="reservations, payments, refunds, carrier/shipments, ...")
    fault.add_argument("kind", choices=[kind.value for kind in FaultKind])
    fault.add_argument("--times", type=int, default=1)
    fault.add_argument("--order", default="")
    fault.add_argument("--delay-ms", type=int, default=0)
    commands.add_parser("clear", help="switch all faults off")
    return parser


def _request(options: argparse.Namespace) -> tuple[str, str, Any]:
    if options.command == "stock":
        path = f"stock/{quote(options.sku, safe='')}"
        return ("GET", path, None) if options.available is None else ("PUT", path, {"available": options.available})
    if options.command == "effects":
        return "GET", f"effects?order={quote(options.order, safe='')}", None
    if options.command == "clear":
        return "DELETE", "faults", None
    names = ("place", "kind", "times", "order", "delay_ms")
    return "POST", "faults", {name: getattr(options, name) for name in names}


if __name__ == "__main__":
    sys.exit(main())
