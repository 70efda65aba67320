"""The headers of a message as a person reads them: RFC 5322, with RFC 2047 and 2231 for what is beyond ASCII.

Senders break all of these rules; whatever can be understood all the same is.
"""

from __future__ import annotations

import binascii
import re
from email.errors import MessageError
from email.message import Message
from email.parser import HeaderParser
from email.policy import compat32
from email.utils import getaddresses, parsedate_to_datetime

from wenyuan.parsers.text.decoding import decoded_bytes

_ENCODED_WORD = re.compile(r"=\?([\w.:+-]+)(?:\*[\w-]*)?\?([bBqQ])\?([^?\s]*(?: [^?\s]*)*)\?=")
_HEAD_END = re.compile(rb"\r?\n[ \t]*\r?\n|\r\r")
_LONGEST_HEAD = 1 << 20
_LONGEST_VALUE = 10_000
_MOST_ADDRESSES = 200
_MOST_COMMENTS = 50
_HEADER = re.compile(rb"[!-9;-~]+[ \t]*:")
_EIGHT_BITS = 0xFF


def split_head(raw: bytes) -> tuple[bytes, bytes]:
    """The headers of a message or of one of its parts, and what comes after the blank line behind them."""
    if raw.startswith((b"\n", b"\r\n")):
        return b"", raw.lstrip(b"\r\n")
    if not _HEADER.match(raw):
        return b"", raw
    found = _HEAD_END.search(raw, 0, _LONGEST_HEAD)
    if found is None:
        return raw[:_LONGEST_HEAD], b""
    return raw[: found.start()], raw[found.end() :]


def parsed_headers(head: bytes) -> Message:
    """The headers by their names. Bytes beyond ASCII, which the standard forbids, are decoded by evidence."""
    text, _ = decoded_bytes(head.replace(b"\r\n", b"\n"))
    try:
        return HeaderParser(policy=compat32).parsestr(text + "\n\n")
    except (MessageError, ValueError):
        return Message(policy=compat32)


def header(message: Message, name: str) -> str:
    """The words of a header, in one line; "" if there is none."""
    value = message.get(name)
    return decoded_words(str(value)) if value is not None else ""


def decoded_words(value: str) -> str:
    """A header's value with its encoded words decoded (RFC 2047).

    Neighbouring words in one encoding are decoded together: mailers cut characters in two between them.
    """
    value = " ".join(value[:_LONGEST_VALUE].split())
    if "=?" not in value:
        return value
    parts: list[str] = []
    pending, codec, end = b"", "", 0
    for found in _ENCODED_WORD.finditer(value):
        between = value[end : found.start()]
        data = _word_bytes(found[2], found[3])
        if pending and (between.strip() or found[1].lower() != codec):
            parts.append(decoded_bytes(pending, codec)[0])
            pending = b""
        if between.strip() or not end:
            parts.append(between)
        pending, codec, end = pending + data, found[1].lower(), found.end()
    parts.append(decoded_bytes(pending, codec)[0])
    parts.append(value[end:])
    return " ".join("".join(parts).split())


def addresses(message: Message, name: str) -> str:
    """Everyone whom a header names, as `Name <address>`, parted by commas."""
    # Split before words are decoded: a name may hold a comma.
    raw = [" ".join(str(value).split())[:_LONGEST_VALUE] for value in message.get_all(name, [])]
    if not raw:
        return ""
    if any(value.count("(") > _MOST_COMMENTS for value in raw):
        # The standard library goes down a level for each.
        raw = [value.replace("(", " ").replace(")", " ") for value in raw]
    shown: list[str] = []
    for display, address in getaddresses(raw)[:_MOST_ADDRESSES]:
        words = decoded_words(display).strip("'\" ")
        shown.append(f"{words} <{address}>" if words and address and words != address else words or address)
    found = ", ".join(filter(None, shown))
    return found or decoded_words(", ".join(raw))


def date(message: Message) -> str:
    """When a message was written, in ISO 8601 with its time zone; "" if it does not say so in any known way."""
    for name in ("Date", "Resent-Date"):
        value = message.get(name)
        if value is None:
            continue
        try:
            found = parsedate_to_datetime(str(value))
            return found.isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return ""


def parameter(message: Message, header_name: str, name: str) -> str:
    """A parameter such as `filename`, in any of the ways in which it is written (RFC 2231, RFC 2047, neither)."""
    if len(str(message.get(header_name, ""))) > _LONGEST_VALUE:
        return ""
    try:
        value = message.get_param(name, header=header_name)
    except (MessageError, ValueError, TypeError, IndexError):
        return ""
    if isinstance(value, tuple):
        charset, _, text = value
        data = text.encode("latin-1") if all(ord(character) <= _EIGHT_BITS for character in text) else text.encode()
        return decoded_bytes(data, charset or "")[0]
    return decoded_words(str(value)) if value else ""


def _word_bytes(encoding: str, text: str) -> bytes:
    if encoding in "qQ":
        return binascii.a2b_qp(text.encode("utf-8"), header=True)
    return base64_bytes(text.encode("ascii", "ignore"))


def base64_bytes(data: bytes) -> bytes:
    """What is encoded in base64, as far as it goes: line breaks, stray characters and a missing end are no matter."""
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        kept = re.sub(rb"[^A-Za-z0-9+/]", b"", data)
        return binascii.a2b_base64(kept[: len(kept) - (len(kept) % 4 == 1)] + b"===")
