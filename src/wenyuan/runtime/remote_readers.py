"""The configured remote readers, by the types of the files that they convert."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.config import Settings
from wenyuan.ports import Converter
from wenyuan.providers.readers.remote_reader import RemoteReader


def remote_readers(settings: Settings) -> Callable[[str], Converter | None] | None:
    """The reader for a media type, the first that takes it; None where none is configured at all."""
    if not settings.readers:
        return None
    configured = [(one, RemoteReader(one)) for one in settings.readers.values()]

    def converter_for(media_type: str) -> Converter | None:
        return next((reader for one, reader in configured if one.converts(media_type)), None)

    return converter_for
