"""What is written into pipes: plain, whole, aligned by display columns, and never an escape sequence."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.doors.cli.output import Column, Output, as_json, printable
from wenyuan.types import Anchor, Chunk


def written(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_a_pipe_gets_whole_lines_without_style() -> None:
    stream = io.StringIO()
    Output(stream).line(("bold", "bold red"), " [not markup] :smile: ", "长" * 300, indent=2)
    assert written(stream) == [f"  bold [not markup] :smile: {'长' * 300}"]


def test_a_table_is_aligned_by_display_columns() -> None:
    stream = io.StringIO()
    Output(stream).table(
        [Column("name"), Column("n", "right"), Column("state")], [["周会", "7", "ok"], ["abc", "12", ""]]
    )
    assert written(stream) == ["name   n  state", "周会   7  ok", "abc   12"]


def test_a_cell_stays_on_its_line() -> None:
    stream = io.StringIO()
    Output(stream).table([Column("name")], [["two\nlines\tof it"]])
    assert written(stream) == ["name", "two lines of it"]


@given(st.text())
def test_nothing_that_steers_a_terminal_is_printed(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not set(shown) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert printable("保留\t这些\n") == "保留\t这些\n"


def test_values_become_json_by_their_fields() -> None:
    chunk = Chunk(3, "text", 0, 4, Anchor("lines", 1, 2), ("a", "b"))
    assert as_json({"chunk": chunk, "path": Path("notes") / "a.md", "none": None}) == {
        "chunk": {
            "seq": 3,
            "text": "text",
            "start": 0,
            "end": 4,
            "anchor": {"kind": "lines", "first": 1, "last": 2, "name": "", "columns": None, "boxes": []},
            "heading_path": ["a", "b"],
            "context": "",
        },
        "path": "notes/a.md",
        "none": None,
    }


def test_json_is_utf_8_whatever_the_locale_and_however_strange_the_path() -> None:
    program = "from wenyuan.doors.cli.output import write_json; write_json({'path': 'caf\\udce9', 'text': '文渊'})"
    environment = {"PYTHONIOENCODING": "latin-1", "PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
    assert json.loads(run.stdout) == {"path": "caf\udce9", "text": "文渊"}
    assert "文渊".encode() in run.stdout
