"""The other side: it pays, ships, sends letters. It tells what really happened.

| request | what happens |
| --- | --- |
| `POST /do/NAME` | the effect; 402 above 1000; 410 once it was undone under a key |
| `POST /undo/NAME` | undoes it; with a key only what is standing, and what is not there yet may not come any more |
| `GET /has/NAME/ORDER` | whether it is standing |

A repeat with the same `Idempotency-Key` gets the first answer. Without a key everything asked for is done.
"""

import json


class Desk:
    def __init__(self):
        self.happened, self.standing, self.closed, self.answers = [], [], set(), {}

    def effects(self):
        return list(self.happened)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        message = await receive()
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        status, body = self.answer(scope["path"], message.get("body"), headers.get("idempotency-key", ""))
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    def answer(self, path, data, key):
        _, verb, name, *rest = path.split("/")
        if verb == "has":
            return 200, {"has": (name, rest[0]) in self.standing}
        body = json.loads(data)
        if key and key in self.answers:
            return self.answers[key]
        act = self.do if verb == "do" else self.undo
        answer = act(name, body["order"], body.get("amount", 0), key)
        if key:
            self.answers[key] = answer
        return answer

    def do(self, name, order, amount, key):
        if (name, order) in self.closed:
            return 410, {"error": "closed"}
        if amount > 1000:
            return 402, {"error": "refused"}
        self.standing.append((name, order))
        self.happened.append({"name": name, "subject": order, "reversible": name != "letter"})
        return 200, {"number": len(self.happened)}

    def undo(self, name, order, amount, key):
        there = (name, order) in self.standing
        if key:
            self.closed.add((name, order))
        if key and not there:
            return 200, {"undone": False}
        if there:
            self.standing.remove((name, order))
        self.happened.append({"name": f"take back {name}", "subject": order, "undoes": name})
        return 200, {"undone": True}


def create(folder):
    return Desk()
