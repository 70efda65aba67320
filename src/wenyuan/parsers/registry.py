"""Which parser reads which media type. A parser's module is loaded when its type is first met."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from wenyuan.ports import Parser

ENTRY_POINT_GROUP = "wenyuan.parsers"
"""Other packages register a parser here: the entry point's name is the media type it reads."""

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_BUILT_IN = {
    "text/plain": "wenyuan.parsers.text.plain:TextParser",
    "text/markdown": "wenyuan.parsers.text.markdown:MarkdownParser",
    "text/html": "wenyuan.parsers.html.page:HtmlParser",
    "text/csv": "wenyuan.parsers.text.csv:CsvParser",
    "text/tab-separated-values": "wenyuan.parsers.text.csv:CsvParser",
    "application/json": "wenyuan.parsers.text.json:JsonParser",
    "application/x-ndjson": "wenyuan.parsers.text.json_lines:JsonLinesParser",
    "text/x-yaml": "wenyuan.parsers.text.configuration:ConfigurationParser",
    "text/x-toml": "wenyuan.parsers.text.configuration:ConfigurationParser",
    "text/x-ini": "wenyuan.parsers.text.configuration:ConfigurationParser",
    "text/x-source": "wenyuan.parsers.text.code:CodeParser",
    "application/vnd.wenyuan.converted.unstructured": "wenyuan.parsers.converted.unstructured:UnstructuredParser",
    "application/vnd.wenyuan.converted.tika": "wenyuan.parsers.converted.tika:TikaParser",
    "application/vnd.wenyuan.converted.mineru": "wenyuan.parsers.converted.mineru:MineruParser",
    "application/vnd.wenyuan.converted.mineru-tasks": "wenyuan.parsers.converted.mineru:MineruTasksParser",
    "application/zip": "wenyuan.parsers.archives.zip_members:ZipParser",
    "application/x-tar": "wenyuan.parsers.archives.tar_members:TarParser",
    "application/gzip": "wenyuan.parsers.archives.tar_members:CompressedParser",
    "application/x-bzip2": "wenyuan.parsers.archives.tar_members:CompressedParser",
    "application/x-xz": "wenyuan.parsers.archives.tar_members:CompressedParser",
    f"{_OPEN_XML}.wordprocessingml.document": "wenyuan.parsers.word.parser:WordParser",
    "application/epub+zip": "wenyuan.parsers.epub.parser:EpubParser",
    "application/msword": "wenyuan.parsers.word.legacy:LegacyWordParser",
    "application/vnd.ms-powerpoint": "wenyuan.parsers.slides.legacy:LegacySlidesParser",
    "application/rtf": "wenyuan.parsers.rtf.parser:RtfParser",
    "application/vnd.oasis.opendocument.text": "wenyuan.parsers.open_document.parser:OpenDocumentParser",
    "application/vnd.oasis.opendocument.presentation": "wenyuan.parsers.open_document.slides:OpenDocumentSlidesParser",
    f"{_OPEN_XML}.presentationml.presentation": "wenyuan.parsers.slides.parser:SlidesParser",
    f"{_OPEN_XML}.spreadsheetml.sheet": "wenyuan.parsers.sheets.xlsx:XlsxParser",
    "application/pdf": "wenyuan.parsers.pdf.parser:PdfParser",
    "image/png": "wenyuan.parsers.pictures.parser:PictureParser",
    "image/jpeg": "wenyuan.parsers.pictures.parser:PictureParser",
    "image/webp": "wenyuan.parsers.pictures.parser:PictureParser",
    "image/tiff": "wenyuan.parsers.pictures.parser:PictureParser",
    "image/bmp": "wenyuan.parsers.pictures.parser:PictureParser",
    "image/gif": "wenyuan.parsers.pictures.parser:PictureParser",
    "application/x-ipynb+json": "wenyuan.parsers.text.notebook:NotebookParser",
    "application/x-subrip": "wenyuan.parsers.text.subtitles:SubtitlesParser",
    "text/vtt": "wenyuan.parsers.text.subtitles:SubtitlesParser",
    "message/rfc822": "wenyuan.parsers.mail.parser:MailParser",
    "application/mbox": "wenyuan.parsers.mail.mailbox_file:MailboxParser",
    "application/vnd.ms-outlook": "wenyuan.parsers.mail.outlook:OutlookParser",
    "application/x-ole-encrypted": "wenyuan.parsers.office.encrypted_office:EncryptedOfficeParser",
    "application/vnd.ms-excel": "wenyuan.parsers.sheets.xls:XlsParser",
    "application/vnd.oasis.opendocument.spreadsheet": "wenyuan.parsers.sheets.ods:OdsParser",
}


@cache
def parser_for(media_type: str) -> Parser | None:
    """Return the parser of `media_type`, or None if there is none.

    What comes with Wenyuan goes before what other packages register.
    """
    reference = _reference(media_type)
    if reference is None:
        return None
    if not isinstance(reference, str):
        plugged: Parser = reference.load()()
        return plugged
    module, _, attribute = reference.partition(":")
    parser: Parser = getattr(importlib.import_module(module), attribute)()
    return parser


def is_read(media_type: str) -> bool:
    """Whether there is a parser of `media_type`; loads none."""
    return _reference(media_type) is not None


def _reference(media_type: str) -> str | EntryPoint | None:
    is_source = media_type.startswith("text/x-") and media_type not in _BUILT_IN
    family = "text/x-source" if is_source else media_type
    if family in _BUILT_IN:
        return _BUILT_IN[family]
    # Loads the standard library's e-mail parser, which is an eighth of the time in which a reader starts.
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=ENTRY_POINT_GROUP, name=media_type)), None)
