"""What a document holds, as a door hands it on: its words, and the bytes it was made of."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import FileVanished
from wenyuan.store import chunks, documents
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database
from wenyuan.store.documents import DocumentRecord
from wenyuan.store.replica import ReplicaFirst

_OCTETS = "application/octet-stream"
_AROUND = 60
_WINDOW = 1 << 20
_OVERLAP = 4096


@dataclass(frozen=True, slots=True)
class DocumentText:
    """Part of the text of the revision a document serves: `end` is where it ends, of `length` characters."""

    document_id: str
    revision_id: str
    start: int
    end: int
    length: int
    text: str


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The file that a document's newest revision was made of. `path` is where it lies in the library."""

    path: Path
    name: str
    size: int
    media_type: str
    sha256: str


@dataclass(frozen=True, slots=True)
class FoundText:
    """Where a text stands in a document: offsets in its text, and the number of the passage there, if there is one."""

    start: int
    end: int
    passage: int | None
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class FoundInDocument:
    """Places of a text in the revision a document serves; more may be found from `next_start` on, unless it is null."""

    document_id: str
    revision_id: str
    found: tuple[FoundText, ...]
    next_start: int | None


class DocumentContents:
    def __init__(self, reading: ReplicaFirst, blobs: BlobDirectory, principal: str) -> None:
        self._reading = reading
        self._blobs = blobs
        self._principal = principal

    def text(self, reference: str, start: int, limit: int) -> DocumentText:
        """At most `limit` characters from `start` on; nothing of a document that serves no revision yet.

        Raises `DocumentNotFound`.
        """
        return self._reading.ask(lambda database: self._text(database, reference, start, limit))

    def _text(self, database: Database, reference: str, start: int, limit: int) -> DocumentText:
        with database.read() as tx:
            document = documents.find(tx, self._principal, reference).document
            serving = document.serving_revision_id
            found = documents.revision(tx, serving) if serving is not None else None
            if serving is None or found is None:
                return DocumentText(document.id, "", 0, 0, 0, "")
            text = chunks.revision_text(tx, serving, start, start + limit)
        return DocumentText(document.id, serving, start, start + len(text), found[1].text_length, text)

    def find(self, reference: str, wanted: str, start: int, limit: int) -> FoundInDocument:
        """Where a text stands in a document, in any case and with any white space, at most `limit` places.

        It is looked for from the offset `start` on. Raises `DocumentNotFound`.
        """
        return self._reading.ask(lambda database: self._find(database, reference, wanted, start, limit))

    def _find(self, database: Database, reference: str, wanted: str, start: int, limit: int) -> FoundInDocument:
        pattern = _pattern(wanted)
        with database.read() as tx:
            document = documents.find(tx, self._principal, reference).document
            serving = document.serving_revision_id
            record = documents.revision(tx, serving) if serving is not None else None
            if serving is None or record is None or pattern is None:
                return FoundInDocument(document.id, serving or "", (), None)
            length = record[1].text_length
            spans: list[tuple[int, int, str, str, str]] = []
            at = start
            while at < length and len(spans) < limit:
                text = chunks.revision_text(tx, serving, max(0, at - _AROUND), at + _WINDOW + _OVERLAP)
                at = _look(pattern, text, at, spans, limit)
            bounds = chunks.bounds(tx, serving) if spans else []
        found = tuple(
            FoundText(first, end, _passage_at(bounds, first), before, match, after)
            for first, end, before, match, after in spans
        )
        return FoundInDocument(document.id, serving, found, spans[-1][1] if len(spans) == limit else None)

    def original(self, record: DocumentRecord) -> OriginalFile:
        """Raises `FileVanished` where the library has lost the bytes."""
        latest = record.latest
        path = self._blobs.path(latest.blob_sha256)
        if not path.is_file():
            raise FileVanished(path=path)
        return OriginalFile(path, record.document.name, latest.size, latest.media_type or _OCTETS, latest.blob_sha256)


def _pattern(wanted: str) -> re.Pattern[str] | None:
    """Matches a text, whatever white space its words are apart by; None for one without any."""
    words = [re.escape(word) for word in wanted.split()]
    return re.compile(r"\s{1,9}".join(words), re.IGNORECASE) if words else None


def _look(pattern: re.Pattern[str], text: str, at: int, spans: list[tuple[int, int, str, str, str]], limit: int) -> int:
    """Add what begins within one window of a text, and return where the next window begins.

    `text` begins a little before the offset `at`, and goes on behind the window as long as a match may be.
    """
    offset = at - min(at, _AROUND)
    for match in pattern.finditer(text, at - offset):
        first, end = match.start() + offset, match.end() + offset
        if first >= at + _WINDOW or len(spans) == limit:
            break
        before, after = text[max(0, match.start() - _AROUND) : match.start()], text[match.end() : match.end() + _AROUND]
        spans.append((first, end, before, match[0], after))
    return max(at + _WINDOW, spans[-1][1] if spans else 0)


def _passage_at(bounds: list[tuple[int, int, int]], offset: int) -> int | None:
    """The number of the passage that an offset lies in."""
    place = bisect_right(bounds, offset, key=lambda one: one[0]) - 1
    return bounds[place][2] if place >= 0 and offset < bounds[place][1] else None
