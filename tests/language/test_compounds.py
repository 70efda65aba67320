"""Compounds: words with joints inside, and their pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.compounds import ASCII_WORD, pieces

WORDS = st.from_regex(ASCII_WORD, fullmatch=True).filter(lambda word: "'" not in word)


@given(WORDS)
def test_pieces_stand_where_they_say(word: str) -> None:
    found = list(pieces(word))
    plain = word.replace(",", "")
    assert found[0] == (plain, 0)
    for piece, offset in found:
        assert piece
        assert piece in plain
        assert "," in word or word[offset : offset + len(piece)] == piece


@given(st.lists(st.sampled_from(["a", "bc", "12", "345", "v1"]), min_size=2, max_size=40), st.sampled_from("-.+~@/_"))
def test_every_part_that_is_no_short_number_is_a_piece(parts: list[str], joint: str) -> None:
    found = {piece for piece, _ in pieces(joint.join(parts))}
    assert {part for part in parts if not part.isdigit() or len(part) > 2} <= found


@pytest.mark.parametrize("word", ["c++", "c#", "redis", "x86"])
def test_a_word_without_joints_is_one_piece(word: str) -> None:
    assert ASCII_WORD.fullmatch(word)
    assert list(pieces(word)) == [(word, 0)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't stop", ["don", "stop"]),
        ("a--b a-b", ["a", "b", "a-b"]),
        ("1,234.50 and 1,23", ["1,234.50", "and", "1", "23"]),
        ("C++11 C++ c#", ["C", "11", "C++", "c#"]),
        ("std::vec a:b", ["std::vec", "a:b"]),
        ("end. Next", ["end", "Next"]),
    ],
)
def test_where_words_end(text: str, words: list[str]) -> None:
    assert ASCII_WORD.findall(text) == words
