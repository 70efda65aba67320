from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import FileMalformed, NoText
from wenyuan.parsers.reading import read_file
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent


def read(folder: Path, notebook: Any) -> list[ReadEvent]:
    path = folder / "a.ipynb"
    path.write_text(notebook if isinstance(notebook, str) else json.dumps(notebook, ensure_ascii=False))
    return list(read_file(path, "a.ipynb", "application/x-ipynb+json"))


def cell(kind: str, source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": kind, "source": source.splitlines(keepends=True), "outputs": list(outputs)}


@pytest.mark.proves("notebook", "text", "anchors")
def test_cells_code_and_what_it_printed(tmp_path: Path) -> None:
    events = read(
        tmp_path,
        {
            "cells": [
                cell("markdown", "# 数据分析\n\n说明文字。\n## 读取\n- a\n- b"),
                cell(
                    "code",
                    "df = read()\ndf",
                    {
                        "output_type": "execute_result",
                        "data": {"text/html": "<table>", "text/plain": ["   a\n", "0  1"]},
                    },
                    {"output_type": "stream", "text": "hello \x1b[31mred\x1b[0m\n"},
                    {
                        "output_type": "display_data",
                        "data": {"image/png": "iVBO", "text/plain": "<Figure with 1 Axes>"},
                    },
                    {"output_type": "error", "ename": "KeyError", "evalue": "'销售额'", "traceback": ["…"]},
                ),
                cell("code", ""),
                cell("markdown", "## 结论\n完。"),
            ],
            "nbformat": 4,
            "metadata": {},
        },
    )
    blocks = [event for event in events if isinstance(event, Block)]
    assert [(block.kind, block.text, block.anchor.first, block.anchor.name) for block in blocks] == [
        ("heading", "# 数据分析", 1, "markdown"),
        ("paragraph", "说明文字。", 1, "markdown"),
        ("heading", "## 读取", 1, "markdown"),
        ("list", "- a", 1, "markdown"),
        ("list", "- b", 1, "markdown"),
        ("code", "df = read()\ndf", 2, "code"),
        ("code", "   a\n0  1", 2, "output"),
        ("code", "hello red", 2, "output"),
        ("code", "KeyError: '销售额'", 2, "output"),
        ("heading", "## 结论", 4, "markdown"),
        ("paragraph", "完。", 4, "markdown"),
    ]
    assert blocks[5].heading_path == ("数据分析", "读取")
    assert blocks[-1].heading_path == ("数据分析", "结论")
    assert blocks[5].anchor == Anchor("cell", 2, 2, "code")
    assert [event.code for event in events if isinstance(event, Notice)] == ["pictures-skipped"]
    facts = [event for event in events if isinstance(event, Facts)][-1]
    assert (facts.title, facts.quality) == ("数据分析", {"cells": 4, "pictures": 1})


def test_the_version_before(tmp_path: Path) -> None:
    old = {
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Old"},
                    {"cell_type": "code", "input": ["1 + 1"], "outputs": [{"output_type": "pyout", "text": ["2"]}]},
                ]
            }
        ],
        "nbformat": 3,
    }
    found = [(event.text, event.heading_path) for event in read(tmp_path, old) if isinstance(event, Block)]
    assert found == [("## Old", ("Old",)), ("1 + 1", ("Old",)), ("2", ("Old",))]


@pytest.mark.parametrize("content", ["[" * 100_000, "{", "[]", '{"a": 1}', '"text"'])
def test_what_is_no_notebook(tmp_path: Path, content: str) -> None:
    with pytest.raises(FileMalformed):
        read(tmp_path, content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from("cells cell_type source outputs data text output_type text/plain ename".split()),
        inner, max_size=4,
    ),
)  # fmt: skip


@pytest.mark.proves("notebook", "limits")
@given(JSON)
def test_any_shape_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, cells: Any) -> None:
    with suppress(NoText):
        read(tmp_path_factory.getbasetemp(), {"cells": cells, "metadata": cells})
