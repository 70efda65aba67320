"""What a PDF says of itself: title, author, dates, language, and its outline."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from wenyuan.parsers.pdf.headings import OutlineEntry
from wenyuan.parsers.pdf.letters import plain_letters

_MOST_ENTRIES = 20_000
_LONGEST_VALUE = 2000
_LONGEST_LANGUAGE = 100
_MOST_BYTES = 1 << 20
_KEYS = ("Title", "Author", "Subject", "Keywords", "CreationDate", "ModDate")
# ISO 32000-1, 7.9.4: D:YYYYMMDDHHmmSSOHH'mm', everything after the year optional.
_DATE = re.compile(
    r"(?:D:)?\s*(\d{4})(?:-?(\d{2})(?:-?(\d{2})(?:[T ]?(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?)?)?)?"
    r"\s*(?:(Z)|([+-])(\d{2})[':]?(\d{2})?)?"
)
_NOTHING = re.compile(r"\(?(anonymous|unspecified|untitled|none|unknown)\)?", re.I)
# Names that programs give when nobody gave one.
_NO_TITLE = re.compile(
    r"untitled\d*|microsoft (word|powerpoint|excel) - .*|(powerpoint|word) (presentation|document)|document\d*|"
    r"无标题|未命名|幻灯片 ?\d+|slide \d+|.*\.(docx?|xlsx?|pptx?|indd|tex|dvi|qxp|rtf|wps|html?|pdf)|about:blank|title",
    re.I,
)


def document_metadata(document: pypdfium2.PdfDocument) -> dict[str, str]:
    """What the file says, under the names that all readers use; dates in ISO 8601."""
    said: dict[str, str] = {}
    for key in _KEYS:
        value = _wide_text(pdfium.FPDF_GetMetaText, document.raw, key.encode())
        if not _NOTHING.fullmatch(value):
            said[key] = " ".join(plain_letters(value).split())[:_LONGEST_VALUE]
    found = {
        "title": "" if _NO_TITLE.fullmatch(said.get("Title", "")) else said.get("Title", ""),
        "author": said.get("Author", ""),
        "subject": said.get("Subject", ""),
        "keywords": said.get("Keywords", ""),
        "created": iso_date(said.get("CreationDate", "")),
        "modified": iso_date(said.get("ModDate", "")),
    }
    return {key: value for key, value in found.items() if value}


def iso_date(value: str) -> str:
    """A PDF's date and time in ISO 8601, or "" for what is none."""
    found = _DATE.match(value)
    if not found:
        return ""
    year, month, day, hour, minute, second, utc, sign, offset_hours, offset_minutes = found.groups()
    zone = UTC if utc else None
    if sign:
        offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes or 0))
        if offset >= timedelta(days=1):
            return ""
        zone = timezone(-offset if sign == "-" else offset)
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=zone
        )
    except ValueError:
        return ""
    return moment.isoformat() if hour else moment.date().isoformat()


def document_language(document: pypdfium2.PdfDocument) -> str:
    """The language its catalogue names, such as `zh-CN`, or ""."""
    return _wide_text(pdfium.FPDFCatalog_GetLanguage, document.raw)[:_LONGEST_LANGUAGE].strip()


def document_outline(document: pypdfium2.PdfDocument) -> Iterator[OutlineEntry]:
    """The bookmarks that lead to a page."""
    for number, bookmark in enumerate(document.get_toc()):
        if number >= _MOST_ENTRIES:
            return
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        if page is not None:
            yield OutlineEntry(
                bookmark.level, plain_letters(_wide_text(pdfium.FPDFBookmark_GetTitle, bookmark.raw)), page + 1
            )


def _wide_text(call: Callable[..., int], *arguments: Any) -> str:
    """What a PDFium function writes as UTF-16, asked first for its size in bytes; what is no text is replaced."""
    size = call(*arguments, None, 0)
    if not 2 < size <= _MOST_BYTES:
        return ""
    units = (ctypes.c_ushort * ((size + 1) // 2))()
    call(*arguments, units, size)
    return bytes(memoryview(units).cast("B")).decode("utf-16-le", "replace").replace("\0", "")
