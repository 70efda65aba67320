"""The bots that a library's settings describe, each made when it is first spoken to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from wenyuan.doors.bots.bot import Bot
from wenyuan.doors.bots.dingtalk import DingTalk
from wenyuan.doors.bots.feishu import Feishu
from wenyuan.doors.bots.port import Delivery as Delivery
from wenyuan.doors.bots.port import Platform
from wenyuan.doors.bots.port import Reply as Reply
from wenyuan.doors.bots.wecom import WeCom
from wenyuan.doors.bots.wecom_connection import WeComConnection, WeComFrames
from wenyuan.errors import BotNotFound
from wenyuan.runtime.bots import BotKeys, BotPlatform, BotSettings, bot_keys, bot_settings
from wenyuan.runtime.library import Library
from wenyuan.types import Problem

_PLATFORMS: Mapping[BotPlatform, Callable[[BotSettings, BotKeys], Platform]] = {
    "wecom": WeCom,
    "feishu": Feishu,
    "dingtalk": DingTalk,
}


class Bots:
    def __init__(
        self,
        library: Library,
        worded: Callable[[Problem], Problem],
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """Answers end at their next word once `is_stopping` says so."""
        self._library = library
        self._worded = worded
        self._is_stopping = is_stopping
        self._made: dict[str, Bot] = {}
        self._making = threading.Lock()

    def bot(self, name: str) -> Bot:
        """Raises `BotNotFound`, `KeyMissing` or `ConfigurationInvalid`."""
        with self._making:
            if name not in self._made:
                settings = bot_settings(self._library, name)
                if settings.connects_itself:
                    # Nobody is delivered to what is not signed.
                    raise BotNotFound(bot=name)
                platform = _PLATFORMS[settings.platform](settings, bot_keys(settings))
                self._made[name] = Bot(self._library, settings, platform, self._worded, self._is_stopping)
            return self._made[name]

    def connections(self) -> list[WeComConnection]:
        """Those that connect themselves. Raises `KeyMissing` or `ConfigurationInvalid`."""
        made: list[WeComConnection] = []
        for settings in self._library.settings.bots.values():
            if settings.connects_itself:
                bot = Bot(self._library, settings, WeComFrames(settings), self._worded, self._is_stopping)
                secret = bot_keys(settings).app_secret
                made.append(WeComConnection(settings, secret, bot, self._is_stopping))
        return made
