"""Files made to hurt: bombs, bottomless nestings, entities, ways out of an archive. All are small on disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

Maker = Callable[[Path], None]

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_PIECE = 1 << 20


def word_bomb(path: Path) -> None:
    """590 MB of one word in a document of half a megabyte."""
    with _office_package(path, "word/document.xml", "officeDocument") as package, _member(package) as body:
        body.write(f'<w:document xmlns:w="{_WORD}"><w:body><w:p><w:r><w:t>'.encode())
        _fill(body, b"bomb ", 590)
        body.write(b"</w:t></w:r></w:p></w:body></w:document>")


def sheet_bomb(path: Path) -> None:
    """390 MB of cells that all say the same."""
    with _workbook(path) as package, package.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as body:
        body.write(f'<worksheet xmlns="{_SHEET}"><sheetData>'.encode())
        _fill(body, b'<row><c t="inlineStr"><is><t>bomb</t></is></c></row>', 390)
        body.write(b"</sheetData></worksheet>")


def far_cell(path: Path) -> None:
    """A sheet whose only cells are the first and the very last one."""
    with _workbook(path) as package:
        cells = "".join(
            f'<row r="{row}"><c r="{name}" t="inlineStr"><is><t>{text}</t></is></c></row>'
            for row, name, text in ((1, "A1", "near"), (1_048_576, "XFD1048576", "far"))
        )
        package.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{_SHEET}"><sheetData>{cells}</sheetData></worksheet>'
        )


def crowded_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(60_000):
            archive.writestr(f"{number}.txt", b"")


def archive_bomb(path: Path) -> None:
    """A text of 400 MB in an archive of less than two."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("big.txt", "w", force_zip64=True) as member,
    ):
        _fill(member, b"0" * 100, 400)


def way_out(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../../../../tmp/wenyuan-was-here.txt", "/tmp/wenyuan-was-here.txt", "..\\..\\here.txt"):
            archive.writestr(name, b"outside")


def book_with_a_way_out(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", b"application/epub+zip")
        container = '<rootfile full-path="../../../etc/passwd" media-type="application/oebps-package+xml"/>'
        namespace = "urn:oasis:names:tc:opendocument:xmlns:container"
        archive.writestr(
            "META-INF/container.xml", f'<container xmlns="{namespace}"><rootfiles>{container}</rootfiles></container>'
        )


def archives_in_archives(path: Path) -> None:
    """Forty archives, each in the next."""
    content = b"at the bottom"
    name = "bottom.txt"
    for depth in range(40):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(name, content)
        content, name = buffer.getvalue(), f"{depth}.zip"
    path.write_bytes(content)


def deep_page(path: Path) -> None:
    path.write_bytes(b"<html><body>" + b"<div>" * 200_000 + b"deep" + b"</div>" * 200_000)


def deep_json(path: Path) -> None:
    path.write_bytes(b"[" * 200_000 + b'"deep"' + b"]" * 200_000)


def deep_xml(path: Path) -> None:
    path.write_bytes(b"<a>" * 200_000 + b"deep" + b"</a>" * 200_000)


def deep_word(path: Path) -> None:
    with _office_package(path, "word/document.xml", "officeDocument") as package, _member(package) as body:
        body.write(f'<w:document xmlns:w="{_WORD}"><w:body>'.encode())
        body.write(b"<w:p>" * 200_000 + b"<w:r><w:t>deep</w:t></w:r>" + b"</w:p>" * 200_000)
        body.write(b"</w:body></w:document>")


def attributes(path: Path) -> None:
    """One element with 300,000 attributes."""
    many = b" ".join(b'a%d="%d"' % (number, number) for number in range(300_000))
    path.write_bytes(b"<html><body><p " + many + b">text</p></body></html>")


def entities(path: Path) -> None:
    """Ten entities of ten entities of …: a word document a billion laughs long."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    with _office_package(path, "word/document.xml", "officeDocument") as package:
        package.writestr(
            "word/document.xml",
            f'<!DOCTYPE d [<!ENTITY l0 "laugh">{levels}]><w:document xmlns:w="{_WORD}"><w:body><w:p><w:r>'
            "<w:t>&l9;</w:t></w:r></w:p></w:body></w:document>",
        )


def outside_entity(path: Path) -> None:
    """An entity that is a file of this machine."""
    with _office_package(path, "word/document.xml", "officeDocument") as package:
        package.writestr(
            "word/document.xml",
            f'<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd">]><w:document xmlns:w="{_WORD}"><w:body><w:p><w:r>'
            "<w:t>before &f; after</w:t></w:r></w:p></w:body></w:document>",
        )


def laughing_xml(path: Path) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "laugh">{levels}]><d>&l9;</d>', "utf-8")


def nested_mail(path: Path) -> None:
    """1,500 messages, each in the one before."""
    parts = []
    for number in range(1_500):
        boundary = f"b{number}"
        parts.append(
            f'Subject: level {number}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="{boundary}"\r\n'
            f"\r\n--{boundary}\r\nContent-Type: message/rfc822\r\n\r\n"
        )
    path.write_bytes("".join(parts).encode() + b"Subject: bottom\r\n\r\nthe last word\r\n")


def calling_itself(path: Path) -> None:
    """A PDF form that draws itself twice."""
    resources = b"<</XObject<</F 4 0 R>>>>"
    head = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources" + resources + b"/Length 11>>stream\n"
    path.write_bytes(_pdf([head + b"/F Do /F Do\nendstream"], b"/F Do", resources))


def flate_bomb(path: Path) -> None:
    """A page of a gigabyte of nothing."""
    piece, repeats = b" " * (1 << 24), 64
    squeezer = zlib.compressobj(9)
    # A piece that ends in a full flush can be repeated as it is (RFC 1951); the checksum is of all of them.
    block = (squeezer.compress(piece) + squeezer.flush(zlib.Z_FULL_FLUSH))[2:]
    checksum = 1
    for _ in range(repeats):
        checksum = zlib.adler32(piece, checksum)
    packed = b"\x78\x9c" + block * repeats + b"\x03\x00" + checksum.to_bytes(4, "big")
    twice = zlib.compress(packed, 9)
    stream = b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n" % len(twice) + twice + b"\nendstream"
    path.write_bytes(_pdf([], b"", b"<<>>", content=stream))


def counted_pages(path: Path) -> None:
    """A PDF that says it has two billion pages."""
    path.write_bytes(_pdf([], b"BT ET", b"<<>>", count=2_000_000_000))


def vast_picture(path: Path) -> None:
    """A picture of 30,000 by 30,000 points in under a megabyte."""
    row = b"\0" + bytes(30_000 // 8)
    squeezer = zlib.compressobj(9)
    data = b"".join(squeezer.compress(row) for _ in range(30_000)) + squeezer.flush()
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 1, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + _png("IHDR", header) + _png("IDAT", data) + _png("IEND", b""))


def deep_rtf(path: Path) -> None:
    path.write_bytes(b"{\\rtf1 " + b"{" * 200_000 + b"deep" + b"}" * 200_000 + b"}")


def long_line(path: Path) -> None:
    path.write_bytes(b"x" * (8 << 20) + b" the end of the line")


HOSTILE: dict[str, Maker] = {
    "word-bomb.docx": word_bomb,
    "sheet-bomb.xlsx": sheet_bomb,
    "far-cell.xlsx": far_cell,
    "crowded.zip": crowded_archive,
    "bomb.zip": archive_bomb,
    "way-out.zip": way_out,
    "way-out.epub": book_with_a_way_out,
    "matryoshka.zip": archives_in_archives,
    "deep.html": deep_page,
    "deep.json": deep_json,
    "deep.xml": deep_xml,
    "deep.docx": deep_word,
    "deep.rtf": deep_rtf,
    "attributes.html": attributes,
    "laughs.docx": entities,
    "laughs.xml": laughing_xml,
    "outside.docx": outside_entity,
    "nested.eml": nested_mail,
    "itself.pdf": calling_itself,
    "flate.pdf": flate_bomb,
    "pages.pdf": counted_pages,
    "vast.png": vast_picture,
    "line.txt": long_line,
}
"""File name → what writes it."""


def _fill(target: object, unit: bytes, megabytes: int) -> None:
    piece = unit * (_PIECE // len(unit) + 1)
    for _ in range(megabytes):
        target.write(piece)  # type: ignore[attr-defined]


def _office_package(path: Path, part: str, kind: str) -> zipfile.ZipFile:
    package = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    package.writestr(
        "_rels/.rels",
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{_RELATIONS}/{kind}" '
        f'Target="{part}"/></Relationships>',
    )
    return package


def _member(package: zipfile.ZipFile) -> io.BufferedIOBase:
    return package.open("word/document.xml", "w", force_zip64=True)  # type: ignore[return-value]


def _workbook(path: Path) -> zipfile.ZipFile:
    package = _office_package(path, "xl/workbook.xml", "officeDocument")
    package.writestr(
        "xl/workbook.xml",
        f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATIONS}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
        "</workbook>",
    )
    package.writestr(
        "xl/_rels/workbook.xml.rels",
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{_RELATIONS}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>',
    )
    return package


def _pdf(extra: list[bytes], drawing: bytes, resources: bytes, count: int = 1, content: bytes = b"") -> bytes:
    """A PDF of one page; the first of the extra objects is number 4."""
    stream = content or b"<</Length %d>>stream\n" % len(drawing) + drawing + b"\nendstream"
    number = 4 + len(extra)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources %s/Contents %d 0 R>>" % (resources, number)
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count %d>>" % count, page, *extra, stream]
    body, places = b"%PDF-1.4\n", []
    for position, value in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n" % position + value + b"\nendobj\n"
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return body + table + trailer


def _png(kind: str, data: bytes) -> bytes:
    body = kind.encode() + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
