"""Formats that announce themselves in their first bytes."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from wenyuan.parsers.office.ole_storage import root_names
from wenyuan.parsers.source_file import opened


class Format(NamedTuple):
    """A media type and how to call it in a sentence."""

    media_type: str
    description: str


_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"

PDF = Format("application/pdf", "a PDF document")
ZIP = Format("application/zip", "a ZIP archive")
OLE = Format("application/x-ole-storage", "an older Office document")

_SIGNATURES = (
    (0, b"%PDF-", PDF),
    (0, b"PK\x03\x04", ZIP),
    (0, b"PK\x05\x06", ZIP),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    (0, b"\xdb\xa5\x2d\x00", Format("application/x-word-2", "a Word 2 document")),
    (0, b"\x09\x04\x06\x00", Format("application/x-excel-4", "an Excel 4 workbook")),
    (0, b"\x09\x02\x06\x00", Format("application/x-excel-4", "an Excel 3 workbook")),
    (0, b"{\\rtf", Format("application/rtf", "an RTF document")),
    (0, b"%!PS", Format("application/postscript", "a PostScript document")),
    (0, b"AT&TFORM", Format("image/vnd.djvu", "a DjVu document")),
    (0, b"\x89PNG\r\n\x1a\n", Format("image/png", "a PNG picture")),
    (0, b"\xff\xd8\xff", Format("image/jpeg", "a JPEG picture")),
    (0, b"GIF87a", Format("image/gif", "a GIF picture")),
    (0, b"GIF89a", Format("image/gif", "a GIF picture")),
    (0, b"II*\x00", Format("image/tiff", "a TIFF picture")),
    (0, b"MM\x00*", Format("image/tiff", "a TIFF picture")),
    (0, b"II+\x00", Format("image/tiff", "a TIFF picture")),
    (0, b"MM\x00+", Format("image/tiff", "a TIFF picture")),
    (8, b"WEBP", Format("image/webp", "a WebP picture")),
    (4, b"jP  \r\n\x87\n", Format("image/jp2", "a JPEG 2000 picture")),
    (0, b"8BPS", Format("image/vnd.adobe.photoshop", "a Photoshop picture")),
    (0, b"\x00\x00\x01\x00", Format("image/x-icon", "an icon")),
    (4, b"ftyphei", Format("image/heic", "a HEIC picture")),
    (4, b"ftypmif1", Format("image/heic", "a HEIC picture")),
    (4, b"ftypavif", Format("image/avif", "an AVIF picture")),
    (4, b"ftyp", Format("video/mp4", "an MPEG-4 recording")),
    (8, b"WAVE", Format("audio/wav", "a WAV recording")),
    (8, b"AVI ", Format("video/x-msvideo", "an AVI video")),
    (0, b"ID3", Format("audio/mpeg", "an MP3 recording")),
    (0, b"OggS", Format("audio/ogg", "an Ogg recording")),
    (0, b"fLaC", Format("audio/flac", "a FLAC recording")),
    (0, b"\x1aE\xdf\xa3", Format("video/x-matroska", "a Matroska video")),
    (0, b"\x1f\x8b\x08", Format("application/gzip", "a gzip archive")),
    (0, b"BZh", Format("application/x-bzip2", "a bzip2 archive")),
    (0, b"\xfd7zXZ\x00", Format("application/x-xz", "an xz archive")),
    (0, b"(\xb5/\xfd", Format("application/zstd", "a Zstandard archive")),
    (0, b"7z\xbc\xaf'\x1c", Format("application/x-7z-compressed", "a 7-Zip archive")),
    (0, b"Rar!\x1a\x07", Format("application/vnd.rar", "a RAR archive")),
    (257, b"ustar", Format("application/x-tar", "a tar archive")),
    (0, b"\x7fELF", Format("application/x-executable", "a program (ELF)")),
    (0, b"MZ", Format("application/vnd.microsoft.portable-executable", "a Windows program")),
    (0, b"\xcf\xfa\xed\xfe", Format("application/x-mach-binary", "a macOS program")),
    (0, b"\xca\xfe\xba\xbe", Format("application/java-vm", "compiled Java")),
    (0, b"\x00asm", Format("application/wasm", "a WebAssembly program")),
    (0, b"SQLite format 3\x00", Format("application/vnd.sqlite3", "an SQLite database")),
    (0, b"PAR1", Format("application/vnd.apache.parquet", "a Parquet table")),
    (0, b"wOFF", Format("font/woff", "a font")),
    (0, b"wOF2", Format("font/woff2", "a font")),
    (0, b"OTTO", Format("font/otf", "a font")),
    (0, b"\x00\x01\x00\x00\x00", Format("font/ttf", "a font")),
    (0, b"BM", Format("image/bmp", "a BMP picture")),
)
# Letters that a text may well begin with say nothing unless what follows is binary.
_LONGEST_WORD_LIKE = 4
_DIRECTORY_SECTORS = 8
_PDF_MARK_WITHIN = 1024

_WORD = Format(f"{_OFFICE}.wordprocessingml.document", "a Word document")
_WORKBOOK = Format(f"{_OFFICE}.spreadsheetml.sheet", "an Excel workbook")
_SLIDES = Format(f"{_OFFICE}.presentationml.presentation", "a PowerPoint presentation")
_EPUB = Format("application/epub+zip", "an EPUB book")
_ZIP_MEMBERS = (
    ("word/document.xml", _WORD),
    ("xl/workbook.xml", _WORKBOOK),
    ("xl/workbook.bin", Format("application/vnd.ms-excel.sheet.binary.macroenabled.12", "a binary Excel workbook")),
    ("ppt/presentation.xml", _SLIDES),
    ("meta-inf/container.xml", _EPUB),
    ("ofd.xml", Format("application/ofd", "an OFD document")),
    ("index/document.iwa", Format("application/vnd.apple.iwork", "a document of Pages, Numbers or Keynote")),
    ("fixeddocseq.fdseq", Format("application/vnd.ms-xpsdocument", "an XPS document")),
    ("meta-inf/manifest.mf", Format("application/java-archive", "a Java archive")),
)
# The main part of a package may have any name; its folder is nearly always the usual one.
_PACKAGE = "[content_types].xml"
_PACKAGE_FOLDERS = (("word/", _WORD), ("xl/", _WORKBOOK), ("ppt/", _SLIDES))
_ZIP_MIME_TYPES = (
    _EPUB,
    Format(f"{_OPEN_DOCUMENT}.text", "an OpenDocument text"),
    Format(f"{_OPEN_DOCUMENT}.spreadsheet", "an OpenDocument spreadsheet"),
    Format(f"{_OPEN_DOCUMENT}.presentation", "an OpenDocument presentation"),
)
_OLE_STREAMS = (
    ("EncryptedPackage", Format("application/x-ole-encrypted", "a password-protected Office document")),
    # A message may hold documents of all the others.
    ("__properties_version1.0", Format("application/vnd.ms-outlook", "an Outlook message")),
    ("WordDocument", Format("application/msword", "a Word 97 document")),
    ("Workbook", Format("application/vnd.ms-excel", "an Excel 97 workbook")),
    ("Book", Format("application/vnd.ms-excel", "an Excel 5 workbook")),
    ("PowerPoint Document", Format("application/vnd.ms-powerpoint", "a PowerPoint 97 presentation")),
)


def signature_format(start: bytes, is_binary: bool) -> Format | None:
    """Return the format whose signature the first bytes of a file bear, if any.

    `is_binary` says whether those bytes could not be text.
    """
    for offset, signature, found in _SIGNATURES:
        word_like = len(signature) <= _LONGEST_WORD_LIKE and signature.isalnum()
        if start.startswith(signature, offset) and (is_binary or not word_like):
            return found
    return PDF if is_binary and has_pdf_mark(start) else None


def has_pdf_mark(start: bytes) -> bool:
    """Whether a PDF begins somewhere near, behind what a server or a mailer has put before it."""
    return b"%PDF-" in start[:_PDF_MARK_WITHIN]


def refined_format(found: Format, path: Path, start: bytes) -> Format:
    """Look into a ZIP archive or an OLE storage for what it really is."""
    if found is ZIP:
        return _zip_format(path, start)
    if found is OLE:
        return _ole_format(path, start)
    return found


def _zip_format(path: Path, start: bytes) -> Format:
    # EPUB and OpenDocument store their media type uncompressed as the first member.
    mime_type = start[38:128] if start[30:38] == b"mimetype" else b""
    for found in _ZIP_MIME_TYPES:
        if mime_type.startswith(found.media_type.encode()):
            return found
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.lower() for member in archive.namelist()}
            if "mimetype" in members:
                mime_type = archive.read("mimetype")[:128] if archive.getinfo("mimetype").file_size < 128 else b""
    except (zipfile.BadZipFile, NotImplementedError, ValueError, KeyError, RuntimeError, OSError, zlib.error):
        return ZIP
    for found in _ZIP_MIME_TYPES:
        if mime_type.startswith(found.media_type.encode()):
            return found
    by_member = next((found for member, found in _ZIP_MEMBERS if member in members), None)
    if by_member is None and _PACKAGE in members:
        folders = (found for folder, found in _PACKAGE_FOLDERS if any(member.startswith(folder) for member in members))
        by_member = next(folders, None)
    return by_member or ZIP


def _ole_format(path: Path, start: bytes) -> Format:
    # [MS-CFB]: sector size as a power of two at offset 30, first directory sector at offset 48.
    sector_size = 1 << min(int.from_bytes(start[30:32], "little"), 12)
    directory_sector = int.from_bytes(start[48:52], "little")
    with opened(path) as file:
        file.seek((directory_sector + 1) * sector_size)
        directory = file.read(_DIRECTORY_SECTORS * sector_size)
    names = {entry[: max(int.from_bytes(entry[64:66], "little") - 2, 0)] for entry in _entries(directory)}
    known = [(stream.encode("utf-16-le"), found) for stream, found in _OLE_STREAMS]
    if not any(stream in names for stream, _ in known):
        # The directory is scattered over the file.
        names = {name.encode("utf-16-le") for name in root_names(path)}
    return next((found for stream, found in known if stream in names), OLE)


def _entries(directory: bytes) -> list[bytes]:
    """The entries of a directory: 128 bytes each, of which the first 64 are the name and the next two its length."""
    return [directory[at : at + 128] for at in range(0, len(directory), 128)]
