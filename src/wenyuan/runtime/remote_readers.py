"""The configured remote readers, by the types of the files that they convert."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.config import Settings
from wenyuan.parsers.pictures.recognition import Recognition
from wenyuan.ports import Converter
from wenyuan.providers.readers.remote_reader import RemoteReader

_PICTURE = "image/png"


def reads_pictures(settings: Settings) -> bool:
    """Whether something makes text of pictures: the recogniser here, unless it is switched off, or a remote reader."""
    is_recognised = Recognition(settings.reading).is_available
    return is_recognised or any(reader.converts(_PICTURE) for reader in settings.readers.values())


def remote_readers(settings: Settings) -> Callable[[str], Converter | None] | None:
    """The reader for a media type, the first that takes it; None where none is configured at all."""
    if not settings.readers:
        return None
    configured = [(one, RemoteReader(one)) for one in settings.readers.values()]

    def converter_for(media_type: str) -> Converter | None:
        return next((reader for one, reader in configured if one.converts(media_type)), None)

    return converter_for
