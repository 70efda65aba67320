"""Readers: pages and megabytes a second beside the libraries people take otherwise, in one run on one core."""

from __future__ import annotations

import importlib
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.report import table
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.types import Block

_PAGES = 300
_LONG_PAGES = 3_000
_PARAGRAPHS = 30_000
_ROWS, _COLUMNS = 20_000, 10

_CHINESE = "水位计每两年校准一次，记录保存在值班室，任何人不得擅自修改，发现偏差应当立即报告。"
_ENGLISH = "The gauge is calibrated every other year and the record is kept in the duty room. "
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@dataclass(frozen=True, slots=True)
class _Reading:
    seconds: float
    characters: int
    megabytes: float


def measure() -> str:
    """Make the files, read them with ours and theirs, and return the table."""
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows += _compared(_pdf(folder / "english.pdf", _PAGES, chinese=False), _PAGES, "pages", _PDF_PEERS)
        rows += _compared(_pdf(folder / "chinese.pdf", _PAGES, chinese=True), _PAGES, "pages", _PDF_PEERS)
        rows += _compared(_pdf(folder / "long.pdf", _LONG_PAGES, chinese=True), _LONG_PAGES, "pages", {})
        rows += _compared(_document(folder / "long.docx"), _PARAGRAPHS, "paragraphs", {"python-docx": _python_docx})
        rows += _compared(_workbook(folder / "large.xlsx"), _ROWS * _COLUMNS, "cells", _SHEET_PEERS)
    header = ("file", "units", "reader", "seconds", "units/s", "MB/s", "characters", "peak MB", "seconds ÷ ours")
    return table("Readers", header, rows)


def _compared(
    path: Path, count: int, unit: str, peers: Mapping[str, Callable[[Path], int]]
) -> Iterator[tuple[object, ...]]:
    size = path.stat().st_size / 1e6
    ours = _ours(path)
    yield _row(path, f"{count:,} {unit}", "Wenyuan", ours, count, size, ours)
    for name, read in peers.items():
        began = time.perf_counter()
        try:
            characters = read(path)
        except ModuleNotFoundError as missing:
            yield (path.name, "", name, f"not installed ({missing.name})", "", "", "", "", "")
            continue
        theirs = _Reading(time.perf_counter() - began, characters, 0.0)
        yield _row(path, f"{count:,} {unit}", name, theirs, count, size, ours)


def _row(
    path: Path, units: str, name: str, reading: _Reading, count: int, size: float, ours: _Reading
) -> tuple[object, ...]:
    return (
        path.name,
        units,
        name,
        reading.seconds,
        count / reading.seconds,
        size / reading.seconds,
        reading.characters,
        reading.megabytes or "",
        reading.seconds / ours.seconds,
    )


def _ours(path: Path) -> _Reading:
    """The whole reader as ingestion uses it: child process, pipe and checks; its start is counted apart."""
    with SandboxedReader(ReadLimits(parse_seconds=600.0)) as reader:
        list(reader.read(_small(path.parent), "small.txt"))
        watch = _PeakMemory(reader.process_id or 0)
        began = time.perf_counter()
        characters = sum(len(event.text) for event in reader.read(path, path.name) if isinstance(event, Block))
        return _Reading(time.perf_counter() - began, characters, watch.stop())


def _small(folder: Path) -> Path:
    path = folder / "small.txt"
    path.write_text("a child that has started", "utf-8")
    return path


class _PeakMemory:
    """Looks at a process until it is stopped."""

    def __init__(self, process_id: int) -> None:
        self._process = psutil.Process(process_id)
        self._stopped = threading.Event()
        self._peak = 0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> float:
        self._stopped.set()
        self._thread.join()
        return self._peak / 1e6

    def _watch(self) -> None:
        while not self._stopped.wait(0.02):
            try:
                self._peak = max(self._peak, self._process.memory_info().rss)
            except psutil.NoSuchProcess:
                return


def _raw_pdfium(path: Path) -> int:
    pdfium = importlib.import_module("pypdfium2")
    document = pdfium.PdfDocument(path)
    return sum(len(document[number].get_textpage().get_text_range()) for number in range(len(document)))


def _pypdf(path: Path) -> int:
    return sum(len(page.extract_text()) for page in importlib.import_module("pypdf").PdfReader(path).pages)


def _pdfplumber(path: Path) -> int:
    with importlib.import_module("pdfplumber").open(path) as document:
        return sum(len(page.extract_text()) for page in document.pages)


def _python_docx(path: Path) -> int:
    return sum(len(paragraph.text) for paragraph in importlib.import_module("docx").Document(path).paragraphs)


def _openpyxl(path: Path) -> int:
    book = importlib.import_module("openpyxl").load_workbook(path, read_only=True)
    return sum(len(str(value)) for sheet in book for row in sheet.iter_rows(values_only=True) for value in row)


def _calamine(path: Path) -> int:
    book = importlib.import_module("python_calamine").CalamineWorkbook.from_path(path)
    rows = (row for name in book.sheet_names for row in book.get_sheet_by_name(name).iter_rows())
    return sum(len(str(value)) for row in rows for value in row)


_PDF_PEERS = {"raw pypdfium2": _raw_pdfium, "pypdf": _pypdf, "pdfplumber": _pdfplumber}
_SHEET_PEERS = {"openpyxl": _openpyxl, "python-calamine": _calamine}


def _pdf(path: Path, pages: int, *, chinese: bool) -> Path:
    """A PDF of full pages of text, in a font that every reader knows by name."""
    if chinese:
        font = (
            b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[<</Type/Font"
            b"/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>"
            b"/DW 1000/FontDescriptor<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/FontBBox[0 -200 1000 900]"
            b"/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 700/StemV 80>>>>]>>"
        )
        line = "<{}> Tj"
        written = [f"{number:04d}{_CHINESE[:34]}".encode("utf-16-be").hex() for number in range(48 * pages)]
    else:
        font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
        line = "({}) Tj"
        written = [f"{number} {_ENGLISH}" for number in range(48 * pages)]
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", font]
    for number in range(pages):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % (5 + 2 * number)
        )
        lines = " T* ".join(line.format(words) for words in written[48 * number : 48 * number + 48])
        drawing = f"BT /F1 11 Tf 15 TL 60 780 Td {lines} ET".encode()
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing))
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(pages))
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages)
    body, places = bytearray(b"%PDF-1.4\n"), []
    for position, value in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (position, value)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    body += b"".join(b"%010d 00000 n \n" % place for place in places)
    body += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    path.write_bytes(body)
    return path


def _document(path: Path) -> Path:
    """A Word document of about 870 pages."""
    paragraph = "<w:p><w:r><w:t>{}</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>"
    body = "".join(paragraph.format(number, _CHINESE if number % 2 else _ENGLISH) for number in range(_PARAGRAPHS))
    relations = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{relations}/package/2006/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
            'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
            '.wordprocessingml.document.main+xml"/></Types>',
        )
        package.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}/package/2006/relationships"><Relationship Id="r1" '
            f'Type="{relations}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
            "</Relationships>",
        )
        package.writestr("word/document.xml", f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>')
    return path


def _workbook(path: Path) -> Path:
    openpyxl = importlib.import_module("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("数据")
    for row in range(_ROWS):
        sheet.append([f"泵站 {row % 97}" if column % 3 == 0 else row * column / 7 for column in range(_COLUMNS)])
    book.save(path)
    return path
