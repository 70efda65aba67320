"""PDF files for tests, written object by object; the fonts are those that every reader of PDF has."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

LATIN, BOLD, HAN, HAN_VERTICAL = "F1", "F2", "F3", "F4"
A4 = (595, 842)

_FONTS = {
    LATIN: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    BOLD: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
    HAN: "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[{cid} 0 R]>>",
    HAN_VERTICAL: "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-V/DescendantFonts[{cid} 0 R]>>",
}
_CID_FONT = (
    "<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light"
    "/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>/FontDescriptor {descriptor} 0 R/DW 1000>>"
)
_DESCRIPTOR = (
    "<</Type/FontDescriptor/FontName/STSong-Light/Flags 6/FontBBox[-25 -254 1000 880]/ItalicAngle 0"
    "/Ascent 880/Descent -120/CapHeight 880/StemV 93>>"
)


def text(x: float, y: float, said: str, size: float = 10, font: str = LATIN) -> str:
    """Content that prints words at a place, counted from the lower left of the page."""
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm {string(said, font)} Tj ET\n"


def turned_text(x: float, y: float, said: str, matrix: str, size: float = 10) -> str:
    """Content that prints words turned by a matrix of four numbers."""
    return f"BT /{LATIN} {size} Tf {matrix} {x} {y} Tm {string(said)} Tj ET\n"


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Content that strokes a line."""
    return f"{x1} {y1} m {x2} {y2} l S\n"


def han(x: float, y: float, said: str, size: float = 10) -> str:
    """Content that prints Chinese words."""
    return text(x, y, said, size, HAN)


def string(said: str, font: str = LATIN) -> str:
    """The words as a string of a content stream."""
    data = said.encode("utf-16-be") if font in (HAN, HAN_VERTICAL) else said.encode("cp1252")
    return f"<{data.hex()}>"


def words(said: str) -> str:
    """The words as a text string outside of contents, such as a title."""
    return f"<feff{said.encode('utf-16-be').hex()}>"


@dataclass(slots=True)
class Page:
    """One page: its content, and what else stands in its dictionary, such as `/Rotate 90`."""

    content: str = ""
    extra: str = ""
    annotations: Sequence[str] = ()
    size: tuple[float, float] = A4


@dataclass(slots=True)
class PdfFile:
    """Collects pages and objects, and writes them."""

    pages: list[Page] = field(default_factory=list)
    info: str = ""
    catalogue: str = ""
    """More of the document catalogue; `{page1}` stands for the number of the first page's object."""
    objects: list[str] = field(default_factory=list)
    """Further objects, from number 10 on; `{page1}` as above."""

    def data(self) -> bytes:
        """The file's bytes."""
        first_page = 10 + len(self.objects)
        places = {f"page{number}": str(first_page + 3 * (number - 1)) for number in range(1, len(self.pages) + 1)}
        kids = " ".join(f"{number} 0 R" for number in places.values())
        bodies: dict[int, bytes] = {
            1: self._filled(f"<</Type/Catalog/Pages 2 0 R{self.catalogue}>>", places),
            2: f"<</Type/Pages/Kids[{kids}]/Count {len(self.pages)}>>".encode(),
            3: f"<<{self.info}>>".encode(),
            4: _CID_FONT.replace("{descriptor}", "5").encode(),
            5: _DESCRIPTOR.encode(),
        }
        for number, font in enumerate(_FONTS.values(), 6):
            bodies[number] = font.replace("{cid}", "4").encode()
        for number, body in enumerate(self.objects, 10):
            bodies[number] = self._filled(body, places)
        for page, number in zip(self.pages, map(int, places.values()), strict=True):
            bodies |= self._page_bodies(page, number, places)
        return _written(bodies)

    def written(self, path: Path) -> Path:
        """Write the file, and return where it is."""
        path.write_bytes(self.data())
        return path

    def _page_bodies(self, page: Page, number: int, places: dict[str, str]) -> dict[int, bytes]:
        fonts = "".join(f"/{name} {at} 0 R" for at, name in enumerate(_FONTS, 6))
        width, height = page.size
        annotations = f"/Annots[{' '.join(page.annotations)}]" if page.annotations else ""
        dictionary = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents {number + 1} 0 R"
            f"/Resources<</Font<<{fonts}>>/XObject<</Im {number + 2} 0 R>>>>{annotations}{page.extra}>>"
        )
        picture = zlib.compress(b"\x80" * 16)
        return {
            number: self._filled(dictionary, places),
            number + 1: _stream("", zlib.compress(page.content.encode()), "/Filter/FlateDecode"),
            number + 2: _stream(
                "/Type/XObject/Subtype/Image/Width 4/Height 4/ColorSpace/DeviceGray/BitsPerComponent 8",
                picture,
                "/Filter/FlateDecode",
            ),
        }

    @staticmethod
    def _filled(body: str, places: dict[str, str]) -> bytes:
        for name, number in places.items():
            body = body.replace(f"{{{name}}}", number)
        return body.encode("latin-1")


def _stream(dictionary: str, data: bytes, filters: str = "") -> bytes:
    return f"<<{dictionary}{filters}/Length {len(data)}>>stream\n".encode() + data + b"\nendstream"


def _written(bodies: dict[int, bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets: dict[int, int] = {}
    for number in sorted(bodies):
        offsets[number] = len(out)
        out += b"%d 0 obj\n" % number + bodies[number] + b"\nendobj\n"
    start = len(out)
    size = max(bodies) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 %c \n" % (offsets.get(number, 0), b"n"[0] if number in offsets else b"f"[0])
    out += b"trailer\n<</Size %d/Root 1 0 R/Info 3 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out)
