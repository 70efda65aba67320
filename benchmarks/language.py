"""The language side: passages to postings and keys, questions to plans, hits to highlights, on one core.

Times are processor time of this process, so other work on the machine matters little.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.corpus import ROOT
from benchmarks.report import table
from wenyuan.language.coverage import CoverageReader
from wenyuan.language.highlights import highlights
from wenyuan.language.postings import read_chunk
from wenyuan.language.questions.reading import read_question
from wenyuan.language.scripts import language_of
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.types import Anchor, Chunk

_LIBRARY = ROOT / "examples" / "library"
_PASSAGES = 3000
_ROUNDS = 3
_TODAY = datetime.date(2026, 4, 20)
_CHARACTERS = {"zh": 400, "en": 800}
_QUESTIONS = {
    "zh": (
        "健康体检的费用由谁承担？",
        "2026年4月14日的会议说了什么",
        "PPR-9087 的密封件多久更换",
        "1.2.3 版本修复了哪些问题",
    ),
    "en": (
        "who pays for the health check?",
        "what was said on April 14, 2026",
        "PPR-9087 seal",
        "what changed in 1.2.3",
    ),
}


def measure() -> str:
    header = (
        "text",
        "postings and keys, MB/s",
        "the same with a vocabulary",
        "question, ms",
        "highlights of a hit, ms",
        "coverage of a candidate, ms",
    )
    return table("Language, on one core", header, [_measured("zh", "Chinese"), _measured("en", "English")])


def _measured(language: str, name: str) -> Sequence[object]:
    chunks, questions = _passages(language), _QUESTIONS[language]
    vocabulary = Vocabulary(tuple({word for chunk in chunks[:300] if (word := chunk.text[:4]).isalpha()}))
    megabytes = sum(len(chunk.text.encode()) for chunk in chunks) / 1e6
    plans = [read_question(question, _TODAY) for question in questions]
    hits = [(plan, chunk) for chunk in chunks[:250] for plan in plans]
    asked = [question for question in questions for _ in range(50)]
    readers = [(CoverageReader(dict.fromkeys(plan.tokens, 1.0)), chunk) for plan, chunk in hits]
    return (
        name,
        megabytes / _seconds(lambda: [read_chunk("a.md", chunk) for chunk in chunks]),
        megabytes / _seconds(lambda: [read_chunk("a.md", chunk, vocabulary) for chunk in chunks]),
        _seconds(lambda: [read_question(question, _TODAY) for question in asked]) / len(asked) * 1000,
        _seconds(lambda: [highlights(chunk.text, plan) for plan, chunk in hits]) / len(hits) * 1000,
        _seconds(lambda: [reader.read("", chunk.text) for reader, chunk in readers]) / len(hits) * 1000,
    )


def _passages(language: str) -> list[Chunk]:
    texts = [text for text in _texts() if language_of(text) == language]
    size = _CHARACTERS[language]
    pieces = [text[at : at + size] for text in texts for at in range(0, len(text), size)]
    return [
        Chunk(0, piece, 0, len(piece), Anchor("lines", 1, 1), (f"{number // 20} {piece[:12]}",))
        for number, piece in enumerate((pieces * (_PASSAGES // len(pieces) + 1))[:_PASSAGES])
    ]


def _texts() -> Iterator[str]:
    for path in sorted(_LIBRARY.rglob("*.md")):
        yield path.read_text("utf-8")


def _seconds(run: Callable[[], Sequence[object]]) -> float:
    """The best of a few rounds."""
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.process_time()
        run()
        best = min(best, time.process_time() - began)
    return best
