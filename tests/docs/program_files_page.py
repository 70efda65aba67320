"""The files that programs wrote: which program made each, as a page beside them and as a table of formats."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

FILES = Path(__file__).parents[1] / "files"
_SOURCES = ("waterworks", "tea", "reading-room", "workshop", "observatory", "bakery")

PROGRAMS = {
    "7z": "7-Zip 26.02",
    "abiword": "AbiWord 3.0.5, from a document of Pandoc's",
    "chromium": "Chromium 156, printed or its DOM or a screenshot (with fewer colours)",
    "docutils": "Docutils 0.22, from reStructuredText",
    "docx-js": "docx 9.15 for Node.js",
    "epub-gen": "epub-gen-memory 1.1 for Node.js",
    "exceljs": "ExcelJS 4.4 for Node.js",
    "ffmpeg": "FFmpeg 5.1",
    "fpdf2": "fpdf2 2.8",
    "ghostscript": "groff 1.22.4 (-ms) and Ghostscript 10.00",
    "git": "Git 2.39, `git format-patch`",
    "gnu-tar": "GNU tar 1.34 and gzip",
    "gnumeric": "Gnumeric 1.12 (ssconvert), from a workbook of openpyxl's",
    "groff": "groff 1.22.4 (-man) and col",
    "iconv": "Pandoc 2.17 and iconv",
    "img2pdf": "Ghostscript 10.00 and img2pdf 0.6",
    "info-zip": "Info-ZIP 3.0",
    "jupytext": "Jupytext 1.19",
    "libreoffice": "LibreOffice 7.4.7",
    "lxml": "lxml 6.1",
    "markdownify": "markdownify 1.2",
    "mime-lite": "Perl's MIME::Lite 3.033",
    "mutt": "Mutt 2.2.12, its folder of sent mail",
    "nbformat": "nbformat 5.11",
    "nodemailer": "Nodemailer 10.6 for Node.js",
    "odfpy": "odfpy 1.4",
    "openpyxl": "openpyxl 3.1",
    "pandas": "pandas 3.1",
    "pandoc": "Pandoc 2.17",
    "pdfkit": "PDFKit 0.20 for Node.js",
    "pdflatex": "pdfTeX of TeX Live 2022, with bitmap fonts in the Cork encoding",
    "pillow": "Chromium 156 and Pillow",
    "pptxgenjs": "PptxGenJS 4.0 for Node.js (packed smaller)",
    "prettier": "Prettier 3.10",
    "python": "Python 3.11's standard library",
    "python-docx": "python-docx 1.2",
    "python-markdown": "Python-Markdown 3.11",
    "python-pptx": "python-pptx 1.0",
    "python-srt": "srt 3.5 for Python",
    "pyyaml": "PyYAML 6.0",
    "reportlab": "ReportLab 5.1",
    "scanned": "WeasyPrint 70 and Ghostscript 10.00",
    "sheetjs": "SheetJS 0.18 for Node.js",
    "sphinx": "Sphinx 9.0",
    "sqlite": "SQLite 3.40",
    "tomli-w": "tomli-w 1.2",
    "turndown": "Turndown 7.2 for Node.js",
    "typst": "Typst 0.15",
    "w3m": "w3m 0.5.3",
    "weasyprint": "WeasyPrint 70",
    "webvtt-py": "webvtt-py 0.6",
    "xlsxwriter": "XlsxWriter 3.3",
    "xlwt": "xlwt 1.3",
}

_EXTENSIONS = {
    "PDF": "pdf",
    "pictures": "png jpg webp tiff",
    "Word (.docx)": "docx",
    "Word 97 (.doc)": "doc",
    "OpenDocument text": "odt",
    "RTF": "rtf",
    "PowerPoint (.pptx)": "pptx",
    "PowerPoint 97 (.ppt)": "ppt",
    "OpenDocument presentation": "odp",
    "Excel (.xlsx)": "xlsx",
    "Excel 97 (.xls)": "xls",
    "OpenDocument spreadsheet": "ods",
    "CSV, TSV": "csv tsv",
    "EPUB": "epub",
    "HTML": "html",
    "Markdown": "md",
    "plain text": "txt",
    "source code, YAML, TOML": "ts yaml toml",
    "XML": "xml",
    "JSON": "json",
    "Jupyter notebook": "ipynb",
    "subtitles": "srt vtt",
    "e-mail": "eml",
    "mailbox": "mbox",
    "archives": "zip gz",
    "Excel, binary (.xlsb), refused": "xlsb",
}

_HEAD = """# Files that programs wrote

Small files as real programs write them, most of them of one of the texts in `sources`, by which tests know what must be
found. Made for these tests; CC0-1.0. Three are not quite as they were written: of the .ppt files the preview picture
was taken out, `stock-libreoffice.csv` and `tea-libreoffice.txt` were converted by iconv to GBK and GB 18030. Made from
the folder: `python -m tests.docs.reference_pages`.

| file | program |
|---|---|
"""


def program_files_page() -> str:
    """The README of the folder. Raises `KeyError` for a file of an unknown program."""
    rows = [f"| {name} | {PROGRAMS[program_of(name)]} |" for name in file_names()]
    return _HEAD + "\n".join(rows) + "\n"


def program_files_table() -> str:
    """For each kind of file those that programs wrote, as links from `docs`."""
    by_extension: dict[str, list[str]] = defaultdict(list)
    for name in file_names():
        by_extension[name.rpartition(".")[2]].append(name)
    rows = []
    for kind, extensions in _EXTENSIONS.items():
        names = [name for extension in extensions.split() for name in by_extension.pop(extension)]
        rows.append(f"| {kind} | {', '.join(f'[{name}](../tests/files/{name})' for name in names)} |")
    if by_extension:
        raise KeyError(f"no kind of file is told for {sorted(by_extension)}")
    return "| kind | files |\n|---|---|\n" + "\n".join(rows) + "\n"


def file_names() -> list[str]:
    return sorted(path.name for path in FILES.iterdir() if path.is_file() and path.name != "README.md")


def program_of(name: str) -> str:
    """The program's key: what stands behind the text's name."""
    stem = name.partition(".")[0]
    source = next((source for source in _SOURCES if stem.startswith(f"{source}-")), "")
    rest = stem.removeprefix(f"{source}-")
    while rest not in PROGRAMS:
        _, dash, rest = rest.partition("-")
        if not dash:
            raise KeyError(f"nobody says which program wrote {name}")
    return rest
