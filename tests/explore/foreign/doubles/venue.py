"""The venue: seats and tickets, in memory. It tells what really happened."""

from doubles.asgi import exchange


class Venue:
    def __init__(self):
        self.happened, self.seats, self.tickets, self.closed = [], set(), set(), set()

    async def __call__(self, scope, receive, send):
        await exchange(scope, receive, send, self.answer)

    def effects(self):
        return list(self.happened)

    def answer(self, method, path, body, headers):
        _, kind, *rest = path.split("/")
        order = rest[0] if rest else body["order"]
        if method == "DELETE":
            return self._undo(kind, order)
        if order in self.closed:
            return 410, {"error": "gone"}
        held = self.seats if kind == "seats" else self.tickets
        if order not in held:
            held.add(order)
            self._note({"seats": "seat", "tickets": "ticket"}[kind], order)
        return 200, {"ticket": f"T-{order}"}

    def _undo(self, kind, order):
        self.closed.add(order)
        held, name = (self.seats, "seat") if kind == "seats" else (self.tickets, "ticket")
        if order in held:
            held.discard(order)
            self._note(f"give back {name}", order, name)
        return 200, {}

    def _note(self, name, order, undoes=""):
        self.happened.append({"name": name, "subject": order, "undoes": undoes})


def create(folder):
    return Venue()
