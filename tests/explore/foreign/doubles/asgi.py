"""What both doubles share: a JSON request in, a JSON answer out."""

import json


async def exchange(scope, receive, send, answer):
    if scope["type"] != "http":
        return
    data = b""
    while True:
        message = await receive()
        data += message.get("body", b"")
        if not message.get("more_body", False):
            break
    headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
    status, body = answer(scope["method"], scope["path"], json.loads(data or b"null"), headers)
    text = json.dumps(body).encode()
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": text})
