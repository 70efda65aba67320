"""The reference page is what the program says of itself."""

from __future__ import annotations

from pathlib import Path

from wenyuan.doors.cli.reference import reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md"


def test_the_reference_page_is_the_programs_own() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: python -m wenyuan.doors.cli.reference > docs/reference/cli.md"
