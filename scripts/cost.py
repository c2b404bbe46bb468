"""Estimates what one execution cost, from its history, the ledger's rows and the objects of its task.

    python -m scripts.cost content_review t-1
    python -m scripts.cost content_review t-1 --prices my-prices.json --json

Quantities are counted; prices come from a dated file. The one that is shipped holds no prices: fill in your region's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from functions.payloads import object_key
from ledger import Ledger, StepRow
from scripts.cloud import (
    CloudSettings,
    Event,
    Flows,
    NotConfigured,
    NotThere,
    command_app,
    reported,
    say,
    show_json,
    show_table,
)
from scripts.cloud.deployment import Deployment, adopt_environment, read_deployment
from scripts.cloud.objects import Objects
from scripts.status import task_of

__all__ = ["Prices", "Quantities", "app", "compute", "counted"]

_PRICES = Path(__file__).resolve().parent / "prices"
_PREFIXES = ("documents", "uploads", "material", "notes", "drafts", "tokens", "handovers", "results")
# docs/ledger.md: a fresh step is two writes; a look at the pinned versions is a read.
_WRITES_AN_ATTEMPT, _READS_AN_ATTEMPT = 2, 1
_DEFAULT_MB, _DEFAULT_CPU = 512, 0.35

app = command_app()


@dataclass(frozen=True)
class Quantities:
    """What one execution used. Tablestore's and OSS's are estimates from what was left behind."""

    fc_vcpu_seconds: float
    fc_gb_seconds: float
    fc_invocations: int
    cloudflow_transitions: int
    tablestore_write_units: int
    tablestore_read_units: int
    oss_put_requests: int
    oss_get_requests: int


@dataclass(frozen=True)
class Prices:
    """Prices of one unit each, None where the file has none. `date` is the day they were looked up."""

    date: str
    currency: str
    prices: Mapping[str, float | None]

    @classmethod
    def read(cls, file: Path) -> Prices:
        """Read a price file. Raises `NotConfigured` naming what is wrong with it."""
        try:
            document: Any = json.loads(file.read_text(encoding="utf-8"))
            prices = {key: None if value is None else float(value) for key, value in document["prices"].items()}
            return cls(str(document["date"]), str(document["currency"]), prices)
        except OSError as error:
            raise NotConfigured("--prices", f"{file}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotConfigured("--prices", f"{file} is no price file: {error!r}") from None


@app.command(
    epilog="Examples:  python -m scripts.cost content_review t-1 | "
    "python -m scripts.cost content_review t-1 --prices prices.json --json.   "
    "Exit status: 0, or 2 when something is not there."
)
@reported("cost")
def main(
    flow: Annotated[str, typer.Argument(help="The flow's name.")],
    execution: Annotated[str, typer.Argument(help="The execution's name.")],
    prices: Annotated[Path | None, typer.Option(help="A price file (default: the newest of scripts/prices).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Estimate the price of an execution."""
    settings = CloudSettings()
    adopt_environment(settings)
    flows = Flows(settings)
    found = flows.execution(flow, execution)
    if found is None:
        raise NotThere(f"execution {execution} of flow {flow}", f"python -m scripts.status {flow} lists them")
    task = task_of(found)
    rows = Ledger.open().rows(task) if task else []
    objects = Objects(os.environ.get("OSS_ENDPOINT", ""), os.environ.get("OSS_BUCKET", ""), settings.region)
    stored = sum(objects.count(object_key(prefix, task, "")) for prefix in _PREFIXES) if task else 0
    used = counted(flows.history(flow, execution), rows, stored, read_deployment(settings))
    _show(used, Prices.read(prices or max(_PRICES.glob("*.json"))), as_json=as_json)


def counted(events: Iterable[Event], rows: Sequence[StepRow], objects: int, deployment: Deployment) -> Quantities:
    """Count what a history used. A call costs from its start to its answer, not while a person is waited for."""
    sizes = {spec.name: spec.document for spec in deployment.functions}
    cpu = gigabytes = 0.0
    calls = transitions = 0
    running: dict[str, tuple[float, Mapping[str, Any]]] = {}
    for event in events:
        if event.type == "StepEntered":
            transitions += 1
        elif event.type == "TaskScheduled" and event.detail.get("action") == "FC:InvokeFunction":
            running[event.step] = (_seconds(event.time), sizes.get(_function(event), {}))
        elif event.type.startswith("Task") and event.type != "TaskStarted" and event.step in running:
            began, size = running.pop(event.step)
            spent = max(_seconds(event.time) - began, 0.0)
            calls += 1
            cpu += spent * float(size.get("cpu", _DEFAULT_CPU))
            gigabytes += spent * float(size.get("memorySize", _DEFAULT_MB)) / 1024
    attempts = sum(row.attempt for row in rows)
    return Quantities(
        fc_vcpu_seconds=round(cpu, 3),
        fc_gb_seconds=round(gigabytes, 3),
        fc_invocations=calls,
        cloudflow_transitions=transitions,
        tablestore_write_units=attempts * _WRITES_AN_ATTEMPT,
        tablestore_read_units=attempts * _READS_AN_ATTEMPT,
        oss_put_requests=objects,
        oss_get_requests=objects,
    )


def compute(used: Quantities, prices: Prices) -> tuple[dict[str, float | None], float, list[str]]:
    """Cost by kind, the total of what has a price, and the kinds that are used and have none."""
    costs: dict[str, float | None] = {}
    for kind, quantity in asdict(used).items():
        price = prices.prices.get(kind)
        costs[kind] = None if price is None else quantity * price
    unknown = [kind for kind, quantity in asdict(used).items() if quantity and costs[kind] is None]
    return costs, sum(cost for cost in costs.values() if cost is not None), unknown


def _function(event: Event) -> str:
    arn = str(event.detail.get("parameters", {}).get("resourceArn", ""))
    return arn.partition("functions/")[2].split("/")[0]


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _show(used: Quantities, prices: Prices, *, as_json: bool) -> None:
    costs, total, unknown = compute(used, prices)
    if as_json:
        show_json({"quantities": used, "costs": costs, "total": total, "unpriced": unknown, "prices_of": prices.date})
        return
    rows = [
        (kind.replace("_", " "), f"{quantity:,.3f}".rstrip("0").rstrip("."), _money(costs[kind], prices))
        for kind, quantity in asdict(used).items()
    ]
    show_table(("what", "quantity", f"cost (prices of {prices.date})"), rows)
    say(f"total: {'at least ' if unknown else ''}{_money(total, prices)}")
    if unknown:
        say(f"no price is filled in for {', '.join(unknown)}: copy scripts/prices/{prices.date}.json and use --prices")


def _money(cost: float | None, prices: Prices) -> str:
    return "?" if cost is None else f"{cost:.6f} {prices.currency}".strip()


if __name__ == "__main__":
    app()
