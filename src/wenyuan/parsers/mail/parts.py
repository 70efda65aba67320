"""The parts of a message as a tree (RFC 2045, RFC 2046), made without recursion and within bounds.

The standard library's parser goes down one level of the interpreter's stack, and more, for every
message within a message. A message made of thousands of them is not rare: a loop of bounces is one.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message

from wenyuan.parsers.mail.headers import base64_bytes, parameter, parsed_headers, split_head

DEEPEST_MESSAGE = 10
"""Messages within messages are read to this depth."""

_DEEPEST_PART = 60
_MOST_PARTS = 10_000
_MULTIPART = "multipart/"
_MESSAGES = ("message/rfc822", "message/global")


@dataclass(slots=True)
class MailPart:
    """A message or a part of one."""

    headers: Message
    body: bytes
    depth: int = 0
    messages_around: int = 0
    """How many messages this part is in, beyond the outermost."""
    children: list[MailPart] = field(default_factory=list)
    is_cut: bool = False
    """Whether what is in it was not looked at, because it is too deep or too much."""

    @property
    def content_type(self) -> str:
        return self.headers.get_content_type()

    @property
    def is_message(self) -> bool:
        return self.content_type in _MESSAGES

    @property
    def file_name(self) -> str:
        return parameter(self.headers, "Content-Disposition", "filename") or parameter(
            self.headers, "Content-Type", "name"
        )

    @property
    def disposition(self) -> str:
        return str(self.headers.get("Content-Disposition", "")).partition(";")[0].strip().lower()

    def content(self) -> bytes:
        """What the part holds, without the encoding in which it travelled."""
        encoding = str(self.headers.get("Content-Transfer-Encoding", "")).strip().lower()
        if encoding == "base64":
            return base64_bytes(self.body)
        if encoding == "quoted-printable":
            return binascii.a2b_qp(self.body)
        return self.body


def mail_tree(raw: bytes) -> MailPart:
    """The parts of a whole message, as far down as is read."""
    head, body = split_head(raw)
    root = MailPart(parsed_headers(head), body)
    waiting, count = [root], 1
    while waiting:
        part = waiting.pop()
        is_multipart = part.content_type.startswith(_MULTIPART)
        if not is_multipart and not part.is_message:
            continue
        too_deep = part.depth >= _DEEPEST_PART or (part.is_message and part.messages_around >= DEEPEST_MESSAGE)
        if too_deep or count > _MOST_PARTS:
            part.is_cut = True
            continue
        for content in _pieces(part) if is_multipart else [part.content()]:
            head, body = split_head(content)
            inside = part.messages_around + part.is_message
            child = MailPart(parsed_headers(head), body, part.depth + 1, inside)
            if part.content_type == "multipart/digest" and "Content-Type" not in child.headers:
                child.headers["Content-Type"] = _MESSAGES[0]
            part.children.append(child)
            count += 1
            if count > _MOST_PARTS:
                break
        if part.children:
            part.body = b""
        elif is_multipart:
            # Nothing parts it: it is a text, whatever it was meant to be.
            del part.headers["Content-Type"]
        waiting.extend(part.children)
    return root


def _pieces(part: MailPart) -> Iterator[bytes]:
    """What stands between the boundaries; nothing if there are none. A missing last one is no matter."""
    boundary = parameter(part.headers, "Content-Type", "boundary").encode("utf-8").rstrip()
    if not boundary:
        return
    pattern = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
    start = -1
    for found in pattern.finditer(part.body):
        if start >= 0:
            yield _without_last_break(part.body[start : found.start()])
        start = found.end()
        if found[1]:
            return
    if 0 <= start < len(part.body):
        yield part.body[start:]


def _without_last_break(content: bytes) -> bytes:
    """The line break before a boundary belongs to the boundary."""
    return content.removesuffix(b"\n").removesuffix(b"\r")
