"""The bank: it remembers keys in SQLite, and tells nobody what happened."""

import json
import sqlite3

from doubles.asgi import exchange


class Bank:
    def __init__(self, file):
        self.db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self.db.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, status INTEGER, body TEXT)")

    async def __call__(self, scope, receive, send):
        await exchange(scope, receive, send, self.answer)

    def answer(self, method, path, body, headers):
        key = headers["idempotency-key"]
        found = self._found(key)
        if found is None:
            found = self._pay(key, body) if path == "/payments" else self._refund(body)
            self.db.execute("INSERT INTO answers VALUES (?, ?, ?)", (key, found[0], json.dumps(found[1])))
        return found

    def _found(self, key):
        row = self.db.execute("SELECT status, body FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def _pay(self, key, body):
        return (402, {"error": "declined"}) if body["amount"] > 1000 else (201, {"payment": key})

    def _refund(self, body):
        paid = self._found(body["key"])
        if paid is None:  # it must not come any more
            self.db.execute("INSERT INTO answers VALUES (?, 409, '{}')", (body["key"],))
        return (201, {"refunded": body["key"]}) if paid is not None and paid[0] == 201 else (404, {})


def create(folder):
    return Bank(folder / "bank.sqlite3")
