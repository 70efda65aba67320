from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.text.code import CodeParser, _PythonScope, code_blocks
from wenyuan.rules.chunking import text_piece
from wenyuan.types import Block

PYTHON = '''"""Module
text"""
import os


class Outer:
    """Doc."""

    # about run
    @staticmethod
    def run(
        self,
    ):
        text = """
not indented
"""
        return text

    async def wait(self):
        def inner():
            pass
        return inner


# about top
def top():
    pass
X = 1
'''


def read(folder: Path, name: str, text: str) -> list[Block]:
    path = folder / "stored"
    path.write_text(text)
    return [event for event in CodeParser().read(path, name) if isinstance(event, Block)]


@pytest.mark.proves("code", "headings")
def test_python_by_its_definitions(tmp_path: Path) -> None:
    blocks = read(tmp_path, "a.py", PYTHON)
    first_lines = {block.text.split("\n")[0].strip(): block.heading_path for block in blocks}
    assert first_lines == {
        '"""Module': (),
        "class Outer:": ("Outer",),
        "# about run": ("Outer", "run"),
        "async def wait(self):": ("Outer", "wait"),
        "def inner():": ("Outer", "wait", "inner"),
        "return inner": ("Outer", "wait"),
        "# about top": ("top",),
        "X = 1": (),
    }


@pytest.mark.proves("code", "text", "anchors")
@given(
    st.lists(st.sampled_from(["x = 1", "    y", "def f():", "class C:", "", " ", '"""', "# c", "@d", ")"]), max_size=20)
)
def test_lines_are_the_files_and_blocks_join_to_it(lines: list[str]) -> None:
    blocks = list(code_blocks(lines, _PythonScope()))
    for block in blocks:
        assert block.text.split("\n") == lines[block.anchor.first - 1 : block.anchor.last]
    assert [line for block in blocks for line in block.text.split("\n")] == [line for line in lines if line.strip()]


def test_blank_lines_are_kept(tmp_path: Path) -> None:
    text = "a:\n  b: 1\n\nc: 2\n\n\nd: 3"
    blocks = read(tmp_path, "a.yaml", text)
    assert "".join(text_piece(block, number == 0) for number, block in enumerate(blocks)) == text
    assert {block.heading_path for block in blocks} == {()}


def test_a_long_run_comes_in_several_blocks(tmp_path: Path) -> None:
    text = "\n".join(f"value_{number} = {number}" for number in range(3000))
    blocks = read(tmp_path, "a.toml", text)
    assert len(blocks) > 2
    assert "".join(text_piece(block, number == 0) for number, block in enumerate(blocks)) == text
