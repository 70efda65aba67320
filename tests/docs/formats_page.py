"""The table of formats, made from the tests that prove each of its cells.

A test says what it proves with `@pytest.mark.proves("docx", "text", "tables", file="handbook.docx")`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.docs.program_files_page import program_files_table

TESTS = Path(__file__).resolve().parents[1]

CLAIMS = ("text", "tables", "headings", "anchors", "metadata", "recognition", "limits")
"""What can be proved of a format, in the order of the table's columns."""

FORMATS = {
    "pdf": "PDF with a text layer",
    "scan": "PDF of scanned pages",
    "picture": "PNG, JPEG, WebP, TIFF, BMP, GIF",
    "docx": "Word (.docx, .docm)",
    "doc": "Word 97 (.doc)",
    "odt": "OpenDocument text (.odt)",
    "rtf": "RTF",
    "pptx": "PowerPoint (.pptx)",
    "ppt": "PowerPoint 97 (.ppt)",
    "odp": "OpenDocument presentation (.odp)",
    "xlsx": "Excel (.xlsx, .xlsm)",
    "xls": "Excel 97 (.xls)",
    "ods": "OpenDocument spreadsheet (.ods)",
    "csv": "CSV, TSV",
    "epub": "EPUB",
    "html": "HTML",
    "markdown": "Markdown",
    "text": "plain text",
    "code": "source code, YAML, TOML, INI",
    "xml": "XML",
    "json": "JSON, JSON Lines",
    "notebook": "Jupyter notebook",
    "subtitles": "SubRip, WebVTT",
    "eml": "e-mail (.eml, .mht)",
    "msg": "Outlook message (.msg)",
    "mbox": "mailbox (.mbox)",
    "archive": "ZIP, tar",
}

_HEAD = """# Formats

What Wenyuan reads, and the test that proves it. An empty cell is not proved, or the format has no such thing. A file
is known by what is in it, not by its name; a wrong name is a notice. *Limits* are hostile files: each ends soon, within
its memory, with a code, and the next file is read. Made from the tests: `python -m tests.docs.reference_pages`.
"""


_PROGRAMS = """## Files of other programs

Besides what tests make, these files are read, each as its program wrote it: what must be found in it is known from the
text that the program was given. [Which program made which](../tests/files/README.md).
"""


class Proof(NamedTuple):
    format: str
    claim: str
    file: str
    test: str
    line: int
    name: str


def proofs(folder: Path = TESTS) -> Iterator[Proof]:
    """Every cell that some test below `folder` proves."""
    for path in sorted(folder.rglob("test_*.py")):
        text = path.read_text("utf-8")
        if "mark.proves" in text:
            yield from _proofs_of(ast.parse(text), path.relative_to(folder).as_posix())


def _proofs_of(tree: ast.Module, test: str) -> Iterator[Proof]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.proves"):
                named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in mark.keywords}
                kind, *claims = [ast.literal_eval(argument) for argument in mark.args]
                for claim in claims:
                    yield Proof(kind, claim, named.get("file", ""), test, node.lineno, node.name)


def formats_page() -> str:
    cells: dict[tuple[str, str], list[Proof]] = defaultdict(list)
    for proof in proofs():
        cells[proof.format, proof.claim].append(proof)
    lines = [_HEAD, f"| format | {' | '.join(CLAIMS)} |", f"|{'---|' * (len(CLAIMS) + 1)}"]
    for kind, words in FORMATS.items():
        shown = [_cell(cells[kind, claim]) for claim in CLAIMS]
        lines.append(f"| {words} | {' | '.join(shown)} |")
    return "\n".join([*lines, "", _PROGRAMS, program_files_table()])


def _cell(found: list[Proof]) -> str:
    """A link to the file that proves it, or to the test that makes one."""
    shown: dict[str, str] = {}
    # A file that can be looked at says more than a test that makes one.
    for proof in sorted(found, key=lambda proof: not proof.file):
        label = proof.file or "made by the test"
        shown.setdefault(label, f"[{label}](../tests/{proof.test})")
    return ", ".join(list(shown.values())[:2])
