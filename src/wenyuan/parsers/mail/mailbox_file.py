"""Mailboxes: many messages in one file, each behind a line that begins with `From ` (RFC 4155)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wenyuan.errors import FileOverLimit
from wenyuan.parsers.mail.message import MailReading
from wenyuan.parsers.mail.parser import LARGEST_MESSAGE
from wenyuan.parsers.source_file import byte_pieces
from wenyuan.types import Anchor, Facts, Notice, ReadEvent

MEDIA_TYPE = "application/mbox"
_SEPARATOR = re.compile(rb"From \S.{0,200}\d\d:\d\d|From (?:-|MAILER)")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_LONGEST_SUBJECT = 200
_LONGEST_LINE = 1 << 20


class MailboxParser:
    """Reads a mailbox message by message; only one is held in memory."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield each message under its subject. Raises `FileOverLimit` where one of them is very large."""
        yield Facts(MEDIA_TYPE)
        codes: dict[str, Notice] = {}
        number = attachments = 0
        for number, raw in enumerate(messages(path, name), 1):
            message = MailReading(raw)
            subject = message.envelope.subject[:_LONGEST_SUBJECT]
            for block in message.blocks():
                heading = (subject, *block.heading_path) if subject else block.heading_path
                yield replace(block, anchor=Anchor("message", number, number), heading_path=heading)
            for member in message.members():
                yield replace(member, path=f"{number}/{member.path}")
            attachments += len(message.envelope.attachments)
            for notice in message.notices():
                codes.setdefault(notice.code, Notice(notice.code, f"Message {number}: {notice.message}"))
        yield from codes.values()
        quality = {"messages": number, "attachments": attachments}
        yield Facts(MEDIA_TYPE, quality={key: count for key, count in quality.items() if count or key == "messages"})


def messages(path: Path, name: str) -> Iterator[bytes]:
    """Yield the messages of a mailbox as they were before they were put into it. Raises `FileOverLimit`."""
    lines: list[bytes] = []
    size = 0
    is_after_blank = True
    for line in _lines(path):
        if is_after_blank and line.startswith(b"From ") and _SEPARATOR.match(line):
            if any(not kept.isspace() for kept in lines):
                yield _ESCAPED.sub(rb"\1", b"".join(lines))
            lines, size = [], 0
        else:
            lines.append(line)
            size += len(line)
            if size > LARGEST_MESSAGE:
                raise FileOverLimit(name=name, what=f"a message of more than {LARGEST_MESSAGE // 1_000_000} MB")
        is_after_blank = line in (b"\n", b"\r\n")
    if any(not kept.isspace() for kept in lines):
        yield _ESCAPED.sub(rb"\1", b"".join(lines))


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, with their ends; a line that is very long comes in parts."""
    rest = b""
    for piece in byte_pieces(path):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line + b"\n"
        if len(rest) > _LONGEST_LINE:
            yield rest
            rest = b""
    if rest:
        yield rest
