"""What Outlook stores of a message: properties in the streams of a compound file ([MS-OXMSG])."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import datetime, timedelta

from wenyuan.parsers.office.ole_storage import OleStorage
from wenyuan.parsers.office.summary_information import codec_of

SUBJECT, BODY, HTML, COMPRESSED_RTF = 0x0037, 0x1000, 0x1013, 0x1009
SENDER_NAME, SENDER_ADDRESS, SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
DISPLAY_TO, DISPLAY_CC, TRANSPORT_HEADERS = 0x0E04, 0x0E03, 0x007D
SUBMIT_TIME, DELIVERY_TIME, INTERNET_CODE_PAGE, CODE_PAGE = 0x0039, 0x0E06, 0x3FDE, 0x3FFD
DISPLAY_NAME, ADDRESS, SMTP_ADDRESS, RECIPIENT_TYPE = 0x3001, 0x3003, 0x39FE, 0x0C15
ATTACHMENT_NAME, ATTACHMENT_SHORT_NAME, ATTACHMENT_TYPE, ATTACHMENT_DATA = 0x3707, 0x3704, 0x370E, 0x3701

_PROPERTIES = "__properties_version1.0"
_ATTACHMENT = "__attach_version1.0_#"
_RECIPIENT = "__recip_version1.0_#"
_TEXT, _BYTES_TEXT, _BINARY, _STORAGE = "001F", "001E", "0102", "000D"
_ENTRY = struct.Struct("<II8s")
_LARGEST_RTF = 50_000_000
_COMPRESSED, _UNCOMPRESSED = b"LZFu", b"MELA"
_EPOCH = datetime(1601, 1, 1)
# What both sides have in their dictionary before the first byte ([MS-OXRTFCP] 2.1.2.1).
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_DICTIONARY_BYTES = 4096


class PropertyStore:
    """The properties of a message, of one of its attachments or recipients; `prefix` is the path of its storage."""

    def __init__(self, storage: OleStorage, prefix: str = "") -> None:
        self._storage = storage
        self.prefix = prefix
        self._fixed: dict[int, bytes] = {}
        head = 8 if _ATTACHMENT in prefix.rpartition("/")[0].rpartition("/")[2] or _RECIPIENT in prefix else 24
        head = head if prefix else 32
        if prefix + _PROPERTIES in storage:
            content = storage.read(prefix + _PROPERTIES)[head:]
            whole = len(content) - len(content) % _ENTRY.size
            self._fixed = {tag >> 16: value for tag, _, value in _ENTRY.iter_unpack(content[:whole])}
        number = self.number(INTERNET_CODE_PAGE) or self.number(CODE_PAGE)
        self.codec = codec_of(number or None)

    def text(self, *numbers: int) -> str:
        """The first of these properties that says something."""
        for number in numbers:
            for kind in (_TEXT, _BYTES_TEXT):
                stream = self._stream(number, kind)
                if stream in self._storage:
                    content = self._storage.read(stream)
                    codec = "utf-16-le" if kind == _TEXT else self.codec
                    text = content.decode(codec, "replace").rstrip("\0")
                    if text:
                        return text
        return ""

    def binary(self, number: int) -> bytes:
        stream = self._stream(number, _BINARY)
        return self._storage.read(stream) if stream in self._storage else b""

    def number(self, number: int) -> int:
        return int.from_bytes(self._fixed.get(number, b"")[:4], "little")

    def time(self, *numbers: int) -> str:
        """The first of these moments, in ISO 8601 in UTC."""
        for number in numbers:
            ticks = int.from_bytes(self._fixed.get(number, b""), "little")
            if 0 < ticks < 1 << 62:
                try:
                    return (_EPOCH + timedelta(microseconds=ticks // 10)).replace(microsecond=0).isoformat() + "+00:00"
                except OverflowError:
                    continue
        return ""

    def rtf(self) -> bytes:
        """The text with its formats, decompressed; empty if there is none."""
        return decompressed_rtf(self.binary(COMPRESSED_RTF))

    def attachments(self) -> Iterator[PropertyStore]:
        return self._parts(_ATTACHMENT)

    def recipients(self) -> Iterator[PropertyStore]:
        return self._parts(_RECIPIENT)

    def embedded(self) -> PropertyStore | None:
        """The message that an attachment is, if it is one."""
        prefix = f"{self._stream(ATTACHMENT_DATA, _STORAGE)}/"
        return PropertyStore(self._storage, prefix) if prefix + _PROPERTIES in self._storage else None

    def _stream(self, number: int, kind: str) -> str:
        return f"{self.prefix}__substg1.0_{number:04X}{kind}"

    def _parts(self, start: str) -> Iterator[PropertyStore]:
        depth = self.prefix.count("/")
        found = {
            stream.split("/")[depth]
            for stream in self._storage.streams
            if stream.startswith(self.prefix + start) and stream.count("/") > depth
        }
        for part in sorted(found):
            yield PropertyStore(self._storage, f"{self.prefix}{part}/")


def decompressed_rtf(data: bytes) -> bytes:
    """RTF as Outlook compresses it ([MS-OXRTFCP]): literal bytes, and references into the last 4,096."""
    kind, size = data[8:12], min(int.from_bytes(data[4:8], "little"), _LARGEST_RTF)
    if kind == _UNCOMPRESSED:
        return data[16 : 16 + size]
    if kind != _COMPRESSED:
        return b""
    window = bytearray(_DICTIONARY.ljust(_DICTIONARY_BYTES, b"\0"))
    write, at, output = len(_DICTIONARY), 16, bytearray()
    while at < len(data) and len(output) < size:
        control = data[at]
        at += 1
        for bit in range(8):
            if not control >> bit & 1:
                run = data[at : at + 1]
                at += 1
            else:
                reference = int.from_bytes(data[at : at + 2], "big")
                at += 2
                offset = reference >> 4
                if offset == write or at > len(data):
                    return bytes(output)
                run = b""
                for step in range((reference & 15) + 2):
                    byte = window[(offset + step) % _DICTIONARY_BYTES]
                    window[(write + step) % _DICTIONARY_BYTES] = byte
                    output.append(byte)
                write = (write + (reference & 15) + 2) % _DICTIONARY_BYTES
            for byte in run:
                window[write] = byte
                write = (write + 1) % _DICTIONARY_BYTES
                output.append(byte)
    return bytes(output[:size])
