"""Chat platforms in small: they deliver over real HTTP, encrypt and sign with an implementation of their own, and

take answers as the platforms do.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from queue import Queue
from typing import Any

import httpx2
from Crypto.Cipher import AES

from tests.loopback import serving_on_loopback

TOKEN = "hJqcu3uJ9Tn2gXPmxx2w9kkCkCE2EPYo"
AES_KEY = "6qkdMrq68nTKduznJYO1A37W2oEgpkMUvkttRToqhUt"
SECRET = "a-secret-of-an-app"


@dataclass
class WeComSimulator:
    """Delivers to a robot's callback, and fetches its answer until that is whole."""

    url: str
    receiver: str = ""

    def __post_init__(self) -> None:
        self._key = base64.b64decode(AES_KEY + "=")

    def encrypt(self, text: bytes) -> str:
        plain = b"0123456789abcdef" + struct.pack(">I", len(text)) + text + self.receiver.encode()
        missing = 32 - len(plain) % 32
        cipher = AES.new(self._key, AES.MODE_CBC, self._key[:16])
        return base64.b64encode(cipher.encrypt(plain + bytes([missing]) * missing)).decode()

    def decrypt(self, encrypted: str) -> Any:
        plain = AES.new(self._key, AES.MODE_CBC, self._key[:16]).decrypt(base64.b64decode(encrypted))
        plain = plain[: -plain[-1]]
        (length,) = struct.unpack(">I", plain[16:20])
        assert plain[20 + length :] == self.receiver.encode()
        return json.loads(plain[20 : 20 + length])

    def signed(self, encrypted: str, timestamp: int | None = None) -> dict[str, str]:
        time_sent = str(int(time.time()) if timestamp is None else timestamp)
        joined = "".join(sorted([TOKEN, time_sent, "nonce", encrypted]))
        signature = hashlib.sha1(joined.encode()).hexdigest()
        return {"msg_signature": signature, "timestamp": time_sent, "nonce": "nonce"}

    def verify(self, text: str) -> httpx2.Response:
        encrypted = self.encrypt(text.encode())
        return httpx2.get(self.url, params={**self.signed(encrypted), "echostr": encrypted})

    def deliver(self, message: dict[str, Any], timestamp: int | None = None) -> httpx2.Response:
        encrypted = self.encrypt(json.dumps(message, ensure_ascii=False).encode())
        parameters = self.signed(encrypted, timestamp)
        return httpx2.post(self.url, params=parameters, json={"encrypt": encrypted}, timeout=30)

    def read(self, response: httpx2.Response) -> Any:
        """What a delivery was answered, its signature checked."""
        sealed = response.json()
        parts = sorted([TOKEN, str(sealed["timestamp"]), sealed["nonce"], sealed["encrypt"]])
        assert hashlib.sha1("".join(parts).encode()).hexdigest() == sealed["msgsignature"]
        return self.decrypt(sealed["encrypt"])

    def say(self, text: str, msgid: str, **more: Any) -> Any:
        person = {"chattype": "single", "from": {"userid": "wang"}}
        said = {"msgtype": "text", "text": {"content": text}}
        return self.read(self.deliver({"msgid": msgid, "aibotid": "bot", **person, **said, **more}))

    def refresh(self, stream: str) -> Any:
        return self.read(self.deliver({"msgid": f"refresh {stream}", "msgtype": "stream", "stream": {"id": stream}}))

    def whole(self, first: Any) -> str:
        """The answer that begins with this, fetched to its end."""
        while not first["stream"]["finish"]:
            first = self.refresh(first["stream"]["id"])
        text: str = first["stream"]["content"]
        return text


@dataclass
class Interface:
    """The interface of a platform to which answers are sent: each of them, with its path and headers."""

    url: str = ""
    sent: Queue[tuple[str, dict[str, str], Any]] = field(default_factory=Queue)
    answers: dict[str, Any] = field(default_factory=dict)

    def next(self) -> tuple[str, dict[str, str], Any]:
        return self.sent.get(timeout=30)


@contextmanager
def interface(**answers: Any) -> Iterator[Interface]:
    """Serve one; paths that end with a name are answered as said, others with success."""
    made = Interface(answers=answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            made.sent.put((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            given = next((one for name, one in made.answers.items() if self.path.endswith(name)), None)
            answer = json.dumps({"code": 0, "errcode": 0} if given is None else given).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with serving_on_loopback(Handler) as made.url:
        yield made


@dataclass
class FeishuSimulator:
    """Delivers events of version 2, encrypted and signed."""

    url: str

    def encrypt(self, event: Any) -> bytes:
        key, vector = hashlib.sha256(SECRET.encode()).digest(), b"0123456789abcdef"
        plain = json.dumps(event, ensure_ascii=False).encode()
        missing = 16 - len(plain) % 16
        data = AES.new(key, AES.MODE_CBC, vector).encrypt(plain + bytes([missing]) * missing)
        return json.dumps({"encrypt": base64.b64encode(vector + data).decode()}).encode()

    def deliver(self, event: Any, *, signed_with: str = SECRET) -> httpx2.Response:
        body, now = self.encrypt(event), str(int(time.time()))
        signature = hashlib.sha256(f"{now}nonce{signed_with}".encode() + body).hexdigest()
        headers = {"X-Lark-Request-Timestamp": now, "X-Lark-Request-Nonce": "nonce", "X-Lark-Signature": signature}
        return httpx2.post(self.url, content=body, headers=headers, timeout=30)

    def challenge(self, token: str = TOKEN) -> httpx2.Response:
        body = self.encrypt({"type": "url_verification", "challenge": "say it", "token": token})
        return httpx2.post(self.url, content=body, timeout=30)

    def say(self, text: str, message: str, **changed: Any) -> httpx2.Response:
        header = {"event_type": "im.message.receive_v1", "token": TOKEN, "create_time": str(int(time.time() * 1000))}
        content = json.dumps({"text": text}, ensure_ascii=False)
        said = {"message_id": message, "chat_id": "chat", "message_type": "text", "content": content}
        event = {"sender": {"sender_id": {"open_id": "ou_wang"}}, "message": said}
        return self.deliver({"schema": "2.0", "header": header, "event": event}, **changed)


@dataclass
class DingTalkSimulator:
    """Delivers messages to a robot, signed with its secret."""

    url: str
    webhook: str

    def say(
        self, text: str, message: str, *, secret: str = SECRET, late: int = 0, webhook: str = ""
    ) -> httpx2.Response:
        now = str(int(time.time() * 1000) - late * 1000)
        signature = hmac.new(secret.encode(), f"{now}\n{secret}".encode(), hashlib.sha256).digest()
        headers = {"timestamp": now, "sign": base64.b64encode(signature).decode()}
        said = {"msgId": message, "conversationId": "chat", "senderStaffId": "wang", "msgtype": "text"}
        body = {**said, "text": {"content": f" {text}"}, "sessionWebhook": webhook or self.webhook}
        return httpx2.post(self.url, json=body, headers=headers, timeout=30)
