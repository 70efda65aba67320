from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wenyuan.parsers.registry import parser_for


@pytest.mark.parametrize(
    ("media_type", "name"),
    [
        ("text/plain", "TextParser"),
        ("text/markdown", "MarkdownParser"),
        ("text/html", "HtmlParser"),
        ("text/csv", "CsvParser"),
        ("text/tab-separated-values", "CsvParser"),
        ("application/json", "JsonParser"),
        ("application/x-ndjson", "JsonLinesParser"),
        ("text/x-python", "CodeParser"),
        ("text/x-yaml", "ConfigurationParser"),
        ("text/x-sql", "CodeParser"),
    ],
)
def test_each_type_has_its_parser(media_type: str, name: str) -> None:
    parser = parser_for(media_type)
    assert type(parser).__name__ == name
    assert parser_for(media_type) is parser


def test_a_type_that_nobody_reads() -> None:
    assert parser_for("application/x-nobody") is None


def test_only_what_a_file_needs_is_loaded(tmp_path: Path) -> None:
    """Neither the parent nor the child pays for the parsers of other types, or for what they import."""
    path = tmp_path / "a.txt"
    path.write_text("text")
    program = (
        "import sys\nfrom pathlib import Path\nimport wenyuan.parsers.sandbox\n"
        "from wenyuan.parsers.reading import read_file\n"
        f"list(read_file(Path({str(path)!r}), 'a.txt'))\n"
        "print(sorted({'numpy', 'yaml', 'markdown_it', 'lxml', 'wenyuan.parsers.html.page'} & set(sys.modules)))\n"
        "print('wenyuan.parsers.text.plain' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n")[:2] == ["[]", "True"]
