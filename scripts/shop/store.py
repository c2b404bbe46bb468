"""What the shop remembers: one SQLite file. A request's key, its answer and its effect are one transaction, so a shop
that dies at any moment has done all of a request or nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

__all__ = ["Answer", "Effect", "Fault", "FaultKind", "Store", "Thing"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (key TEXT PRIMARY KEY, asked TEXT NOT NULL, status INTEGER NOT NULL,
    body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, available INTEGER NOT NULL CHECK (available >= 0));
CREATE TABLE IF NOT EXISTS things (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, orderno TEXT NOT NULL,
    state TEXT NOT NULL, key TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS things_by_order ON things (orderno, kind);
CREATE TABLE IF NOT EXISTS effects (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
    orderno TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS arriving (orderno TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS faults (number INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT NOT NULL, kind TEXT NOT NULL,
    orderno TEXT NOT NULL, left INTEGER NOT NULL, delay_ms INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class Answer:
    """An HTTP status and a JSON object."""

    status: int
    body: dict[str, Any]


@dataclass(frozen=True)
class Effect:
    """Something that really happened: reserve, release, charge, refund, ship or cancel, for an order."""

    kind: str
    order: str


@dataclass(frozen=True)
class Thing:
    """A reservation, payment or shipment. `key` is the idempotency key it was asked for with ("" without one)."""

    number: int
    kind: str
    order: str
    state: str
    key: str
    detail: Any

    @property
    def id(self) -> str:
        """The id that the outside sees, such as `payment-7`."""
        return f"{self.kind}-{self.number}"


class FaultKind(str, Enum):
    """What can go wrong with a request on purpose."""

    LATE = "late"  # applied, answered after delay_ms
    SLOW = "slow"  # applied after delay_ms; until then the carrier says "in progress"
    DROP = "drop"  # applied, then the connection breaks
    ERROR = "error"  # applied, answered 500
    LOSE = "lose"  # not applied, the connection breaks
    BUSY = "busy"  # not applied, answered 503
    REFUSE = "refuse"  # the resource's refusal: out of stock, declined, undeliverable, already left
    UNKNOWN = "unknown"  # a look-up answers that nobody knows


@dataclass(frozen=True)
class Fault:
    """A switch: the next `times` requests to `place` (`payments`, `carrier/shipments`, ...) meet `kind`.

    `order` "" means any order.
    """

    place: str
    kind: FaultKind
    times: int = 1
    order: str = ""
    delay_ms: int = 0


class Store:
    """The file. One connection, used from one thread at a time; other processes may look at the same time."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=10)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def request(self, key: str) -> tuple[str, Answer] | None:
        """What was asked under a key, and the answer; None when the key is new."""
        row = self._db.execute("SELECT asked, status, body FROM requests WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], Answer(row[1], json.loads(row[2])))

    def keep(self, key: str, asked: str, answer: Answer) -> None:
        """Keep the first answer to a key for ever."""
        self._db.execute(
            "INSERT INTO requests VALUES (?, ?, ?, ?)", (key, asked, answer.status, json.dumps(answer.body))
        )

    def stock(self, sku: str) -> int:
        """Pieces that can still be reserved."""
        row = self._db.execute("SELECT available FROM stock WHERE sku = ?", (sku,)).fetchone()
        return 0 if row is None else int(row[0])

    def set_stock(self, sku: str, available: int) -> None:
        """Set how many pieces can be reserved."""
        self._db.execute("INSERT OR REPLACE INTO stock VALUES (?, ?)", (sku, available))

    def add(self, kind: str, order: str, key: str, detail: Any) -> Thing:
        """Make a reservation, payment or shipment in state `open`."""
        cursor = self._db.execute(
            "INSERT INTO things (kind, orderno, state, key, detail) VALUES (?, ?, 'open', ?, ?)",
            (kind, order, key, json.dumps(detail)),
        )
        return Thing(int(cursor.lastrowid or 0), kind, order, "open", key, detail)

    def settle(self, thing: Thing, state: str) -> None:
        """Give a thing its last state."""
        self._db.execute("UPDATE things SET state = ? WHERE number = ?", (state, thing.number))

    def things(self, kind: str, *, order: str = "", key: str = "", number: int = 0) -> list[Thing]:
        """The things of one kind, by order, key or number, oldest first."""
        rows = self._db.execute(
            "SELECT number, kind, orderno, state, key, detail FROM things"
            " WHERE kind = ? AND (orderno = ? OR key = ? OR number = ?) ORDER BY number",
            (kind, order or None, key or None, number or None),
        )
        return [Thing(row[0], row[1], row[2], row[3], row[4], json.loads(row[5])) for row in rows]

    def happened(self, kind: str, order: str) -> None:
        """Count an effect."""
        self._db.execute("INSERT INTO effects (kind, orderno) VALUES (?, ?)", (kind, order))

    def effects(self, order: str = "") -> list[Effect]:
        """Everything that happened, in order; of one order when it is given."""
        rows = self._db.execute(
            "SELECT kind, orderno FROM effects WHERE ? = '' OR orderno = ? ORDER BY number", (order, order)
        )
        return [Effect(*row) for row in rows]

    def arriving(self, order: str) -> bool:
        """Whether a request to ship this order is in progress."""
        return bool(self._db.execute("SELECT 1 FROM arriving WHERE orderno = ?", (order,)).fetchone())

    def arrive(self, order: str) -> None:
        """Note that a request to ship an order came in."""
        self._db.execute("INSERT INTO arriving VALUES (?)", (order,))

    def arrived(self, order: str = "") -> None:
        """Take one note away, or all of them: after a restart no request is in progress any more."""
        if order:
            self._db.execute(
                "DELETE FROM arriving WHERE rowid = (SELECT MIN(rowid) FROM arriving WHERE orderno = ?)", (order,)
            )
        else:
            self._db.execute("DELETE FROM arriving")

    def switch(self, fault: Fault) -> None:
        """Arm a fault."""
        self._db.execute(
            "INSERT INTO faults (place, kind, orderno, left, delay_ms) VALUES (?, ?, ?, ?, ?)",
            (fault.place, fault.kind.value, fault.order, fault.times, fault.delay_ms),
        )

    def switches_off(self) -> None:
        """Disarm all faults."""
        self._db.execute("DELETE FROM faults")

    def strike(self, place: str, order: str) -> Fault | None:
        """The fault that this request meets, if any; the oldest armed one counts down."""
        with self.transaction():
            row = self._db.execute(
                "SELECT number, kind, delay_ms FROM faults WHERE place = ? AND orderno IN ('', ?) AND left > 0"
                " ORDER BY number LIMIT 1",
                (place, order),
            ).fetchone()
            if row is None:
                return None
            self._db.execute("UPDATE faults SET left = left - 1 WHERE number = ?", (row[0],))
        return Fault(place, FaultKind(row[1]), 1, order, row[2])
