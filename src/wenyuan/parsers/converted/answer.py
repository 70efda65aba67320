"""What a remote reader made of a file, as it lies on disk: one line on where it comes from, then the answer itself.

The line is written here and believed; of the answer nothing is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from wenyuan.errors import FileMalformed, ReaderAnswerInvalid
from wenyuan.parsers.source_file import opened

CONVERTED: Final = "application/vnd.wenyuan.converted."
"""What the media types of such files begin with; no file that somebody adds may claim one."""

_LONGEST_LINE = 1 << 17


@dataclass(frozen=True, slots=True)
class Conversion:
    """The file that was converted, what it is, and the reader that did it, as people call it."""

    path: Path
    media_type: str
    reader: str

    def encoded(self) -> bytes:
        """The line that goes before the answer; the path may have bytes that are no text."""
        return json.dumps([os.fspath(self.path), self.media_type, self.reader]).encode("ascii") + b"\n"

    def invalid(self, name: str, reason: str) -> ReaderAnswerInvalid:
        return ReaderAnswerInvalid(reader=self.reader, name=name, reason=reason)


@contextmanager
def opened_answer(path: Path) -> Iterator[tuple[Conversion, BinaryIO]]:
    """Open what lies at `path`; the file stands where the answer begins."""
    with opened(path) as raw:
        line = bytearray()
        while not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
            byte = raw.read(1)
            if not byte:
                break
            line += byte
        yield _decoded(bytes(line), path), raw


def _decoded(line: bytes, path: Path) -> Conversion:
    try:
        match json.loads(line):
            case [str(original), str(media_type), str(reader)]:
                return Conversion(Path(original), media_type, reader)
    except (ValueError, RecursionError):
        pass
    raise FileMalformed(name=path.name, format="converted file", reason="it does not say what it was made of")


def answered_json(conversion: Conversion, data: bytes, name: str) -> Any:
    """The value that an answer in JSON is. Raises `ReaderAnswerInvalid`."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise conversion.invalid(name, "it is not JSON, or was cut short") from error
