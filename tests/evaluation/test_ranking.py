"""A list of passages becomes a ranking of what was to be found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.evaluation.ranking import Target, folded

DOCUMENT = Target("a.md", 1, frozenset({"rev_a"}))
NAMES = {f"rev_{letter}.{number}": f"{letter}.md" for letter in "abcd" for number in range(4)}


def test_passages_of_a_document_count_once_where_the_first_stands() -> None:
    ranking = folded(["rev_b.1", "rev_a.2", "rev_b.0", "rev_a.0", "rev_c.0"], [DOCUMENT], NAMES)
    assert ranking == ["b.md", "a.md", "c.md"]


def test_only_the_passages_at_the_place_meet_it() -> None:
    place = Target("a.md#lines=3-4", 1, passages=frozenset({"rev_a.1"}))
    assert folded(["rev_a.0", "rev_a.2", "rev_a.1"], [place], NAMES) == ["a.md", "a.md#lines=3-4"]


def test_a_passage_that_meets_two_targets_counts_for_both_the_better_first() -> None:
    whole, place = Target("a.md", 1, frozenset({"rev_a"})), Target("place", 2, passages=frozenset({"rev_a.1"}))
    assert folded(["rev_a.1"], [whole, place], NAMES) == ["place", "a.md"]
    assert folded(["rev_a.0", "rev_a.1"], [whole, place], NAMES) == ["a.md", "place"]


def test_documents_of_one_name_are_two() -> None:
    names = {"rev_x.0": "notes.md", "rev_y.0": "notes.md", "rev_a.0": "notes.md"}
    assert folded(["rev_x.0", "rev_y.0", "rev_x.0"], [], names) == ["notes.md", "rev_y"]
    target = Target("notes.md", 1, frozenset({"rev_a"}))
    assert folded(["rev_a.0", "rev_y.0"], [target], names) == ["notes.md", "rev_y"]


def test_a_target_that_is_not_there_is_met_by_nothing() -> None:
    absent = Target("absent.md", 1)
    assert not absent.is_there
    assert not Target("p", 1, passages=frozenset()).is_there
    assert folded(["rev_a.0"], [absent], NAMES) == ["a.md"]


@given(st.lists(st.sampled_from(sorted(NAMES)), unique=True))
def test_a_ranking_holds_each_document_once_in_the_order_of_its_best_passage(passages: list[str]) -> None:
    ranking = folded(passages, [DOCUMENT], NAMES)
    assert ranking == list(dict.fromkeys(NAMES[passage] for passage in passages))
