"""What every platform's deliveries are read with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from wenyuan.errors import BotDeliveryRefused

_OLDEST_SECONDS = 300.0
_MENTION = re.compile(r"\A\s*(?:@\S+\s+)+")


def check_time(bot: str, timestamp: str, now: float, *, unit: float = 1.0) -> None:
    """Refuse what was sent long ago, or is sent again then; `unit` is that of the timestamp in seconds.

    Raises `BotDeliveryRefused`.
    """
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        raise BotDeliveryRefused(bot=bot, reason="it has no timestamp")
    if abs(int(timestamp) * unit - now) > _OLDEST_SECONDS:
        raise BotDeliveryRefused(bot=bot, reason="its time is not now")


def read_json(bot: str, text: bytes) -> Mapping[str, Any]:
    """Raises `BotDeliveryRefused`."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BotDeliveryRefused(bot=bot, reason="it is not JSON") from error
    if not isinstance(read, dict):
        raise BotDeliveryRefused(bot=bot, reason="it is not an object")
    return read


def member(read: Mapping[str, Any], *path: str) -> str:
    """The text at a path, empty where there is none."""
    value: Any = read
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        # JSON may hold half of a character, which can be neither signed nor stored.
        return value.encode("utf-8", "replace").decode()
    return str(value) if isinstance(value, int) else ""


def without_mention(text: str) -> str:
    """What was said, without the name of the bot it was said to."""
    return _MENTION.sub("", f"{text} ").strip()
