"""Halves of characters are put together or replaced, wherever a text is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.whole_characters import WholeCharacters, whole_characters


def test_halves_become_one_character_and_lone_ones_are_replaced() -> None:
    assert whole_characters("a\ud83d\ude00b") == "a😀b"
    assert whole_characters("a\ud83db\ude00") == "a\ufffdb\ufffd"


@given(st.text(st.characters(), max_size=20) | st.text(st.sampled_from("a\ud83d\ude00中"), max_size=20), st.data())
def test_where_it_is_cut_makes_no_difference(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    pieces = WholeCharacters()
    told = pieces.feed(text[:cut]) + pieces.feed(text[cut:]) + pieces.close()
    assert told == whole_characters(text)
    assert told.encode().decode() == told
