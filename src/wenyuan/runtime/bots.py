"""Bots of a library: what each is bound to, its keys, and which messages it has had already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from wenyuan.errors import BotNotFound
from wenyuan.providers.keys import resolve_key
from wenyuan.runtime.access import Caller
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.library import Library
from wenyuan.runtime.repeats import Outcome
from wenyuan.types.bots import BotPlatform as BotPlatform
from wenyuan.types.bots import BotSettings as BotSettings


@dataclass(frozen=True, slots=True)
class BotKeys:
    """The keys that a bot's settings refer to; empty where they refer to none."""

    token: str = field(repr=False)
    aes_key: str = field(repr=False)
    app_secret: str = field(repr=False)


def bot_settings(library: Library, name: str) -> BotSettings:
    """Raises `BotNotFound`."""
    settings = library.settings.bots.get(name)
    if settings is None:
        raise BotNotFound(bot=name)
    return settings


def bot_keys(settings: BotSettings) -> BotKeys:
    """Raises `KeyMissing` or `ConfigurationInvalid`."""

    def key(reference: str) -> str:
        resolved = resolve_key(reference, settings.name, "bots")
        return resolved.revealed() if resolved is not None else ""

    return BotKeys(key(settings.token), key(settings.aes_key), key(settings.app_secret))


def granted_to_bot(library: Library, settings: BotSettings) -> GrantedLibrary:
    """The library as a bot may use it: its knowledge bases, to be read. Raises `KnowledgeBaseNotFound`."""
    ids = frozenset(library.knowledge_bases.find(one).id for one in settings.knowledge_bases)
    return GrantedLibrary(library, Caller("", f"bot {settings.name}", frozenset({"read"}), ids))


def known_delivery(library: Library, bot: str, message: str, make: Callable[[], str]) -> str:
    """What was made of a message when it first came; for a day, whichever server it comes to.

    Raises `RepeatTooEarly` where that is being done.
    """
    return library.repeats.once(f"bot:{bot}", message, b"", lambda: Outcome(200, "", make())).body
