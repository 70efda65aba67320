"""What was asked for exactly comes first; the same text comes once."""

from __future__ import annotations

from wenyuan.rules.selection import Ranked, exact_first, without_duplicates
from wenyuan.types import Anchor, Chunk, Passage


def passage(key: int, text: str) -> Passage:
    chunk = Chunk(0, text, 0, len(text), Anchor("lines", 1, 1))
    return Passage(key, f"rev.{key}", "doc", "rev", "kb", "a.txt", "/a.txt", "text/plain", 1, chunk)


def test_about_it_outranks_mentioning_it_outranks_the_rest() -> None:
    fused = [(1, 0.9), (2, 0.5), (3, 0.4), (4, 0.3)]
    ordered = exact_first(fused, {4: 0, 3: 3, 2: 2})
    assert [(one.chunk_key, one.tier) for one in ordered] == [(2, 0), (4, 0), (3, 1), (1, 2)]


def test_without_anything_exact_the_fused_order_stays() -> None:
    assert [one.chunk_key for one in exact_first([(2, 0.9), (1, 0.9), (3, 0.1)], {})] == [1, 2, 3]


def test_the_first_of_equal_texts_is_kept_and_the_others_are_named() -> None:
    passages = {1: passage(1, "同 样\n的话"), 2: passage(2, "同 样 的话"), 3: passage(3, "别的话")}
    kept, dropped = without_duplicates([Ranked(key, 1.0, 2) for key in (1, 2, 3)], passages)
    assert [one.chunk_key for one in kept] == [1, 3]
    assert dropped == [(2, 1)]
