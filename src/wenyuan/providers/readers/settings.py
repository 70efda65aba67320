"""How a remote reader is described in the configuration."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

from wenyuan.providers.replies import address_fault
from wenyuan.types.key_references import KEY_KINDS

READER_KINDS: Final = ("unstructured", "tika", "mineru", "mineru-tasks")
FALLBACKS: Final = ("", "local")

_TYPE = re.compile(r"[a-z0-9.+*-]+/[a-z0-9.+*-]+")
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,60}")
_LONGEST_OPTION = 500


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """One remote reader. Raises `TypeError` or `ValueError` for values that cannot be meant; neither repeats a key.

    `kind` is the protocol it speaks: `unstructured`, `tika`, `mineru` (`/file_parse` of MinerU 2 and 3) or
    `mineru-tasks` (`/v1/tasks` of MinerU 4.1 and later).
    """

    name: str
    kind: str
    base_url: str
    types: tuple[str, ...]
    """The media types it converts, such as `application/pdf` or `image/*`; of two readers, the first takes a file."""
    key: str = ""
    """A reference, `env:NAME` or `file:PATH`, never the key itself."""
    timeout_seconds: float = 600.0
    """How long the conversion of one file may take, waits included."""
    answer_bytes: int = 64 << 20
    """How large an answer may be."""
    fallback: str = ""
    """`local` reads a file with this program's own reader where the service fails; a notice then says so."""
    hosts: tuple[str, ...] = ()
    """Further hosts to which the service may point for uploads and results; they are not sent the key."""
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What the service is told besides: form fields, for Tika headers that begin with `X-Tika-`."""

    def __post_init__(self) -> None:
        for name, (expected, words) in _EXPECTED.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, expected):
                raise TypeError(f"{name} must be {words}, not {type(value).__name__}")
        object.__setattr__(self, "types", _texts("types", self.types))
        object.__setattr__(self, "hosts", _texts("hosts", self.hosts))
        object.__setattr__(self, "options", _options(self.kind, self.options))
        _check(self)

    def converts(self, media_type: str) -> bool:
        return any(fnmatchcase(media_type, pattern) for pattern in self.types)


_EXPECTED: Mapping[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("name", "kind", "base_url", "key", "fallback"), ((str,), "text")),
    "timeout_seconds": ((int, float), "a number"),
    "answer_bytes": ((int,), "a whole number"),
    **dict.fromkeys(("types", "hosts"), ((list, tuple), "a list of texts")),
    "options": ((Mapping,), "a table"),
}


def _texts(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"{name} must be a list of texts")
    return tuple(value.lower() for value in values)


def _options(kind: str, options: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in options.items():
        if not isinstance(value, str):
            raise TypeError(f"options.{name} must be text, in quotation marks")
        if not _OPTION.fullmatch(name) or (kind == "tika" and not name.lower().startswith("x-tika-")):
            raise ValueError(f"options.{name} is nothing that can be told to a service of this kind")
        if len(value) > _LONGEST_OPTION or not value.isprintable() or (kind == "tika" and not value.isascii()):
            raise ValueError(f"options.{name} must be a short line of text")
    return MappingProxyType(dict(options))


def _check(settings: ReaderSettings) -> None:
    if settings.kind not in READER_KINDS:
        raise ValueError(f"kind must be one of {', '.join(READER_KINDS)}")
    if fault := address_fault(settings.base_url):
        raise ValueError(f"base_url is not usable: {fault}")
    if settings.key and not settings.key.startswith(KEY_KINDS):
        raise ValueError("key must be a reference, env:NAME, file:PATH or keyring:SERVICE/NAME, never the key itself")
    if not settings.types or not all(map(_TYPE.fullmatch, settings.types)):
        raise ValueError("types must name media types, such as application/pdf or image/*")
    if not 0 < settings.timeout_seconds < math.inf or settings.answer_bytes < 1:
        raise ValueError("timeout_seconds and answer_bytes must be greater than 0")
    if settings.fallback not in FALLBACKS:
        raise ValueError("fallback must be local, or left out")
