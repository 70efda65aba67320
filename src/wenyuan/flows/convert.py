"""A file is read by way of a remote reader: the service converts it, and its answer is read here, in the sandbox.

The answer is trusted no more than a file is. It lies among the files that are being taken in while it
is read, so that whatever a crash leaves of it is removed like theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from wenyuan.errors import ConfigurationError, DocumentError, ProviderError, UnsupportedType, WenyuanError
from wenyuan.flows.detecting import detected_aside
from wenyuan.flows.work import Work
from wenyuan.parsers.converted.answer import CONVERTED, Conversion
from wenyuan.parsers.detection import Detected
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.ports import Converter
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database
from wenyuan.types import Notice

Piece = TypeVar("Piece")

FELL_BACK = "remote-reader-failed"
"""Code of the notice that a file was read here because its remote reader failed."""

_HOLD_SECONDS = 2.0
# Whoever converts keeps to a limit of its own.
_ANY_SIZE = 1 << 62


@dataclass(frozen=True, slots=True)
class ToConvert:
    """A file, what it is called, its type where that was given, and what it was found to be."""

    path: Path
    name: str
    media_type: str
    detected: Detected


@dataclass(frozen=True, slots=True)
class Watch:
    """What is done meanwhile: while the service is waited for, and before the first piece of its answer.

    `notices` are for people and there before the first piece is: whoever reads the pieces hands them on.
    """

    on_wait: Callable[[], None]
    on_answer: Callable[[], None]
    notices: list[Notice] = field(default_factory=list)


def refuse_claimed_answer(name: str, media_type: str) -> None:
    """Raise `UnsupportedType` where a file that was added claims to be an answer: one says where its original lies."""
    if media_type.strip().lower().startswith(CONVERTED):
        raise UnsupportedType(name=name, media_type=media_type)


def to_convert(reader: SandboxedReader, path: Path, name: str, media_type: str) -> ToConvert:
    """The file with its type, given or found. Raises what `detected_aside` does."""
    known = media_type.partition(";")[0].strip().lower()
    found = Detected(known, known) if known else detected_aside(reader, path, name)
    return ToConvert(path, name, media_type, found)


def read_converted(
    file: ToConvert,
    converter: Converter,
    blobs: BlobDirectory,
    make: Callable[[Path, str], Iterator[Piece]],
    watch: Watch,
) -> Iterator[Piece]:
    """Yield what `make` makes of the answer, given its path and type.

    Where the converter falls back and fails before there is a first piece, yield what `make` makes of the
    file itself. Raises what `Converter.convert`, `make` and the watch raise.
    """
    has_begun = False
    try:
        for piece in _made_of_answer(file, converter, blobs, make, watch.on_wait):
            if not has_begun:
                watch.on_answer()
                watch.notices.extend(file.detected.notices)
            has_begun = True
            yield piece
    except (DocumentError, ProviderError, ConfigurationError) as error:
        if has_begun or not converter.falls_back:
            raise
        watch.notices.append(_fell_back(converter, error))
    else:
        return
    yield from make(file.path, file.media_type)


class Patience:
    """To be called while a service is waited for: keeps the job, and lets go of it when that is asked for."""

    def __init__(self, database: Database, work: Work) -> None:
        self._database = database
        self._work = work
        self._held = time.monotonic()

    def __call__(self) -> None:
        """Raises `LeaseLost`, `JobCancelled` or `WorkerStopping`."""
        self._work.pause_if_asked()
        if time.monotonic() - self._held >= _HOLD_SECONDS:
            with self._database.write(durable=False) as tx:
                self._work.hold(tx)
            self._held = time.monotonic()


def _made_of_answer(
    file: ToConvert,
    converter: Converter,
    blobs: BlobDirectory,
    make: Callable[[Path, str], Iterator[Piece]],
    on_wait: Callable[[], None],
) -> Iterator[Piece]:
    media_type = file.detected.media_type
    answer = blobs.writer(file.name, _ANY_SIZE)
    try:
        answer.write(Conversion(file.path, media_type, converter.label).encoded())
        answered_as = converter.convert(file.path, file.name, media_type, answer.write, on_wait)
        yield from make(answer.finish().path, answered_as)
    finally:
        answer.discard()


def _fell_back(converter: Converter, error: WenyuanError) -> Notice:
    return Notice(FELL_BACK, f"Read here, not by the remote reader {converter.label}: {error.message}")
