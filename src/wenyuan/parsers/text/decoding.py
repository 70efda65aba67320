"""From bytes to text: which encoding a file has, and its text piece by piece.

A byte order mark decides; then UTF-8, if the whole file is valid; then what whoever delivered the
document said of it; then what it declares itself; then the candidate that decodes the whole file and
reads most like text; and where none does, UTF-8 with damage. Each passes over the file in pieces of a
quarter of a megabyte: a file of any size needs the same memory.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import EncodingUnknown
from wenyuan.parsers.source_file import byte_pieces, head
from wenyuan.parsers.text.encoding_evidence import CANDIDATES, Evidence
from wenyuan.types import Notice

REPLACEMENT = "\ufffd"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Web pages that declare a small set routinely use the larger one around it (WHATWG Encoding Standard).
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
}
# Where every byte is valid these prove nothing, or their decoders are not for untrusted input.
_NOT_FOR_DOCUMENTS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7"})
_LONGEST_SEQUENCE = 4
_SLICE_BYTES = 2048
_LEAST_SCORE = 0.15
_CLEAR_MARGIN = 0.1
_BYTES_PER_STRAY_ONE = 32
# Tab and newline are layout, so are form feed and vertical tab; the rest of C0 is not text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile(f"[^\x00-\x7f{REPLACEMENT}]")
_WITHOUT_CONTROLS = dict.fromkeys([*range(0x09), *range(0x0E, 0x20), 0x7F]) | {0x0B: " ", 0x0C: " "}


delivered_as: ContextVar[str] = ContextVar("delivered_as", default="")
"""The encoding that a file's delivery named, as in the Content-Type of a page, while that file is read."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How to decode one file: a codec as Python names it, and the length of the mark to skip."""

    codec: str
    skip: int = 0
    notices: tuple[Notice, ...] = ()


class TolerantDecoder:
    """Decodes a stream of bytes; what does not decode becomes one U+FFFD and is counted."""

    def __init__(self, codec: str, offset: int = 0) -> None:
        self._codec = codec
        self._pending = b""
        self._offset = offset
        self.faults = 0
        self.first_fault = -1
        self.cut_at = -1
        """Offset of an incomplete character at the very end, or -1."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """Return the text of `data` after what came before; `final` says that nothing follows."""
        try:
            whole = self._pending + data
            text = whole.decode(self._codec)
        except UnicodeDecodeError:
            # In small slices, or every fault would cost decoding all of the rest again.
            starts = range(0, max(len(data), 1), _SLICE_BYTES)
            slices = (data[start : start + _SLICE_BYTES] for start in starts)
            return "".join(
                self._decode_slice(part, final and start == starts[-1])
                for start, part in zip(starts, slices, strict=True)
            )
        self._pending = b""
        self._offset += len(whole)
        return text

    def _decode_slice(self, data: bytes, final: bool) -> str:
        data, self._pending = self._pending + data, b""
        texts: list[str] = []
        start = 0
        while start < len(data):
            try:
                texts.append(data[start:].decode(self._codec))
                start = len(data)
            except UnicodeDecodeError as error:
                bad = start + error.start
                texts.append(data[start:bad].decode(self._codec))
                if len(data) - bad < _LONGEST_SEQUENCE and not final:
                    self._pending = data[bad:]
                    self._offset += bad
                    return "".join(texts)
                texts.append(REPLACEMENT)
                start += error.end
                self._note(self._offset + bad, at_end=start == len(data))
        self._offset += len(data)
        return "".join(texts)

    def _note(self, offset: int, at_end: bool) -> None:
        self.faults += 1
        if self.first_fault < 0:
            self.first_fault = offset
        if at_end:
            self.cut_at = offset


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which no encoding can write; pairs of them become one character."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def recognise_encoding(path: Path, name: str, declared: str = "") -> Encoding:
    """Return how to decode the file at `path`, with notices about what does not decode.

    `declared` is the encoding the document claims to have. Raises `EncodingUnknown` where nothing
    decodes to text.
    """
    start = head(path, 4)
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return _encoding(_tried(path, codec, len(mark)), len(mark))
    utf8 = _tried(path, "utf-8")
    if utf8.decodes and not utf8.is_full_of_zeros:
        return _encoding(utf8)
    for codec in filter(None, map(_known_codec, (delivered_as.get(), declared))):
        trial = _tried(path, codec)
        if trial.decodes:
            return _encoding(trial)
    return _best_candidate(path, name)


def decoded_pieces(path: Path, encoding: Encoding) -> Iterator[str]:
    """Yield the text of a file, with `\\n` for every newline and without control characters."""
    decoder = TolerantDecoder(encoding.codec, encoding.skip)
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    for piece in byte_pieces(path, encoding.skip):
        text = newlines.decode(decoder.decode(piece))
        if text:
            yield without_controls(text)
    text = newlines.decode(decoder.decode(b"", final=True), final=True)
    if text:
        yield without_controls(text)


def decoded_bytes(content: bytes, declared: str = "") -> tuple[str, str]:
    """The text of what is in memory already, such as a part of a message, and the codec that it was read in.

    Chosen as for files, but never refused: where nothing decodes, what is wrong becomes U+FFFD.
    """
    for mark, codec in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(codec, "replace"), codec
    codec = _known_codec(declared) if declared else ""
    candidates = ["utf-8", codec]
    if content.isascii():
        # What looks like ASCII may be one of the encodings that shift between sets with escapes.
        candidates = [codec if codec.startswith(("iso2022", "hz")) else "utf-8"]
    elif not codec:
        candidates += [trial.codec for trial in _ranked(content)]
    for candidate in candidates:
        if candidate:
            try:
                return content.decode(candidate), candidate
            except UnicodeDecodeError:
                continue
    codec = codec or "utf-8"
    return content.decode(codec, "replace"), codec


def _ranked(content: bytes) -> list[_Trial]:
    """The encodings that could be that of `content`, the most likely first."""
    trials = [_Trial(codec) for codec in CANDIDATES if not codec.startswith("utf-16")]
    for trial in trials:
        trial.evidence.add(trial.take(content, final=True))
    return sorted((trial for trial in trials if trial.decodes and trial.score > 0), key=lambda trial: -trial.score)


def without_controls(text: str) -> str:
    """Drop the control characters that are not layout; page and vertical breaks become layout."""
    return text.translate(_WITHOUT_CONTROLS) if _CONTROLS.search(text) else text


class _Trial:
    """One encoding tried on one file."""

    def __init__(self, codec: str, offset: int = 0) -> None:
        self.codec = codec
        self.decoder = TolerantDecoder(codec, offset)
        self.evidence = Evidence(codec)
        self._bytes_saved = 0
        self._bytes = 0
        self._zeros = 0

    def take(self, data: bytes, final: bool = False) -> str:
        text = self.decoder.decode(data, final)
        self._bytes += len(data)
        self._zeros += data.count(0)
        self._bytes_saved += len(data) - len(text)
        return text

    @property
    def _bad_bytes(self) -> int:
        return self.decoder.faults - (self.decoder.cut_at >= 0)

    @property
    def decodes(self) -> bool:
        """Whether the text is right but for a few bytes: ten good characters vouch for a bad one."""
        return self.decoder.faults == 0 or self._bytes_saved > 10 * self._bad_bytes

    @property
    def is_nearly_right(self) -> bool:
        """Whether wrong bytes are so rare that they are slips in an otherwise right text."""
        return self.decoder.faults * _BYTES_PER_STRAY_ONE <= self._bytes and not self.is_full_of_zeros

    @property
    def is_full_of_zeros(self) -> bool:
        """Whether zero bytes are so many that the text must be UTF-16, if it is text at all."""
        return self._zeros * 8 > self._bytes or (self._zeros > 16 and self._zeros * 50 > self._bytes)

    @property
    def is_hopeless(self) -> bool:
        return self._bad_bytes > 50 and not self.decodes

    @property
    def is_noise(self) -> bool:
        """Whether enough was read to know that it is no text in this encoding."""
        return self.evidence.is_enough and self.score < _LEAST_SCORE

    @property
    def score(self) -> float:
        return self.evidence.score(self._bad_bytes)


def _tried(path: Path, codec: str, skip: int = 0) -> _Trial:
    trial = _Trial(codec, skip)
    for piece in byte_pieces(path, skip):
        trial.take(piece)
        if trial.is_hopeless:
            return trial
    trial.take(b"", final=True)
    return trial


def _best_candidate(path: Path, name: str) -> Encoding:
    trials = [_Trial(codec) for codec in CANDIDATES]
    for piece in byte_pieces(path):
        for trial in trials:
            trial.evidence.add(trial.take(piece))
        trials = [trial for trial in trials if not trial.is_hopeless and not trial.is_noise]
    for trial in trials:
        trial.evidence.add(trial.take(b"", final=True))
    ranking = sorted((trial for trial in trials if trial.decodes), key=lambda trial: -trial.score)
    if not ranking or ranking[0].score < _LEAST_SCORE:
        damaged = _damaged_utf8(path)
        if damaged is None:
            raise EncodingUnknown(name=name)
        return _encoding(damaged)
    best, others = ranking[0], ranking[1:]
    doubtful = any(best.score - other.score < _CLEAR_MARGIN for other in others)
    return _encoding(best, doubtful=doubtful)


def _damaged_utf8(path: Path) -> _Trial | None:
    """UTF-8 tried on a file whose wrong bytes are rare, and no more than its right characters beyond ASCII; or None.

    In an English text a handful of quotation marks is all that tells UTF-8 from other encodings. It is
    enough: their bytes hardly ever make a valid character of several bytes.
    """
    trial = _Trial("utf-8")
    right = 0
    for piece in byte_pieces(path):
        right += len(_BEYOND_ASCII.findall(trial.take(piece)))
        if not trial.is_nearly_right:
            return None
    right += len(_BEYOND_ASCII.findall(trial.take(b"", final=True)))
    return trial if trial.is_nearly_right and right >= trial.decoder.faults else None


def _encoding(trial: _Trial, skip: int = 0, doubtful: bool = False) -> Encoding:
    decoder, codec = trial.decoder, trial.codec
    notices: list[Notice] = []
    bad = decoder.faults - (decoder.cut_at >= 0)
    if bad:
        what = f"{bad} bytes are" if bad > 1 else "one byte is"
        message = f"{what} not valid {codec}, the first at byte offset {decoder.first_fault}; each is shown as U+FFFD"
        notices.append(Notice("undecodable-bytes", message[0].upper() + message[1:] + "."))
    if decoder.cut_at >= 0:
        message = f"The file ends inside a character, at byte offset {decoder.cut_at}: it may have been cut short."
        notices.append(Notice("cut-inside-character", message))
    if doubtful:
        notices.append(Notice("encoding-doubtful", f"The text was read as {codec}, but the evidence is weak."))
    return Encoding(codec, skip, tuple(notices))


def _known_codec(declared: str) -> str:
    """Return Python's name for a declared encoding, or "" if there is none that makes text of bytes."""
    try:
        info = codecs.lookup(declared.strip())
    except (LookupError, ValueError):
        return ""
    if not info._is_text_encoding or info.name in _NOT_FOR_DOCUMENTS:
        return ""
    return _SUPERSETS.get(info.name, info.name)
