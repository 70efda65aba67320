"""One message as events: who wrote what to whom, the text, the messages in it, and its attachments."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wenyuan.parsers.mail.headers import addresses, date, header, parsed_headers
from wenyuan.parsers.mail.parts import MailPart, mail_tree
from wenyuan.parsers.mail.text import Numbered, has_damage, html_text_blocks, is_stub, part_text, plain_blocks
from wenyuan.parsers.members import in_pieces
from wenyuan.types import Anchor, Block, Member, Notice

_TEXTS = ("text/plain", "text/html")
_READ_AS_TEXT = ("message/delivery-status", "text/rfc822-headers", "text/enriched")
_SMALL_PICTURE = 10_000
"""Pictures within a text that are smaller are signs and signatures, of which nobody wants a document."""
_TNEF = ("application/ms-tnef", "application/vnd.ms-tnef")
_EXTENSIONS = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/calendar": ".ics",
    "application/pdf": ".pdf",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "message/rfc822": ".eml",
}
_MOST_NAMES = 50


class Text(NamedTuple):
    """A text to be shown."""

    text: str
    is_html: bool


@dataclass(slots=True)
class Envelope:
    """What stands above a message."""

    subject: str = ""
    sender: str = ""
    to: str = ""
    cc: str = ""
    date: str = ""
    attachments: list[str] = field(default_factory=list)

    def metadata(self) -> dict[str, Any]:
        """The envelope as `Facts.metadata` has it."""
        found = {"from": self.sender, "to": self.to, "cc": self.cc, "date": self.date, "subject": self.subject}
        return {key: value for key, value in found.items() if value}

    def block(self) -> Block:
        """The envelope as a text that is found by any of its words."""
        names = ", ".join(self.attachments[:_MOST_NAMES])
        lines = {
            "From": self.sender,
            "To": self.to,
            "Cc": self.cc,
            "Subject": self.subject,
            "Date": self.date.replace("T", " "),
            "Attachments": names,
        }
        text = "\n".join(f"{key}: {value}" for key, value in lines.items() if value)
        return Block("paragraph", text, Anchor("paragraph", 1, 1))


def envelope(part: MailPart) -> Envelope:
    """Who sent a message to whom, when and about what."""
    headers = part.headers
    return Envelope(
        subject=header(headers, "Subject"),
        sender=addresses(headers, "From") or addresses(headers, "Sender"),
        to=addresses(headers, "To"),
        cc=addresses(headers, "Cc"),
        date=date(headers),
    )


def too_deep_notice(count: int) -> Notice:
    """Say that so many messages within messages were not read."""
    what = f"{count} messages within messages lie" if count > 1 else "A message within messages lies"
    return Notice("nested-too-deep", f"{what} too deep to be read.")


def transcoded(raw: bytes) -> tuple[bytes, bool]:
    """A message that is UTF-16 as a whole in UTF-8, and whether it was."""
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if raw.startswith(mark):
            return raw[2:].decode(codec, "replace").encode(), True
    start = raw[:200]
    if len(start) > 3 and start.count(0) > len(start) // 3:
        return raw.decode("utf-16-be" if start[0] == 0 else "utf-16-le", "replace").encode(), True
    return raw.removeprefix(b"\xef\xbb\xbf"), False


class MailReading:
    """The events of one message, in the order in which a person reads it; attachments come last."""

    def __init__(self, raw: bytes) -> None:
        raw, self._is_transcoded = transcoded(raw)
        raw = raw.lstrip(b"\r\n")
        if raw.startswith((b"From ", b">From ")):
            # Taken out of a mailbox with the line that parts it from others.
            raw = raw.partition(b"\n")[2]
        self._root = mail_tree(raw)
        self._attached: list[MailPart] = []
        self._texts: list[tuple[MailPart, tuple[str, ...], Text]] = []
        self._damaged = False
        self._cut = 0
        self._small_pictures = 0
        self._page = ""
        self._gather()
        self.envelope = envelope(self._root)
        self.envelope.attachments = [_name(part, index) for index, part in enumerate(self._attached, 1)]

    @property
    def is_saved_page(self) -> bool:
        """Whether this is no message but a page that a browser saved as one (RFC 2557)."""
        headers = self._root.headers
        return "Snapshot-Content-Location" in headers or (
            self._root.content_type == "multipart/related" and "To" not in headers and "Received" not in headers
        )

    @property
    def quality(self) -> dict[str, Any]:
        counts = {"attachments": len(self._attached), "small_pictures": self._small_pictures}
        return {key: value for key, value in counts.items() if value}

    def blocks(self) -> Iterator[Block]:
        """Yield the envelope, the text, and the same for each message within."""
        numbered = Numbered()
        if not self.is_saved_page:
            yield from numbered.placed([self.envelope.block()], ())
        for part, path, text in self._texts:
            if part.is_message:
                yield from numbered.placed([envelope(part.children[0]).block()], path)
            else:
                found = html_text_blocks(text.text) if text.is_html else plain_blocks(text.text)
                yield from numbered.placed(found, path)

    def members(self) -> Iterator[Member]:
        """Yield what is attached, piece by piece."""
        for name, part in zip(self.envelope.attachments, self._attached, strict=True):
            yield from in_pieces(name, part.content(), part.content_type)

    def notices(self) -> Iterator[Notice]:
        if self._damaged:
            yield Notice(
                "undecodable-bytes", "Some characters of the text could not be decoded; each is shown as U+FFFD."
            )
        if self._cut:
            yield too_deep_notice(self._cut)
        if any(part.content_type in _TNEF for part in self._attached):
            message = "winmail.dat holds what only Outlook reads (TNEF); ask its sender to send plain text or HTML."
            yield Notice("winmail-dat", message)

    # --- Which parts are shown ---

    def _gather(self) -> None:
        """Go through the tree in the order of the text."""
        waiting: list[tuple[MailPart, tuple[str, ...], bool]] = [(self._root, (), False)]
        while waiting:
            part, path, is_related = waiting.pop()
            if part.is_cut:
                self._cut += 1
            elif part.is_message:
                subject = header(part.children[0].headers, "Subject") if part.children else ""
                path = (*path, subject) if subject else path
                self._texts.append((part, path, Text("", is_html=False)))
                waiting.extend((child, path, False) for child in reversed(part.children))
            elif part.children:
                waiting.extend((child, path, related) for child, related in reversed(self._shown_children(part)))
            else:
                self._leaf(part, path, is_related)

    def _shown_children(self, part: MailPart) -> list[tuple[MailPart, bool]]:
        if part.content_type == "multipart/alternative":
            return self._alternatives(part)
        is_related = part.content_type == "multipart/related"
        return [(child, is_related and index > 0) for index, child in enumerate(part.children)]

    def _alternatives(self, part: MailPart) -> list[tuple[MailPart, bool]]:
        """The plain text, or else the page where the plain text is none; and what is neither of the two."""
        plain = next((child for child in part.children if child.content_type == "text/plain"), None)
        others = [child for child in part.children if child is not plain]
        page = next((child for child in others if _page_of(child) is not None), None)
        if plain is None or page is None:
            return [(child, False) for child in part.children]
        found = _page_of(page)
        text = part_text(plain, self._is_transcoded)
        if found is not None and is_stub(text, part_text(found, self._is_transcoded)):
            return [(child, False) for child in others]
        attached = page.children[1:] if page.content_type == "multipart/related" else []
        rest = [child for child in others if child is not page and child.content_type != "text/html"]
        return [(plain, False), *((child, True) for child in attached), *((child, False) for child in rest)]

    def _leaf(self, part: MailPart, path: tuple[str, ...], is_related: bool) -> None:
        kind = part.content_type
        if part.disposition != "attachment" and (
            kind in _READ_AS_TEXT or (kind in _TEXTS and (not part.file_name or part is self._root))
        ):
            text = part_text(part, self._is_transcoded)
            self._damaged = self._damaged or has_damage(text)
            self._texts.append((part, path, Text(text, kind == "text/html")))
        elif is_related and not kind.startswith("image/") and not part.file_name:
            # Styles and scripts of a page.
            return
        elif is_related and kind.startswith("image/") and len(part.body) < _SMALL_PICTURE:
            self._small_pictures += 1
        elif part.body.strip():
            self._attached.append(part)


def _page_of(part: MailPart) -> MailPart | None:
    """The page that a part is, alone or with its pictures."""
    if part.content_type == "text/html":
        return part
    if part.content_type.startswith("multipart/") and part.children:
        first = part.children[0]
        return first if first.content_type == "text/html" else None
    return None


def _name(part: MailPart, number: int) -> str:
    name = part.file_name
    if name:
        return posixpath.basename(name.replace("\\", "/")) or f"attachment {number}"
    described = parsed_headers(part.body[:_SMALL_PICTURE]) if part.is_message else None
    subject = header(described, "Subject") if described is not None else ""
    return f"{subject or f'attachment {number}'}{_EXTENSIONS.get(part.content_type, '')}"
