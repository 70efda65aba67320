"""From the settings of a remote reader to what has files converted by it."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from wenyuan.errors import FileUnreadable, FileVanished
from wenyuan.providers.keys import resolve_key
from wenyuan.providers.readers import mineru, mineru_tasks, tika, unstructured
from wenyuan.providers.readers.service import Original, Service
from wenyuan.providers.readers.settings import ReaderSettings

_Convert = Callable[[Service, Original, Callable[[bytes], None]], str]

_KINDS: Mapping[str, _Convert] = {
    "unstructured": unstructured.convert,
    "tika": tika.convert,
    "mineru": mineru.convert,
    "mineru-tasks": mineru_tasks.convert,
}
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")


class RemoteReader:
    """Has files converted by a service. The key is resolved anew for each; threads may share it."""

    def __init__(self, settings: ReaderSettings) -> None:
        self._settings = settings

    @property
    def label(self) -> str:
        return f"{self._settings.name} ({self._settings.kind})"

    @property
    def falls_back(self) -> bool:
        return self._settings.fallback == "local"

    def convert(
        self, path: Path, name: str, media_type: str, write: Callable[[bytes], None], on_wait: Callable[[], None]
    ) -> str:
        """See `Converter.convert`; also raises `FileVanished` and `FileUnreadable`."""
        key = resolve_key(self._settings.key, self._settings.name, "readers")
        try:
            file = path.open("rb")
        except FileNotFoundError as error:
            raise FileVanished(path=str(path)) from error
        except OSError as error:
            raise FileUnreadable(path=str(path), reason=error.strerror or str(error)) from error
        with file:
            original = Original(file, path.stat().st_size, name, _file_name(name, media_type), media_type)
            with Service(self._settings, key, name, on_wait) as service:
                return _KINDS[self._settings.kind](service, original, write)


def _file_name(name: str, media_type: str) -> str:
    """A name that tells what kind of file it is, and nothing else of it."""
    suffix = PurePath(name).suffix.lower()
    if not _SUFFIX.fullmatch(suffix):
        suffix = mimetypes.guess_extension(media_type) or ""
    return f"document{suffix}"
