"""What was asked for exactly comes first; the same words come once."""

from __future__ import annotations

import datetime

import pytest

from wenyuan.language.questions.reading import read_question
from wenyuan.rules.ranking.selection import (
    Ranked,
    exact_first,
    missing,
    newest_first,
    precise_dates,
    tier_of,
    without_duplicates,
)

TODAY = datetime.date(2026, 11, 30)
SAID = {
    1: ("a.md", "每晚上限450元机票按经济舱报"),
    2: ("b.md", "每晚上限450元机票按经济舱报"),
    3: ("b.md", "每晚上限300元机票按经济舱报"),
    4: ("a.md", "机票按经济舱报"),
    5: ("c.md", "机票按经济舱报"),
}


def test_about_it_outranks_mentioning_it_outranks_the_rest() -> None:
    ordered = exact_first({1: 0.9, 2: 0.5, 3: 0.4, 4: 0.3}, {4: 0, 3: 1, 2: 0})
    assert [(one.chunk_key, one.tier) for one in ordered] == [(2, 0), (4, 0), (3, 1), (1, 2)]


def test_without_anything_exact_the_best_score_comes_first_and_ties_go_to_the_smaller_key() -> None:
    assert [one.chunk_key for one in exact_first({2: 0.9, 1: 0.9, 3: 0.1}, {})] == [1, 2, 3]


@pytest.mark.parametrize(
    ("strengths", "complete", "tier"),
    [([], True, 2), ([0], True, 0), ([2, 1], True, 0), ([3], True, 1), ([0, 3], True, 1), ([0], False, 1)],
)
def test_a_candidate_is_about_it_only_if_all_of_it_stands_above_its_text(
    strengths: list[int], complete: bool, tier: int
) -> None:
    assert tier_of(strengths, complete=complete) == tier


def test_what_says_the_same_is_kept_once_and_a_number_makes_a_difference() -> None:
    ranked = [Ranked(key, 1.0 - key / 10, 2) for key in (1, 2, 3, 4, 5)]
    kept, dropped = without_duplicates(ranked, SAID.__getitem__, 5)
    # 4 stands whole in 1, of the same document; 5 is another document that says only this.
    assert [one.chunk_key for one in kept] == [1, 3, 5]
    assert dropped == [(2, 1), (4, 1)]


def test_one_hit_is_one_hit() -> None:
    kept, dropped = without_duplicates([Ranked(1, 0.9, 2), Ranked(3, 0.8, 2)], SAID.__getitem__, 1)
    assert ([one.chunk_key for one in kept], dropped) == ([1], [])


def test_of_what_was_valid_then_the_newest_comes_first_and_what_came_later_last() -> None:
    ranked = [Ranked(1, 0.9, 2), Ranked(2, 0.8, 2), Ranked(3, 0.75, 2), Ranked(4, 0.2, 2), Ranked(5, 0.7, 2)]
    newest = {1: 100, 2: None, 3: 200, 4: 300}
    ordered = newest_first(ranked, newest, frozenset({2}))
    # 4 is newer still, but hardly about the question; 5 has no date.
    assert [one.chunk_key for one in ordered] == [3, 1, 5, 4, 2]


def test_what_was_asked_for_exactly_and_stands_nowhere_is_named() -> None:
    plan = read_question("2026年4月14日的 PPR-9087 会议", TODAY)
    assert missing(plan, held=False) == ("2026年4月14日", "PPR-9087")
    assert missing(plan, held=True) == ()
    assert missing(read_question("会议纪要", TODAY), held=False) == ()


def test_a_quarter_is_too_long_to_outrank_everything() -> None:
    assert precise_dates(read_question("2026年4月的会议", TODAY))
    assert not precise_dates(read_question("2026年第二季度的会议", TODAY))
