"""How a bot on a chat platform is described in the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from wenyuan.types.key_references import KEY_KINDS

BotPlatform = Literal["wecom", "feishu", "dingtalk"]

_REFERENCES = ("token", "aes_key", "app_secret")
_NEEDED: Mapping[BotPlatform, tuple[str, ...]] = {
    "wecom": (),
    "feishu": ("app_id", "app_secret", "token"),
    "dingtalk": ("app_secret",),
}


@dataclass(frozen=True, slots=True)
class BotSettings:
    """One bot. `token`, `aes_key` and `app_secret` are references to keys, never the keys themselves.

    Raises `TypeError` or `ValueError` for values that cannot be meant; neither repeats what was given as a key.
    """

    name: str
    platform: BotPlatform
    """`wecom`, `feishu` or `dingtalk`."""
    knowledge_bases: tuple[str, ...]
    """Names or ids of those it asks."""
    token: str = ""
    """By which deliveries of WeCom are signed, and those of Feishu are known."""
    aes_key: str = ""
    """With which messages are encrypted: the EncodingAESKey of WeCom, the Encrypt Key of Feishu."""
    app_id: str = ""
    """Of Feishu; of WeCom the id of a robot that connects itself."""
    app_secret: str = ""
    """With which a bot of Feishu answers, one of WeCom connects itself, and deliveries of DingTalk are signed."""
    receive_id: str = ""
    """Whom messages of WeCom name as their receiver; empty for its smart robots."""
    base_url: str = ""
    """Where the platform answers, if not at its usual address."""
    welcome: str = ""
    """What it says to whoever opens a conversation with it."""

    @property
    def connects_itself(self) -> bool:
        """Whether it holds a connection to its platform, instead of being delivered to."""
        return self.platform == "wecom" and bool(self.app_id)

    def __post_init__(self) -> None:
        if not isinstance(self.knowledge_bases, list | tuple) or not all(
            isinstance(one, str) and one for one in self.knowledge_bases
        ):
            raise TypeError("knowledge_bases must be a list of names")
        object.__setattr__(self, "knowledge_bases", tuple(self.knowledge_bases))
        for item in fields(self):
            if item.name != "knowledge_bases" and not isinstance(getattr(self, item.name), str):
                raise TypeError(f"{item.name} must be of type str")
        if self.platform not in get_args(BotPlatform):
            raise ValueError(f"platform must be one of {', '.join(get_args(BotPlatform))}")
        if not self.knowledge_bases:
            raise ValueError("knowledge_bases must name at least one")
        for name in _REFERENCES:
            if getattr(self, name) and not getattr(self, name).startswith(KEY_KINDS):
                raise ValueError(
                    f"{name} must be a reference, env:NAME, file:PATH or keyring:SERVICE/NAME, never the key itself"
                )
        if self.platform == "wecom" and bool(self.token and self.aes_key) == bool(self.app_id and self.app_secret):
            raise ValueError("either token and aes_key, or app_id and app_secret are needed for wecom")
        for name in _NEEDED[self.platform]:
            if not getattr(self, name):
                raise ValueError(f"{name} is needed for {self.platform}")
