"""Picture files: opened without believing what they say, and shown the way they mean to be."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from wenyuan.errors import FileMalformed, FileOverLimit

MOST_PIXELS: Final = 80_000_000
"""A sheet of A3 at 600 dots per inch has 70 million. JPEG pictures may have more, as they can be decoded smaller."""

FORMATS: Final = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF")
"""Of the formats that the library knows, those that are read."""

_DECODED_SMALLER: Final = {"JPEG": 8, "MPO": 8}
"""By how much a picture can be made smaller, across and down, while it is being decoded."""

UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, struct.error, zlib.error)
"""What the decoders are known to raise for broken pictures."""

_ORNAMENT_PIXELS: Final = 10_000
_ENOUGH_PIXELS: Final = 24_000_000
_ENOUGH_ACROSS: Final = 1300


@contextmanager
def opened_picture(path: Path, name: str) -> Iterator[Image.Image]:
    """Open a picture; nothing of it is decoded yet. Raises `FileMalformed`, `FileOverLimit`, `FileNotFoundError`."""
    # The limit is this module's, and it raises this project's error.
    Image.MAX_IMAGE_PIXELS = None
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        picture = Image.open(path, formats=FORMATS)
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise _malformed(name, error) from error
    with picture:
        _check_size(picture, name)
        yield picture


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A frame as people see it, in RGB, by `scale` smaller if it is very large; not whole if its file was cut off."""

    picture: Image.Image
    scale: float
    is_whole: bool


def shown(picture: Image.Image, name: str) -> ShownPicture:
    """The frame at hand, turned as its EXIF data ask (EXIF 2.32, tag 0x0112), and white where it is transparent.

    Raises `FileOverLimit` before anything is decoded, and `FileMalformed`.
    """
    width, height = picture.size
    factor = max(1, int(min(math.sqrt(width * height / _ENOUGH_PIXELS), min(width, height) / _ENOUGH_ACROSS)))
    if picture.format in _DECODED_SMALLER and factor > 1:
        picture.draft(picture.mode, (width // factor, height // factor))
    _check_size(picture, name)
    is_whole = _load(picture, name)
    factor = factor * picture.width // width
    try:
        small = picture.reduce(factor) if factor > 1 and picture.mode != "P" else picture
        flat = _flat(small)
        turned = ImageOps.exif_transpose(flat)
    except UNREADABLE as error:
        raise _malformed(name, error) from error
    return ShownPicture(turned, max(width, height) / max(turned.size), is_whole)


def is_ornament(start: bytes) -> bool:
    """Whether a picture inside of another file is an icon, a line or a small logo, by the first bytes of its own."""
    try:
        with Image.open(io.BytesIO(start), formats=FORMATS) as picture:
            return picture.width * picture.height < _ORNAMENT_PIXELS
    except UNREADABLE:
        return False


def _check_size(picture: Image.Image, name: str) -> None:
    reduction = _DECODED_SMALLER.get(picture.format or "", 1)
    if picture.width * picture.height > MOST_PIXELS * reduction**2:
        raise FileOverLimit(name=name, what=f"a picture of {picture.width:,} × {picture.height:,} pixels")


def _load(picture: Image.Image, name: str) -> bool:
    """Decode the frame; of a file that was cut off, what there is."""
    try:
        picture.load()
    except UNREADABLE as error:
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            picture.load()
        except UNREADABLE:
            raise _malformed(name, error) from error
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        return False
    return True


def _flat(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith("I") or picture.mode == "F":
        picture = _eight_bits(picture)
    if picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        white = Image.new("RGB", picture.size, "white")
        white.paste(picture, mask=picture.getchannel("A"))
        white.info["exif"] = picture.info.get("exif", b"")
        return white
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Sixteen bits and more become eight, from the darkest to the brightest that the picture has."""
    dark, bright = picture.convert("F").getextrema()
    assert isinstance(dark, float)
    assert isinstance(bright, float)
    span = max(bright - dark, 1.0)
    return picture.convert("F").point(lambda value: value * (255 / span) + (-dark * 255 / span)).convert("L")


def _malformed(name: str, error: Exception) -> FileMalformed:
    if isinstance(error, UnidentifiedImageError):
        # It names the file by a path that means nothing to people.
        return FileMalformed(name=name, format="picture data", reason="it does not begin like a picture")
    return FileMalformed(name=name, format="picture data", reason=str(error)[:200] or type(error).__name__)
