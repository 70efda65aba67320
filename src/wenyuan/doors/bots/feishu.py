"""A bot of Feishu: events of version 2, and answers by its interface.

See https://open.feishu.cn/document/server-docs/im-v1/message/reply.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from wenyuan.doors.bots.calls import PlatformCalls
from wenyuan.doors.bots.message_crypto import decrypt_with_passphrase
from wenyuan.doors.bots.port import Asked, Delivery, Entered, Handshake, Heard, Ignored, Reply
from wenyuan.doors.bots.reading import check_time, member, read_json, without_mention
from wenyuan.errors import BotDeliveryRefused, ProviderRefused
from wenyuan.runtime.bots import BotKeys, BotSettings

_BASE_URL = "https://open.feishu.cn"
_ANSWER_SECONDS = 300.0
_EARLY_SECONDS = 300.0
_TOKEN_ENDED = (99991661, 99991663, 99991668)
"""What it answers to a token that has ended before its time."""
_ENTERED = "im.chat.access_event.bot_p2p_chat_entered_v1"


class Feishu:
    answer_seconds = _ANSWER_SECONDS

    def __init__(self, settings: BotSettings, keys: BotKeys) -> None:
        self._settings = settings
        self._keys = keys
        self._calls = PlatformCalls(settings.name, settings.base_url or _BASE_URL)
        self._signing_in = threading.Lock()
        self._token, self._token_until = "", 0.0

    def hear(self, delivery: Delivery) -> Heard:
        event = read_json(self._bot, delivery.body)
        if "encrypt" in event:
            event = self._decrypted(member(event, "encrypt"))
        elif self._keys.aes_key:
            raise self._refused("it is not encrypted")
        if event.get("type") == "url_verification":
            self._check_token(member(event, "token"))
            return Handshake(_json({"challenge": member(event, "challenge")}))
        self._check_token(member(event, "header", "token"))
        self._check_signature(delivery)
        check_time(self._bot, member(event, "header", "create_time"), delivery.now, unit=0.001)
        match member(event, "header", "event_type"):
            case "im.message.receive_v1":
                return self._asked(event)
            case kind if kind == _ENTERED:
                return Entered()
            case _:
                return Ignored()

    @property
    def _bot(self) -> str:
        return self._settings.name

    def _refused(self, reason: str) -> BotDeliveryRefused:
        return BotDeliveryRefused(bot=self._bot, reason=reason)

    def _decrypted(self, encrypted: str) -> Mapping[str, Any]:
        if not self._keys.aes_key:
            raise self._refused("it is encrypted, and there is no aes_key")
        try:
            return read_json(self._bot, decrypt_with_passphrase(self._keys.aes_key, encrypted))
        except ValueError as error:
            raise self._refused(f"it cannot be decrypted: {error}") from error

    def _check_token(self, token: str) -> None:
        if not hmac.compare_digest(token.encode(), self._keys.token.encode()):
            raise self._refused("its token is another")

    def _check_signature(self, delivery: Delivery) -> None:
        """Deliveries are signed where they are encrypted: SHA-256 over time, nonce, passphrase and body."""
        if not self._keys.aes_key:
            return
        names = ("x-lark-request-timestamp", "x-lark-request-nonce")
        timestamp, nonce = (delivery.headers.get(name, "") for name in names)
        signed = f"{timestamp}{nonce}{self._keys.aes_key}".encode() + delivery.body
        given = delivery.headers.get("x-lark-signature", "")
        if not hmac.compare_digest(hashlib.sha256(signed).hexdigest().encode(), given.encode()):
            raise self._refused("its signature is not that of its content")
        check_time(self._bot, timestamp, delivery.now)

    def _asked(self, event: Mapping[str, Any]) -> Asked:
        message = member(event, "event", "message", "message_id")
        if not message:
            raise self._refused("its message has no id")
        text = ""
        if member(event, "event", "message", "message_type") == "text":
            text = member(read_json(self._bot, member(event, "event", "message", "content").encode()), "text")
        person = member(event, "event", "sender", "sender_id", "open_id")
        conversation = member(event, "event", "message", "chat_id") or person
        return Asked(message, conversation, person, without_mention(text), {"message": message})

    def accepted(self) -> Reply:
        return _json({})

    def said(self, text: str) -> Reply:
        """Nothing can be said in the answer to a delivery."""
        del text
        return self.accepted()

    def send(self, asked: Asked, text: str) -> None:
        body = {"msg_type": "text", "content": json.dumps({"text": text}, ensure_ascii=False)}
        path = f"/open-apis/im/v1/messages/{quote(asked.route['message'], safe='')}/reply"
        answer = self._calls.post(path, body, {"Authorization": f"Bearer {self._signed_in()}"})
        if answer.get("code") in _TOKEN_ENDED:
            self._token_until = 0.0
            answer = self._calls.post(path, body, {"Authorization": f"Bearer {self._signed_in()}"})
        self._check(answer)

    def _signed_in(self) -> str:
        """A token of the tenant, made anew a little before it ends."""
        with self._signing_in:
            if time.monotonic() >= self._token_until:
                body = {"app_id": self._settings.app_id, "app_secret": self._keys.app_secret}
                answer = self._calls.post("/open-apis/auth/v3/tenant_access_token/internal", body)
                self._check(answer)
                self._token = member(answer, "tenant_access_token")
                seconds = answer.get("expire")
                lasts = float(seconds) if isinstance(seconds, int | float) else 0.0
                self._token_until = time.monotonic() + max(0.0, lasts - _EARLY_SECONDS)
            return self._token

    def _check(self, answer: Mapping[str, Any]) -> None:
        if answer.get("code") != 0:
            reason = f"{answer.get('code')} {member(answer, 'msg')[:200]}"
            raise ProviderRefused(provider=f"feishu ({self._bot})", status=200, reason=reason)


def _json(value: Mapping[str, Any]) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False).encode())
