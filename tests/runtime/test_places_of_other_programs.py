"""A passage of a file that another program wrote leads back to its place: lines, cells, page, slide, message."""

from __future__ import annotations

import pytest

from tests.parsers.program_files import FILES
from wenyuan.runtime.library import Library

PLACES = (
    ("waterworks-libreoffice.pdf", "余氯 限值", "0.3～0.8 mg/L", "page"),
    ("workshop-pdflatex.pdf", "torque of the crank bolt", "38 N·m", "page"),
    ("stock-openpyxl.xlsx", "闸阀 库存", "Z41H-16C", "cells"),
    ("sales-gnumeric.xls", "Steel fork price", "129.00", "cells"),
    ("tea-python-pptx.pptx", "讲到这里时请看附表", "附表", "slide"),
    ("observatory-libreoffice.odp", "variable stars nights", "61", "slide"),
    ("workshop-groff.txt", "puncture price", "£6", "lines"),
    ("bakery-markdownify.md", "rye flour weight", "200 g", "lines"),
    ("sent-mutt.mbox", "blue tin keys", "blue tin", "message"),
    ("levels-nbformat.ipynb", "水位 结论 闸门", "不需要", "cell"),
    ("tea-pandoc.epub", "黄板 更换", "每亩二十五张", "chapter"),
    ("bakery-pandoc.rtf", "overnight at 4 °C", "Shape the loaves", "paragraph"),
)


@pytest.fixture
def filled(library: Library) -> Library:
    library.add(*(FILES / name for name, *_ in PLACES))
    return library


def test_each_passage_opens_at_its_place(filled: Library) -> None:
    for name, question, said, kind in PLACES:
        passages = [hit.passage for hit in filled.search(question, documents=[name], top_k=20).hits]
        passage = next(one for one in passages if said in one.chunk.text)
        place = filled.documents.open(passage.chunk_id)
        assert (place.document.name, place.passage) == (name, passage.chunk.text)
        anchor = passage.chunk.anchor
        assert (anchor.kind, 1 <= anchor.first <= anchor.last) == (kind, True)
        if kind == "page":
            assert filled.documents.picture(passage.chunk_id).png.startswith(b"\x89PNG")
        if kind == "lines":
            lines = (FILES / name).read_text("utf-8").splitlines()
            assert any(said in line for line in lines[anchor.first - 1 : anchor.last])
