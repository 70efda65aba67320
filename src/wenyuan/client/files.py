"""Files on their way to a server."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wenyuan.errors import FileUnreadable

_OCTETS = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Sending:
    """How much of a file was sent; sizes are in bytes."""

    name: str
    sent: int
    size: int


WatchSending = Callable[[Sending], None]


class _Watched(io.RawIOBase):
    """A file that tells how much of it was read."""

    def __init__(self, file: BinaryIO, name: str, size: int, watch: WatchSending | None) -> None:
        self._file = file
        self._name = name
        self._size = size
        self._watch = watch

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        if self._watch is not None and piece:
            self._watch(Sending(self._name, self._file.tell(), self._size))
        return piece

    def close(self) -> None:
        self._file.close()
        super().close()


def file_form(
    path: Path, name: str, metadata: Mapping[str, Any] | None, watch: WatchSending | None
) -> Callable[[], Mapping[str, Any]]:
    """Makes the form that carries a file, as often as it has to be sent. Raises `FileUnreadable`."""
    fields = {"name": name}
    if metadata is not None:
        fields["metadata"] = json.dumps(dict(metadata), ensure_ascii=False)

    def form() -> Mapping[str, Any]:
        try:
            file = path.open("rb")
            size = path.stat().st_size
        except OSError as error:
            raise FileUnreadable(path=path, reason=error.strerror or str(error)) from error
        return {"data": fields, "files": {"file": (path.name, _Watched(file, name, size, watch), _OCTETS)}}

    return form
