"""Whether the evidence can answer: a source stands out, and what was asked for exactly must be there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.ranking.grounding import LIKELY, estimate, refined
from wenyuan.rules.ranking.weighing import Evidence
from wenyuan.types import Exactness, Nearness

share = st.floats(0.0, 1.0)


def evidence(words: float, similarity: float | None, key: int = 1, *, is_across: bool = False) -> Evidence:
    nearness = None if similarity is None else Nearness(similarity)
    return Evidence(key, "zh" if is_across else "en", words, words, 0.0, nearness, is_across=is_across)


SOURCE = [evidence(0.85, 0.65), *(evidence(0.3, 0.3, key) for key in range(2, 12))]
NO_SOURCE = [evidence(0.35, 0.33, key) for key in range(1, 12)]


def test_a_passage_that_stands_out_is_likely_to_answer() -> None:
    assert estimate(SOURCE, (), "none").verdict == "likely"


def test_the_less_the_words_of_a_passage_can_say_for_it_the_less_is_asked() -> None:
    others = [evidence(0.1, 0.27, key) for key in range(2, 12)]

    def verdict(words: float, similarity: float, *, is_across: bool) -> str:
        return estimate([evidence(words, similarity, is_across=is_across), *others], (), "none").verdict

    for similarity, without_a_word, across, within in (
        (0.44, "likely", "unlikely", "unlikely"),
        (0.48, "likely", "likely", "unlikely"),
        (0.53, "likely", "likely", "likely"),
    ):
        assert verdict(0.0, similarity, is_across=True) == without_a_word
        assert verdict(0.02, similarity, is_across=True) == across
        assert verdict(0.02, similarity, is_across=False) == within


def test_what_all_passages_share_answers_nothing() -> None:
    assert estimate(NO_SOURCE, (), "none").verdict == "unlikely"


def test_words_decide_without_a_model() -> None:
    without_model = [evidence(0.9, None), *(evidence(0.3, None, key) for key in range(2, 12))]
    assert estimate(without_model, (), "none").verdict == "likely"
    assert estimate([evidence(0.2, None, key) for key in range(11)], (), "none").verdict == "unlikely"


def test_what_is_missing_settles_it_and_is_named() -> None:
    judged = estimate(SOURCE, ("PPR-9087",), "none")
    assert (judged.verdict, judged.missing) == ("unlikely", ("PPR-9087",))


def test_what_is_about_the_day_that_was_asked_for_answers() -> None:
    assert estimate(NO_SOURCE, (), "about").verdict == "likely"


def test_nothing_found_answers_nothing() -> None:
    assert estimate([], (), "none").value == 0.0


@given(
    st.lists(st.tuples(share, st.none() | st.floats(-1.0, 1.0)), max_size=15),
    st.sampled_from(["about", "mentions", "none"]),
)
def test_the_value_is_a_probability_and_the_verdict_follows_it(
    candidates: list[tuple[float, float | None]], exactness: Exactness
) -> None:
    judged = estimate([evidence(words, near, key) for key, (words, near) in enumerate(candidates)], (), exactness)
    assert 0.0 <= judged.value <= 1.0
    # Where the nearest passage shares no word with the question, less is asked.
    least = 0.5 if any(words < 0.01 and near is not None for words, near in candidates) else LIKELY
    assert judged.verdict == "likely" or judged.value < LIKELY
    assert judged.verdict == "unlikely" or judged.value >= least


def test_a_question_that_names_what_its_passage_does_not_is_less_likely_answered() -> None:
    judged = estimate(SOURCE, (), "none")
    missing = refined(judged, is_missing=True, is_denied=False)
    denied = refined(judged, is_missing=False, is_denied=True)
    assert refined(judged, is_missing=False, is_denied=False) == judged
    assert judged.value > missing.value > denied.value > refined(judged, is_missing=True, is_denied=True).value


@given(st.lists(st.tuples(share, st.floats(-1.0, 1.0)), max_size=15), st.booleans(), st.booleans())
def test_what_was_unlikely_does_not_become_likely(
    candidates: list[tuple[float, float]], is_missing: bool, is_denied: bool
) -> None:
    judged = estimate([evidence(words, near, key) for key, (words, near) in enumerate(candidates)], (), "none")
    refined_ = refined(judged, is_missing=is_missing, is_denied=is_denied)
    assert (refined_.verdict == "likely") == (refined_.value >= judged.likely_from)
    assert refined_.verdict == "unlikely" or judged.verdict == "likely"


def test_of_a_passage_in_another_language_no_more_is_asked_once_its_sentences_are_known() -> None:
    others = [evidence(0.1, 0.27, key) for key in range(2, 12)]
    for is_across, verdict in ((True, "likely"), (False, "unlikely")):
        judged = estimate([evidence(0.02, 0.66, is_across=is_across), *others], (), "none")
        missing = refined(judged, is_missing=True, is_denied=False)
        assert 0.6 < missing.value < LIKELY
        assert missing.verdict == verdict
