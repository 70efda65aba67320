"""Long documents of this machine, character by character, against what their writers say is in them.

They are manuals that Debian's packages bring (debmake-doc, debian-reference-en, debian-reference-zh-cn, texlive-doc);
those that are not installed are skipped.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.parsers.reading_blocks import of
from wenyuan.parsers.pdf.letters import HYPHENS
from wenyuan.parsers.pictures.recognition import ReadingSettings, Recognition
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block

pytestmark = pytest.mark.soak

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
SHARE = Path("/usr/share")
WITH_TEXT = (
    "doc/debmake-doc/debmake-doc.zh-cn.pdf",
    "doc/debmake-doc/debmake-doc.zh-cn.epub",
    "debian-reference/debian-reference.zh-cn.pdf",
    "debian-reference/debian-reference.zh-tw.pdf",
    "doc/debmake-doc/debmake-doc.en.pdf",
    "doc/debmake-doc/debmake-doc.en.epub",
    "debian-reference/debian-reference.en.pdf",
)
OTHERS = (
    "doc/texlive-doc/web2c/web2c.pdf",
    "doc/texlive-doc/texlive/texlive-en/texlive-en.pdf",
    "doc/texlive-doc/luatex/base/luatex.pdf",
)


def blocks_of(name: str) -> list[Block]:
    path = SHARE / name
    if not path.exists():
        pytest.skip(f"{path} is not installed")
    return of(Block, list(read_file(path, path.name, recognition=Recognition(ReadingSettings("off")))))


def sixes(text: str) -> Counter[str]:
    """Every six Han characters that stand together but for what is no Han character."""
    han = re.sub(f"[^{HAN}]", "", text)
    return Counter(han[at : at + 6] for at in range(len(han) - 5))


@pytest.mark.parametrize("name", [*WITH_TEXT, *OTHERS])
def test_letters_are_plain_and_running_heads_are_out(name: str) -> None:
    blocks = blocks_of(name)
    text = "\n".join(block.text for block in blocks)
    assert not re.findall("[\u2e80-\u2fdf\ufb00-\ufb06]", text)
    assert not any(mark in text for mark in HYPHENS)
    pages = max(block.anchor.last for block in blocks)
    repeated = Counter(block.text for block in blocks if block.kind == "paragraph" and len(block.text) > 12)
    assert repeated.most_common(1)[0][1] < max(12, pages / 3)
    if name.endswith(".pdf"):
        assert (
            sum(bool(re.match(r"(?:CHAPTER|APPENDIX|Chapter) \d+\. \S", block.text)) for block in blocks) < pages / 20
        )
        assert sum(bool(re.fullmatch(r"[\divxlc]+(?: / \d+)?", block.text)) for block in blocks) < pages / 8


@pytest.mark.parametrize("name", WITH_TEXT)
def test_every_word_is_that_of_the_plain_text_beside_it(name: str) -> None:
    text = "\n".join(block.text for block in blocks_of(name))
    beside = SHARE / f"{name.rpartition('.')[0]}.txt.gz"
    written = gzip.decompress(beside.read_bytes()).decode()
    words, known = (Counter(re.findall("[A-Za-z]{3,}", one)) for one in (text, written))
    missing = sum(count for word, count in known.items() if word not in words)
    # Besides the words of addresses, which the plain text leaves out.
    strange = sum(count for word, count in words.items() if word not in known)
    assert missing < 0.001 * known.total()
    assert strange < 0.02 * words.total()
    han = len(re.findall(f"[{HAN}]", text))
    if han:
        # In PDF one line is stretched until its characters stand apart; in EPUB cells of tables are words side by side.
        stray = len(re.findall(f"[{HAN}] +[{HAN}]", text))
        assert stray < (0.00005 if name.endswith(".pdf") else 0.002) * han
        found, expected = sixes(text), sixes(written)
        assert (expected & found).total() > 0.9 * expected.total()
        assert (expected & found).total() > 0.93 * found.total()
