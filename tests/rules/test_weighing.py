"""Every candidate is weighed by the same two things, and words count for what they are worth in its language."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.ranking.weighing import Evidence, weigh
from wenyuan.types import Nearness

share = st.floats(0.0, 1.0)


def evidence(
    key: int, words: float = 0.0, similarity: float | None = None, language: str = "en", bm25: float = 0.0
) -> Evidence:
    return Evidence(key, language, words, words, bm25, near(similarity))


def near(similarity: float | None) -> Nearness | None:
    return None if similarity is None else Nearness(similarity)


@given(st.lists(st.tuples(share, share, share, st.none() | st.floats(-1.0, 1.0)), min_size=1, max_size=20))
def test_scores_lie_between_0_and_1(candidates: list[tuple[float, float, float, float | None]]) -> None:
    scores = weigh(
        [
            Evidence(key, "en" if key % 2 else "zh", covered, sentence, bm25, near(similarity))
            for key, (covered, sentence, bm25, similarity) in enumerate(candidates)
        ]
    )
    assert len(scores) == len(candidates)
    assert all(0.0 <= score <= 1.0 for score in scores.values())


def test_saying_more_of_the_question_and_being_nearer_to_it_both_count() -> None:
    scores = weigh([evidence(1, 0.8, 0.5), evidence(2, 0.4, 0.5), evidence(3, 0.8, 0.3)])
    assert scores[1] > scores[2]
    assert scores[1] > scores[3]


def test_a_passage_in_another_language_is_not_held_to_the_words_it_cannot_hold() -> None:
    scores = weigh([evidence(1, 0.3, 0.25, "zh"), evidence(2, 0.9, 0.6, "zh"), evidence(3, 0.0, 0.55, "en")])
    assert scores[2] > scores[3] > scores[1]


def test_where_a_language_holds_the_words_they_count_in_it_too() -> None:
    # The name of a command stands in both languages: then an English passage without it is no better.
    scores = weigh([evidence(1, 0.9, 0.5, "zh"), evidence(2, 0.9, 0.4, "en"), evidence(3, 0.0, 0.5, "en")])
    assert scores[2] > scores[3]


def test_without_a_model_the_words_and_how_often_they_are_said_decide() -> None:
    scores = weigh([evidence(1, 0.7), evidence(2, 0.2), evidence(3, 0.7, bm25=0.8)])
    assert scores[3] > scores[1] > scores[2]


def test_a_date_within_the_years_asked_for_counts() -> None:
    within, elsewhere = (Evidence(key, "en", 0.5, 0.5, 0.0, near(0.4), dated) for key, dated in ((1, True), (2, False)))
    scores = weigh([within, elsewhere])
    assert scores[1] > scores[2]


def test_the_index_may_know_a_writing_that_the_words_do_not_show() -> None:
    scores = weigh([evidence(1, 0.1, bm25=1.2), evidence(2, 0.3)])
    assert scores[1] > scores[2]


def test_translations_count_and_for_less_than_the_words_themselves() -> None:
    says, says_nothing = (
        Evidence(key, "zh", 0.0, 0.0, 0.0, near(0.4), translated=n) for key, n in ((1, 1.0), (2, 0.0))
    )
    own_words = Evidence(3, "zh", 1.0, 1.0, 0.0, near(0.4))
    assert own_words.words > says.words > says_nothing.words
    scores = weigh([says, says_nothing])
    assert scores[1] > scores[2]


@given(share, share, st.none() | st.booleans())
def test_words_never_count_for_more_than_all(words: float, translated: float, dated: bool | None) -> None:
    assert 0.0 <= Evidence(1, "en", words, words, 0.0, near(0.5), dated, translated).words <= 1.0


def test_a_passage_with_a_sentence_near_the_question_is_better_than_one_that_is_only_about_it() -> None:
    about, says_it = (Evidence(key, "en", 0.2, 0.2, 0.0, Nearness(0.4, best)) for key, best in ((1, 0.3), (2, 0.6)))
    scores = weigh([about, says_it])
    assert scores[2] > scores[1]


def test_a_passage_whose_sentences_have_no_vectors_is_judged_as_a_whole() -> None:
    scores = weigh(
        [Evidence(1, "en", 0.2, 0.2, 0.0, Nearness(0.4)), Evidence(2, "en", 0.2, 0.2, 0.0, Nearness(0.4, 0.4))]
    )
    assert scores[1] == scores[2]


def test_across_languages_the_nearest_sentence_says_more() -> None:
    near, far = Nearness(0.3, 0.6), Nearness(0.4, 0.4)
    across = weigh([Evidence(key, "zh", 0, 0, 0, one, is_across=True) for key, one in ((1, near), (2, far))])
    within = weigh([Evidence(key, "en", 0, 0, 0, one) for key, one in ((1, near), (2, far))])
    assert across[1] > across[2]
    assert within[1] < within[2]
