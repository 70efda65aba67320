"""A robot of DingTalk: signed deliveries, and answers to the address that came with each.

See https://open.dingtalk.com/document/orgapp/receive-message.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from urllib.parse import urlsplit

from wenyuan.doors.bots.calls import PlatformCalls
from wenyuan.doors.bots.port import Asked, Delivery, Heard, Reply
from wenyuan.doors.bots.reading import check_time, member, read_json, without_mention
from wenyuan.errors import BotDeliveryRefused, ProviderRefused
from wenyuan.runtime.bots import BotKeys, BotSettings

_BASE_URL = "https://oapi.dingtalk.com"
_ANSWER_SECONDS = 300.0
_LONGEST_TITLE = 40


class DingTalk:
    answer_seconds = _ANSWER_SECONDS

    def __init__(self, settings: BotSettings, keys: BotKeys) -> None:
        self._bot = settings.name
        self._secret = keys.app_secret
        self._base_url = settings.base_url or _BASE_URL
        self._calls = PlatformCalls(settings.name, self._base_url)

    def hear(self, delivery: Delivery) -> Heard:
        timestamp, given = delivery.headers.get("timestamp", ""), delivery.headers.get("sign", "")
        made = hmac.new(self._secret.encode(), f"{timestamp}\n{self._secret}".encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(base64.b64encode(made), given.encode()):
            raise BotDeliveryRefused(bot=self._bot, reason="its signature is another")
        check_time(self._bot, timestamp, delivery.now, unit=0.001)
        message = read_json(self._bot, delivery.body)
        msgid = member(message, "msgId")
        if not msgid:
            raise BotDeliveryRefused(bot=self._bot, reason="its message has no id")
        text = member(message, "text", "content") if message.get("msgtype") == "text" else ""
        person = member(message, "senderStaffId") or member(message, "senderId")
        route = {"path": self._path(member(message, "sessionWebhook"))}
        return Asked(msgid, member(message, "conversationId") or person, person, without_mention(text), route)

    def _path(self, address: str) -> str:
        """Where to answer. The signature does not cover it, so that it may lead to the platform alone."""
        there, expected = urlsplit(address), urlsplit(self._base_url)
        if (there.scheme, there.netloc) != (expected.scheme, expected.netloc):
            raise BotDeliveryRefused(bot=self._bot, reason="its answer would go elsewhere")
        return f"{there.path}?{there.query}" if there.query else there.path

    def accepted(self) -> Reply:
        return Reply(b"{}")

    def said(self, text: str) -> Reply:
        return Reply(json.dumps({"msgtype": "text", "text": {"content": text}}, ensure_ascii=False).encode())

    def send(self, asked: Asked, text: str) -> None:
        title = " ".join(asked.text.split())[:_LONGEST_TITLE]
        answer = self._calls.post(
            asked.route["path"], {"msgtype": "markdown", "markdown": {"title": title, "text": text}}
        )
        if answer.get("errcode") != 0:
            reason = f"{answer.get('errcode')} {member(answer, 'errmsg')[:200]}"
            raise ProviderRefused(provider=f"dingtalk ({self._bot})", status=200, reason=reason)
