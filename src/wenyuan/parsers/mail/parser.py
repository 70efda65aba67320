"""Messages in the format of the Internet (RFC 5322, MIME), and pages that a browser saved in it (MHTML)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wenyuan.errors import FileOverLimit
from wenyuan.parsers.mail.message import MailReading
from wenyuan.parsers.source_file import opened
from wenyuan.types import Facts, ReadEvent

MEDIA_TYPE = "message/rfc822"
LARGEST_MESSAGE = 200_000_000
"""Bytes; a message is held in memory as a whole, and its parts beside it."""


class MailParser:
    """Reads a message: its envelope, its text, and its attachments as members."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield the message. Raises `FileOverLimit` for one that is very large."""
        with opened(path) as file:
            raw = file.read(LARGEST_MESSAGE + 1)
        if len(raw) > LARGEST_MESSAGE:
            raise FileOverLimit(name=name, what=f"a message of more than {LARGEST_MESSAGE // 1_000_000} MB")
        message = MailReading(raw)
        del raw
        metadata = message.envelope.metadata()
        yield Facts(MEDIA_TYPE, title=message.envelope.subject, metadata=metadata, quality=message.quality)
        yield from message.notices()
        yield from message.blocks()
        yield from message.members()
