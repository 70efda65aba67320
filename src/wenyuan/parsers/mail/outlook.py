"""Messages that were saved from Outlook ([MS-OXMSG])."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wenyuan.parsers.html.page import declared_encoding
from wenyuan.parsers.mail import outlook_properties as properties
from wenyuan.parsers.mail.headers import addresses, date, parsed_headers
from wenyuan.parsers.mail.message import Envelope, too_deep_notice
from wenyuan.parsers.mail.outlook_properties import PropertyStore
from wenyuan.parsers.mail.parts import DEEPEST_MESSAGE
from wenyuan.parsers.mail.text import Numbered, html_text_blocks, plain_blocks
from wenyuan.parsers.members import in_pieces
from wenyuan.parsers.office.ole_storage import opened_storage
from wenyuan.parsers.rtf.parser import rtf_text_blocks
from wenyuan.parsers.text.decoding import decoded_bytes, without_controls
from wenyuan.types import Block, Facts, Member, ReadEvent

MEDIA_TYPE = "application/vnd.ms-outlook"
_TO, _CC = 1, 2
_MOST_RECIPIENTS = 200
_MOST_MESSAGES = 1_000
_DECLARATION_WITHIN = 4096


class OutlookParser:
    """Reads a saved message: its envelope, its text, the messages in it, and its attachments as members."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield the message. Raises `FileMalformed`."""
        with opened_storage(path, name, "Outlook message") as storage:
            found = _gathered(PropertyStore(storage))
            outer = found.messages[0]
            envelope = _envelope(outer.properties)
            envelope.attachments = [file for file, _ in found.attached]
            metadata = envelope.metadata()
            quality = {"attachments": len(found.attached)} if found.attached else {}
            yield Facts(MEDIA_TYPE, title=envelope.subject, metadata=metadata, quality=quality)
            if found.too_deep:
                yield too_deep_notice(found.too_deep)
            numbered = Numbered()
            for message in found.messages:
                head = envelope if message is outer else _envelope(message.properties)
                yield from numbered.placed([head.block()], message.path)
                yield from numbered.placed(_body(message.properties), message.path)
            for file, attachment in found.attached:
                yield from _member(file, attachment)


@dataclass(frozen=True, slots=True)
class _Message:
    properties: PropertyStore
    path: tuple[str, ...]
    depth: int


@dataclass(slots=True)
class _Gathered:
    """All messages in one, and all files attached to any of them."""

    messages: list[_Message] = field(default_factory=list)
    attached: list[tuple[str, PropertyStore]] = field(default_factory=list)
    too_deep: int = 0


def _gathered(root: PropertyStore) -> _Gathered:
    found = _Gathered()
    waiting = [_Message(root, (), 0)]
    while waiting:
        message = waiting.pop()
        found.messages.append(message)
        for attachment in message.properties.attachments():
            inner = attachment.embedded()
            if inner is None:
                found.attached.append((_file_name(attachment, len(found.attached) + 1), attachment))
            elif message.depth >= DEEPEST_MESSAGE or len(found.messages) + len(waiting) > _MOST_MESSAGES:
                found.too_deep += 1
            else:
                subject = inner.text(properties.SUBJECT) or attachment.text(properties.DISPLAY_NAME)
                path = (*message.path, subject) if subject else message.path
                waiting.append(_Message(inner, path, message.depth + 1))
    return found


def _envelope(message: PropertyStore) -> Envelope:
    headers = parsed_headers(message.text(properties.TRANSPORT_HEADERS).encode("utf-8", "replace"))
    name = message.text(properties.SENDER_NAME)
    address = message.text(properties.SENDER_SMTP, properties.SENDER_ADDRESS)
    sender = _person(name, address)
    people = list(message.recipients())[:_MOST_RECIPIENTS]
    named = {
        kind: ", ".join(
            _person(
                person.text(properties.DISPLAY_NAME),
                person.text(properties.SMTP_ADDRESS, properties.ADDRESS),
            )
            for person in people
            if person.number(properties.RECIPIENT_TYPE) == kind
        )
        for kind in (_TO, _CC)
    }
    return Envelope(
        subject=" ".join(message.text(properties.SUBJECT).split()),
        sender=addresses(headers, "From") or sender,
        to=named[_TO] or addresses(headers, "To") or message.text(properties.DISPLAY_TO),
        cc=named[_CC] or addresses(headers, "Cc") or message.text(properties.DISPLAY_CC),
        date=date(headers) or message.time(properties.SUBMIT_TIME, properties.DELIVERY_TIME),
    )


def _person(name: str, address: str) -> str:
    # Within one company an address is a path in its directory, which says nothing to a person.
    address = "" if address.upper().startswith("/O=") else address
    return f"{name} <{address}>" if name and address and name != address else name or address


def _body(message: PropertyStore) -> Iterator[Block]:
    """The plain text, or else the page, or else the text of the formatted one."""
    plain = without_controls(message.text(properties.BODY).replace("\r\n", "\n").replace("\r", "\n"))
    if plain.strip():
        yield from plain_blocks(plain)
        return
    page = message.binary(properties.HTML)
    markup = message.text(properties.HTML)
    if page:
        markup, _ = decoded_bytes(page, declared_encoding(page[:_DECLARATION_WITHIN]) or message.codec)
    if markup.strip():
        yield from html_text_blocks(without_controls(markup))
        return
    rtf = message.rtf()
    if rtf:
        yield from rtf_text_blocks(rtf, message.text(properties.SUBJECT))


def _file_name(attachment: PropertyStore, number: int) -> str:
    name = attachment.text(properties.ATTACHMENT_NAME, properties.ATTACHMENT_SHORT_NAME, properties.DISPLAY_NAME)
    return posixpath.basename(name.replace("\\", "/")) or f"attachment {number}"


def _member(file: str, attachment: PropertyStore) -> Iterator[Member]:
    content = attachment.binary(properties.ATTACHMENT_DATA)
    if content:
        yield from in_pieces(file, content, attachment.text(properties.ATTACHMENT_TYPE))
