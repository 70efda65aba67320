"""What the house asks of a chat platform. An adapter is one file that keeps `Fetching` or `Sending`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request of a platform, as it came: names of headers in small letters, `now` in seconds since 1970."""

    method: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    now: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What a delivery is answered."""

    body: bytes
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Handshake:
    """The platform makes sure that it has come to the right place."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody has said something; `text` is empty for what is no text, such as a picture.

    `message` is the platform's id of it, the same each time it is delivered. `route` is what an answer needs to
    find its way.
    """

    message: str
    conversation: str
    person: str
    text: str
    route: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The platform asks how far an answer is."""

    stream: str


@dataclass(frozen=True, slots=True)
class Entered:
    """Somebody has opened a conversation with the bot."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that is no concern of a bot that answers questions."""


Heard = Handshake | Asked | Refreshed | Entered | Ignored


class Platform(Protocol):
    """Reads what a platform delivers. What it is besides, `Fetching` or `Sending`, is how an answer reaches it."""

    @property
    def answer_seconds(self) -> float:
        """How long an answer may take."""
        ...

    def hear(self, delivery: Delivery) -> Heard:
        """Verify, decrypt and read a delivery. Raises `BotDeliveryRefused`."""
        ...

    def accepted(self) -> Reply:
        """The answer to a delivery that nothing more is said to."""
        ...

    def said(self, text: str) -> Reply:
        """A few words, as the answer to a delivery; nothing where the platform takes none."""
        ...


@runtime_checkable
class Fetching(Platform, Protocol):
    """A platform that fetches an answer piece by piece, by `Refreshed`."""

    def shown(self, stream: str, text: str, *, is_whole: bool) -> Reply:
        """So much of an answer, as the answer to a delivery."""
        ...


@runtime_checkable
class Sending(Platform, Protocol):
    """A platform that is sent an answer once, when it is whole."""

    def send(self, asked: Asked, text: str) -> None:
        """Raises `ProviderError`."""
        ...
