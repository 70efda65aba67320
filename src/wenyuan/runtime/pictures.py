"""Pages as pictures: made in a child process, and kept for a little while."""

from __future__ import annotations

import base64
import binascii
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from wenyuan.errors import FileVanished, ParserOutputTooLarge
from wenyuan.parsers.rendering import LARGEST_PICTURE, STAGE
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.parsers.wire import Request, WireError
from wenyuan.runtime.file_readers import IDLE
from wenyuan.store.blobs import BlobDirectory
from wenyuan.types import Box

_KEPT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Shown:
    """A page of a stored file, from 1, with the boxes that are lit on it; `scale` is in pixels for each point."""

    sha256: str
    name: str
    media_type: str
    page: int
    boxes: tuple[Box, ...]
    scale: float


class Pictures:
    def __init__(self, blobs: BlobDirectory, limits: ReadLimits) -> None:
        self._blobs = blobs
        self._limits = limits
        self._kept: OrderedDict[tuple[Shown, str], bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()

    def png(self, shown: Shown, password: str) -> bytes:
        """The page as PNG; the same page again comes from memory. Raises `DocumentError` for the file."""
        key = (shown, password)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        png = self._made(shown, password)
        with self._lock:
            self._keep(key, png)
        return png

    def _made(self, shown: Shown, password: str) -> bytes:
        file = self._blobs.path(shown.sha256).absolute()
        if not file.is_file():
            raise FileVanished(path=file)
        boxes = [list(box) for box in shown.boxes]
        arguments = [str(file), shown.name, shown.media_type, shown.page, boxes, shown.scale, password]
        request = Request(str(file), shown.name, shown.media_type, STAGE, arguments)
        pieces, size = [], 0
        with SandboxedReader(self._limits, idle=IDLE) as reader:
            for piece in reader.make(request, _decoded):
                size += len(piece)
                if size > LARGEST_PICTURE:
                    raise ParserOutputTooLarge(name=shown.name, limit=f"{LARGEST_PICTURE // 1_000_000} MB")
                pieces.append(piece)
        return b"".join(pieces)

    def _keep(self, key: tuple[Shown, str], png: bytes) -> None:
        if key in self._kept or len(png) > _KEPT_BYTES // 2:
            return
        self._kept[key] = png
        self._kept_bytes += len(png)
        while self._kept_bytes > _KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest)


def _decoded(value: Any) -> bytes:
    if not isinstance(value, str):
        raise WireError("a picture that is no text")
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise WireError(str(error)) from error
