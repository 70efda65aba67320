"""The sentences of passages are embedded where their model's table says so, and the nearest one counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.runtime.library import Library

_TOPICS = (
    "The reading room opens at nine and closes at six.",
    "Bags are left in the lockers at the entrance.",
    "Photographs may be taken without a flash.",
    "Children under twelve come with an adult.",
)
_ANSWER = "A lost reader's card is replaced for eight euros."
_GUIDE = "\n\n".join([f"{' '.join(_TOPICS[:2])} {_ANSWER}", " ".join(_TOPICS[2:])])


def _library(folder: Path, server: EmbeddingServer, sentences: str) -> Library:
    folder.mkdir(exist_ok=True)
    (folder / "wenyuan.toml").write_text(f"{server.settings()}{sentences}\n", "utf-8")
    return wy.open(folder, environment={"WENYUAN_WORKER_THREADS": "1"})


def _nearest_sentences(library: Library, question: str) -> list[float | None]:
    trace = library.trace(library.search(question).trace_id)
    return [one["sentence_cosine"] for one in trace["candidates"][0]["vector"]]


def test_a_service_is_given_the_sentences_that_its_table_asks_for(tmp_path: Path, server: EmbeddingServer) -> None:
    for number, (setting, expected) in enumerate((("", 1), ("sentences = false", 1), ("sentences = true", 6))):
        server.inputs.clear()
        with _library(tmp_path / str(number), server, setting) as library:
            library.add_text(_GUIDE, "guide.txt")
            assert len(server.inputs) == expected
            assert library.check(deep=True) == []


def test_a_question_is_compared_with_each_sentence(tmp_path: Path, server: EmbeddingServer) -> None:
    with _library(tmp_path / "library", server, "sentences = true") as library:
        library.add_text(_GUIDE, "guide.txt")
        assert _nearest_sentences(library, _ANSWER) == [pytest.approx(1.0, abs=0.05)]
        assert library.search(_ANSWER).hits[0].similarity == pytest.approx(0.95, abs=0.06)


def test_a_rebuild_gives_sentences_to_what_was_embedded_without(tmp_path: Path, server: EmbeddingServer) -> None:
    with _library(tmp_path / "library", server, "sentences = false") as library:
        library.add_text(_GUIDE, "guide.txt")
        assert _nearest_sentences(library, _ANSWER) == [None]
    with _library(tmp_path / "library", server, "sentences = true") as library:
        # What was there before goes on to be found, and what is added has its own.
        library.add_text(" ".join(_TOPICS), "rules.txt")
        assert None in _nearest_sentences(library, _ANSWER)
        assert "index-without-sentences" in [finding.code for finding in library.doctor()]
        server.inputs.clear()
        library.rebuilds.begin("default")
        library.drain()
        # The first passage has three sentences, the second two; the passages have their vectors.
        assert len(server.inputs) == 5
        assert None not in _nearest_sentences(library, _ANSWER)
        assert "index-without-sentences" not in [finding.code for finding in library.doctor()]
        assert library.check(deep=True) == []
        server.inputs.clear()
        library.rebuilds.begin("default")
        library.drain()
        assert server.inputs == [], "nothing is embedded twice"


def test_what_answers_in_one_sentence_of_many_is_found_across_languages(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment={}) as library:
        library.add_text(_GUIDE, "guide.txt")
        library.add_text("阅览室的规定：请保持安静，不要饮食。", "规定.txt")
        hits = library.search("借书证丢了补办要多少钱？").hits
        assert hits[0].passage.document_name == "guide.txt"
        assert "vector" in hits[0].hit_modes


def test_a_service_that_limits_how_much_is_asked_gets_everything_in_the_end(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    setting = "sentences = true\nmax_batch_texts = 4\nrequests_per_minute = 600"
    with _library(tmp_path / "library", server, setting) as library:
        text = "\n\n".join(" ".join(f"{one} It was said in year {number}." for one in _TOPICS) for number in range(40))
        library.add_text(text, "minutes.txt")
        assert len(server.inputs) == len(set(server.inputs)), "what a call has brought is kept"
        assert library.rebuilds.begin("default") is None
        assert library.check(deep=True) == []


def test_a_sentence_that_is_refused_costs_no_more_than_itself(tmp_path: Path, server: EmbeddingServer) -> None:
    def refuse(texts: list[str]) -> tuple[int, dict[str, str], bytes] | None:
        return (400, {}, b'{"error": {"message": "not this"}}') if _ANSWER in texts else None

    server.before_answer = refuse
    with _library(tmp_path / "library", server, "sentences = true") as library:
        library.add_text(_GUIDE, "guide.txt")
        library.add_text(" ".join(_TOPICS), "rules.txt")
        assert library.jobs.list(only_live=True) == []
        assert [view.semantic.state for view in library.documents.list()] == ["ready", "ready"]
        server.before_answer = lambda _: None
        assert library.search(_TOPICS[0]).hits[0].similarity == pytest.approx(1.0, abs=0.2)
        assert library.rebuilds.begin("default") is None, "nothing lacks sentences that could have them"


def test_a_key_that_is_refused_is_not_the_fault_of_sentences(tmp_path: Path, server: EmbeddingServer) -> None:
    def refuse(texts: list[str]) -> tuple[int, dict[str, str], bytes] | None:
        return (401, {}, b"{}") if _TOPICS[0] in texts else None

    server.before_answer = refuse
    with _library(tmp_path / "library", server, "sentences = true") as library:
        library.add_text(_GUIDE, "guide.txt")
        assert [view.semantic.state for view in library.documents.list()] == ["failed"]
        assert library.search(_TOPICS[0]).hits[0].passage.document_name == "guide.txt"


def test_an_answer_takes_the_vectors_that_its_sentences_have(tmp_path: Path, server: EmbeddingServer) -> None:
    with _library(tmp_path / "library", server, "sentences = true") as library:
        library.add_text(_GUIDE, "guide.txt")
        library.add_text("A lost reader's card costs nothing on Sundays.", "sundays.txt")
        server.inputs.clear()
        answer = library.ask(_ANSWER)
        assert answer.citations[0].quote == _ANSWER
        assert set(server.inputs) == {_ANSWER}, "nothing but the question is embedded"


def test_damaged_codes_are_found_and_mended_and_nothing_fails_meanwhile(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    with _library(tmp_path / "library", server, "sentences = true") as library:
        library.add_text(_GUIDE, "guide.txt")
        with library._database.write() as tx:
            tx.run("UPDATE vectors SET sentences = :codes", {"codes": b"x"})
        assert library.ask(_ANSWER).citations[0].quote == _ANSWER
        assert library.check(deep=True) != []
        library.repair()
        library.drain()
        assert library.check(deep=True) == []
        assert None not in _nearest_sentences(library, _ANSWER)
