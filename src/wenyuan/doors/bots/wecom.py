"""The smart robot of WeCom: encrypted deliveries, answers that are fetched while they grow.

See https://developer.work.weixin.qq.com/document/path/100719 and the pages after it.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from typing import Any

from wenyuan.doors.bots.message_crypto import MessageCrypto
from wenyuan.doors.bots.port import Asked, Delivery, Entered, Handshake, Heard, Ignored, Refreshed, Reply
from wenyuan.doors.bots.reading import check_time, member, read_json, without_mention
from wenyuan.errors import BotDeliveryRefused, ConfigurationInvalid
from wenyuan.runtime.bots import BotKeys, BotSettings

_LONGEST_CONTENT = 20_480
_ANSWER_SECONDS = 330.0
"""It fetches an answer for six minutes at most."""


class WeCom:
    answer_seconds = _ANSWER_SECONDS

    def __init__(self, settings: BotSettings, keys: BotKeys) -> None:
        """Raises `ConfigurationInvalid` for an EncodingAESKey that is none."""
        self._bot = settings.name
        try:
            self._crypto = MessageCrypto(keys.token, keys.aes_key, settings.receive_id)
        except ValueError as error:
            setting = f"bots.{settings.name}.aes_key"
            raise ConfigurationInvalid(setting=setting, source="wenyuan.toml", reason=str(error)) from error

    def hear(self, delivery: Delivery) -> Heard:
        if delivery.method == "GET":
            # A plus sign that was sent as it is has become a space.
            echo = delivery.query.get("echostr", "").replace(" ", "+")
            return Handshake(Reply(self._opened(delivery, echo), "text/plain"))
        envelope = read_json(self._bot, delivery.body)
        message = read_json(self._bot, self._opened(delivery, member(envelope, "encrypt")))
        return heard_message(self._bot, message)

    def _opened(self, delivery: Delivery, encrypted: str) -> bytes:
        query = delivery.query
        timestamp, nonce = query.get("timestamp", ""), query.get("nonce", "")
        if not encrypted or not self._crypto.is_signed(query.get("msg_signature", ""), timestamp, nonce, encrypted):
            raise BotDeliveryRefused(bot=self._bot, reason="its signature is not that of its content")
        check_time(self._bot, timestamp, delivery.now)
        try:
            return self._crypto.decrypt(encrypted)
        except ValueError as error:
            raise BotDeliveryRefused(bot=self._bot, reason=f"it cannot be decrypted: {error}") from error

    def accepted(self) -> Reply:
        return Reply(b"")

    def shown(self, stream: str, text: str, *, is_whole: bool) -> Reply:
        return self._sealed(stream_message(stream, text, is_whole=is_whole))

    def said(self, text: str) -> Reply:
        return self._sealed({"msgtype": "text", "text": {"content": text}})

    def _sealed(self, message: Mapping[str, Any]) -> Reply:
        encrypted = self._crypto.encrypt(json.dumps(message, ensure_ascii=False).encode())
        timestamp, nonce = str(int(time.time())), secrets.token_hex(8)
        signature = self._crypto.signature(timestamp, nonce, encrypted)
        envelope = {"encrypt": encrypted, "msgsignature": signature, "timestamp": int(timestamp), "nonce": nonce}
        return Reply(json.dumps(envelope).encode())


def heard_message(bot: str, message: Mapping[str, Any]) -> Heard:
    """What a message says, however it came. Raises `BotDeliveryRefused`."""
    match message.get("msgtype"):
        case "stream":
            return Refreshed(member(message, "stream", "id"))
        case "event":
            is_entering = member(message, "event", "eventtype") == "enter_chat"
            return Entered() if is_entering else Ignored()
        case _:
            return _asked(bot, message)


def _asked(bot: str, message: Mapping[str, Any]) -> Asked:
    person = member(message, "from", "userid")
    conversation = member(message, "chatid") or person
    msgid = member(message, "msgid")
    if not msgid:
        raise BotDeliveryRefused(bot=bot, reason="its message has no id")
    return Asked(msgid, conversation, person, without_mention(_said(message)))


def stream_message(stream: str, text: str, *, is_whole: bool) -> dict[str, Any]:
    """So much of an answer, as far as it fits."""
    content = text.encode()[:_LONGEST_CONTENT].decode(errors="ignore")
    return {"msgtype": "stream", "stream": {"id": stream, "finish": is_whole, "content": content}}


def _said(message: Mapping[str, Any]) -> str:
    """The words of a message: its text, what was spoken, or the text among pictures."""
    match message.get("msgtype"):
        case "text" | "voice" as kind:
            return member(message, str(kind), "content")
        case "mixed":
            mixed = message.get("mixed")
            items = mixed.get("msg_item", ()) if isinstance(mixed, Mapping) else ()
            return "\n".join(member(item, "text", "content") for item in items if isinstance(item, Mapping)).strip()
        case _:
            return ""
