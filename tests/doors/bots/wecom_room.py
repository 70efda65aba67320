"""WeCom's side of the connection that a smart robot makes, in small: it lets in, delivers, and takes answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

BOT, SECRET = "bot_1", "a-secret-of-an-app"


@dataclass
class Room:
    """`frames` are all that the robot sent but its heartbeats; `turned_away` counts who was not let in."""

    url: str
    frames: list[dict[str, Any]] = field(default_factory=list)
    subscribed: int = 0
    turned_away: int = 0
    connection: ServerConnection | None = None
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, connection: ServerConnection) -> None:
        request = json.loads(connection.recv(timeout=60))
        assert request["cmd"] == "aibot_subscribe"
        is_known = request["body"] == {"bot_id": BOT, "secret": SECRET}
        code = {"errcode": 0, "errmsg": "ok"} if is_known else {"errcode": 40001, "errmsg": "invalid secret"}
        connection.send(json.dumps({"headers": request["headers"], **code}))
        if not is_known:
            self.turned_away += 1
            return
        self.connection = connection
        self.subscribed += 1
        try:
            for said in connection:
                frame = json.loads(said)
                if frame["cmd"] != "ping":
                    with self._changing:
                        self.frames.append(frame)
                connection.send(json.dumps({"headers": frame["headers"], "errcode": 0, "errmsg": "ok"}))
        except ConnectionClosed:
            pass

    def deliver(self, request: str, body: dict[str, Any], command: str = "aibot_msg_callback") -> None:
        assert self.connection is not None
        self.connection.send(json.dumps({"cmd": command, "headers": {"req_id": request}, "body": body}))

    def say(self, text: str, message: str, request: str) -> None:
        said = {"msgtype": "text", "text": {"content": text}}
        self.deliver(request, {"msgid": message, "aibotid": BOT, "from": {"userid": "wang"}, **said})

    def answers(self, request: str) -> list[dict[str, Any]]:
        with self._changing:
            return [frame["body"] for frame in self.frames if frame["headers"]["req_id"] == request]

    def whole(self, request: str) -> str:
        """The text of an answer that has ended, else nothing."""
        streams = [one["stream"] for one in self.answers(request) if one["msgtype"] == "stream"]
        return str(streams[-1]["content"]) if streams and streams[-1]["finish"] else ""


@contextmanager
def room() -> Iterator[Room]:
    made = Room("")
    server: Server = serve(made.hold, "127.0.0.1", 0)
    made.url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join(60)
