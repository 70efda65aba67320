"""Text recognition (OCR) for whoever reads pictures: which recogniser there is, and how much of it a file may use.

A recogniser is an adapter with one method. The one that is used comes with the extra `ocr`.
"""

from __future__ import annotations

import importlib
import importlib.util
import resource
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image

OCR_CHOICES: Final = ("auto", "fast", "off")

_ADAPTER: Final = "wenyuan.parsers.pictures.faster_paddle_recogniser:FasterPaddleRecogniser"
"""Loaded when the first page is recognised."""

_NEEDED: Final = "faster_paddle"

RECOGNISER_BYTES: Final = 1 << 31
"""Address space that the recogniser and its models take, besides what reading a file may take."""

SECONDS_PER_PAGE: Final = 60.0
"""How much more time a file gets for each page or picture that is recognised: the work then grows with their number."""


@dataclass(frozen=True, slots=True)
class ReadingSettings:
    """Whether text in pictures and scans is recognised.

    `ocr` is "auto" (if a recogniser is installed), "fast" (with a smaller model, which knows neither rare
    characters nor all Traditional ones, in a quarter of the time) or "off". Of one document at most
    `ocr_pages` pages are recognised.
    """

    ocr: str = "auto"
    ocr_pages: int = 1000


class RecognisedLine(NamedTuple):
    """One line of text in a picture: pixels from its top left corner, a confidence from 0 to 1.

    A line that is written from top to bottom is higher than wide.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float


class Recogniser(Protocol):
    """Finds the lines of text in an upright RGB picture, in any order."""

    def recognise(self, picture: Image) -> list[RecognisedLine]: ...


class Recognition:
    """Text recognition as far as one file may use it: for so many pages, each of which gives it more time."""

    def __init__(self, settings: ReadingSettings | None = None, more_time: Callable[[], None] = lambda: None) -> None:
        self._settings = settings or ReadingSettings()
        self._more_time = more_time
        self._pages_left = self._settings.ocr_pages
        self.recognised_pages: list[int] = []
        self.doubtful_pages: list[int] = []
        self.left_out_pages: list[int] = []
        """Numbers of the pages, from 1: where text was recognised, where it may be full of mistakes, and those
        for which nothing was left of what the file may use."""

    @property
    def is_available(self) -> bool:
        """Whether anything can be recognised at all."""
        return self._settings.ocr != "off" and is_installed()

    @property
    def is_used_up(self) -> bool:
        return self._pages_left <= 0

    def for_a_page(self) -> Recogniser | None:
        """What recognises the next page, which then counts; None if there is nothing or the pages are used up."""
        if not self.is_available or self.is_used_up:
            return None
        self._pages_left -= 1
        self._more_time()
        return _recogniser("tiny" if self._settings.ocr == "fast" else "small")


recognition_allowed: ContextVar[Recognition | None] = ContextVar("recognition_allowed", default=None)
"""For the file that is being read."""


def allowance() -> Recognition:
    """What text recognition the file may use that is being read; if nothing is said, whatever is installed."""
    return recognition_allowed.get() or Recognition()


def is_installed() -> bool:
    """Whether a recogniser is there; it is not loaded for that."""
    return importlib.util.find_spec(_NEEDED) is not None


@cache
def _recogniser(size: str) -> Recogniser:
    _make_room()
    module, _, adapter = _ADAPTER.partition(":")
    recogniser: Recogniser = getattr(importlib.import_module(module), adapter)(size)
    return recogniser


def _make_room() -> None:
    """Take the address space that is kept for a recogniser: between the soft limit of this process and the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
