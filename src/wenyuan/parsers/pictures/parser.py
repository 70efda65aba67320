"""Pictures: photos of pages, scans and screenshots, whose text is recognised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from PIL import ExifTags, Image

from wenyuan.errors import NeedsOcr
from wenyuan.parsers.pictures.files import UNREADABLE, opened_picture, shown
from wenyuan.parsers.pictures.recognition import allowance
from wenyuan.parsers.pictures.recognition_notices import doubtful_notice, left_out_notice, nothing_to_read_notice
from wenyuan.parsers.pictures.text import PictureText, text_of
from wenyuan.types import Facts, JsonObject, Notice, ReadEvent

_LEAST_SIDE: Final = 12
_LEAST_PIXELS: Final = 1200
"""A picture with fewer pixels is an ornament: no letter fits into it."""

_LONGEST_VALUE: Final = 500
_DATE = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)(?:[ T](\d\d:\d\d:\d\d))?")


class PictureParser:
    """Reads PNG, JPEG, WebP, TIFF (all its pages), BMP and GIF (its first frame)."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_picture(path, name) as picture:
            facts = _Counted()
            yield from _pages(picture, name, facts)
            yield facts.told()
            yield from facts.notices()
            if facts.is_without_writing:
                yield nothing_to_read_notice()


@dataclass(slots=True)
class _Counted:
    """What is known of the whole file."""

    metadata: JsonObject = field(default_factory=dict)
    dots_per_inch: int = 0
    pages: int = 0
    without_text: int = 0
    characters: int = 0
    confidence: float = 0.0
    doubtful: list[int] = field(default_factory=list)
    cut_off: list[int] = field(default_factory=list)
    incomplete: list[int] = field(default_factory=list)
    has_illegible: bool = False

    @property
    def is_without_writing(self) -> bool:
        """Whether all of it was looked at, and nothing on it is writing, as on most photos."""
        return not (self.characters or self.has_illegible or self.incomplete or self.cut_off)

    def add(self, found: PictureText) -> None:
        self.without_text += not found.blocks
        self.confidence += found.confidence * found.characters
        self.characters += found.characters
        self.has_illegible = self.has_illegible or found.has_illegible
        if found.is_doubtful:
            self.doubtful.append(self.pages)
        if not found.is_complete:
            self.incomplete.append(self.pages)

    def told(self) -> Facts:
        """The type is put in by whoever detected it."""
        quality: dict[str, int] = {"pages": self.pages, "pages_recognised": self.pages - self.without_text}
        if self.without_text and not self.is_without_writing:
            quality["pages_without_text"] = self.without_text
        if self.characters:
            quality["confidence_percent"] = round(100 * self.confidence / self.characters)
        if self.dots_per_inch:
            quality["dots_per_inch"] = self.dots_per_inch
        return Facts("", metadata=self.metadata, quality=quality)

    def notices(self) -> Iterator[Notice]:
        if self.doubtful:
            yield doubtful_notice(self.doubtful)
        if self.cut_off:
            yield Notice("picture-cut-off", "The file ends before its picture does; what there is of it was read.")
        if self.incomplete:
            yield left_out_notice(self.incomplete)


def _pages(picture: Image.Image, name: str, facts: _Counted) -> Iterator[ReadEvent]:
    allowed = allowance()
    while _has_page(picture, facts.pages):
        facts.pages += 1
        frame = shown(picture, name)
        if facts.pages == 1:
            facts.metadata, facts.dots_per_inch = said_metadata(picture), _dots_per_inch(picture)
            yield facts.told()
        if min(frame.picture.size) < _LEAST_SIDE or frame.picture.width * frame.picture.height < _LEAST_PIXELS:
            facts.add(PictureText())
            continue
        if not allowed.is_available:
            raise NeedsOcr(name=name)
        if not frame.is_whole:
            facts.cut_off.append(facts.pages)
        found = text_of(frame.picture, allowed, facts.pages, frame.scale)
        facts.add(found)
        yield from found.blocks
        if not found.is_complete:
            return


def _has_page(picture: Image.Image, number: int) -> bool:
    """Go to page `number`, from 0. Only a TIFF file has several; what moves shows its first frame."""
    if number == 0:
        return True
    if picture.format != "TIFF":
        return False
    try:
        picture.seek(number)
    except EOFError:
        return False
    return True


# --- What a picture says of itself ------------------------------------------------------------------


def said_metadata(picture: Image.Image) -> JsonObject:
    """Who made it, when, and what it is called; not where it was taken. Broken EXIF data say nothing."""
    try:
        exif = picture.getexif()
        taken = exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.DateTimeOriginal)
    except UNREADABLE:
        return {}
    said = {
        "title": picture.info.get("Title"),
        "author": exif.get(ExifTags.Base.Artist) or picture.info.get("Author"),
        "subject": exif.get(ExifTags.Base.ImageDescription) or picture.info.get("Description"),
        "created": _date(taken or picture.info.get("Creation Time")),
        "modified": _date(exif.get(ExifTags.Base.DateTime)),
    }
    return {key: text for key, value in said.items() if (text := _words(value))}


def _words(value: Any) -> str:
    return " ".join(value.replace("\0", " ").split())[:_LONGEST_VALUE] if isinstance(value, str) else ""


def _date(value: Any) -> str:
    """EXIF writes `2026:03:15 10:20:30`; the time is that of the place."""
    found = _DATE.match(value) if isinstance(value, str) else None
    if found is None or found[1] == "0000":
        return ""
    day = f"{found[1]}-{found[2]}-{found[3]}"
    return f"{day}T{found[4]}" if found[4] else day


def _dots_per_inch(picture: Image.Image) -> int:
    across = picture.info.get("dpi", (0, 0))[0]
    return round(float(across)) if 0 < across < 10_000 else 0
