"""A model that reranks: it decides among equals, and whatever it does wrong, the answer goes on without it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

import wenyuan as wy
from tests.cases.shelves import SETTINGS, TODAY, Shelf, filled, name_of
from tests.rerank_server import Instead, RerankServer, reranking, score_of
from wenyuan.flows.rerank import rerank
from wenyuan.flows.retrieve import SearchOptions, retrieve
from wenyuan.rules.observer import Observer
from wenyuan.rules.ranking.selection import Ranked
from wenyuan.runtime.library import Library
from wenyuan.types import LOCAL_PRINCIPAL, RerankRecord, Scope, SearchResult

FILES = {
    "one.txt": "The pump is checked every spring.",
    "two.txt": "The pump and its valve are checked in spring and cleaned.",
    "three.txt": "A pump stands in the cellar; it is never checked.",
    "four.txt": "Pump PPR-9087 is checked in spring.",
    "five.txt": "The pump was replaced; whoever checked it in spring found rust.",
    "six.txt": "Pumps are checked by whoever has the keys, in spring.",
}
QUESTION = "when is the pump checked in spring"
SECONDS = 2.0


@pytest.fixture(scope="module")
def judge() -> Iterator[RerankServer]:
    with reranking() as server:
        yield server


@pytest.fixture
def server(judge: RerankServer) -> RerankServer:
    judge.requests.clear()
    judge.passages.clear()
    judge.instead = favouring("six.txt")
    return judge


def opened(folder: Path, settings: str) -> Library:
    (folder / "library").mkdir(parents=True, exist_ok=True)
    (folder / "library" / "wenyuan.toml").write_text(settings, "utf-8")
    return wy.open(folder / "library", environment=SETTINGS, today=lambda: TODAY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that was filled; each test opens it with its own settings."""
    folder = tmp_path_factory.mktemp("reranked")
    with opened(folder, "") as library:
        filled(library, folder / "pumps", FILES)
    return folder


def asked(folder: Path, settings: str, question: str = QUESTION, **options: Any) -> SearchResult:
    with opened(folder, settings) as library:
        return retrieve(library._retrieving, question, Scope(LOCAL_PRINCIPAL, ("pumps",)), SearchOptions(**options))


def names(result: SearchResult) -> list[str]:
    return [name_of(hit) for hit in result.hits]


def record_of(result: SearchResult) -> RerankRecord:
    assert result.rerank is not None
    return result.rerank


def favouring(*best: str) -> Instead:
    """Scores that put these files first, in their order, and the others as they came."""

    def instead(_: RerankServer, passages: list[str]) -> tuple[int, bytes]:
        wanted = [FILES[name] for name in best]
        places = {number: wanted.index(text) for number, text in enumerate(passages) if text in wanted}
        scores = [0.9 - 0.1 * places.get(number, 5) - 0.01 * number for number in range(len(passages))]
        return 200, _results(scores)

    return instead


def _results(scores: list[Any]) -> bytes:
    return json.dumps({"results": [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]}).encode()


def test_it_puts_the_candidates_in_order(folder: Path, server: RerankServer) -> None:
    server.instead = favouring("three.txt", "five.txt")
    plain = asked(folder, "")
    assert (record_of(plain).applied, record_of(plain).finish_reason) == (False, "fallback-no-config")
    result = asked(folder, server.settings())
    others = [name for name in names(plain) if name not in ("three.txt", "five.txt")]
    assert names(result) == ["three.txt", "five.txt", *others]
    assert result.degraded == ()
    record = record_of(result)
    assert (record.applied, record.degraded, record.finish_reason) == (True, False, "applied")
    assert record.endpoint == f"{server.base_url('cohere')}/rerank"
    assert record.reranked == 6
    assert [hit.rerank_score for hit in result.hits] == sorted(
        (hit.rerank_score for hit in result.hits if hit.rerank_score is not None), reverse=True
    )
    assert {hit.score_kind for hit in result.hits} == {"evidence"}
    assert sorted(hit.score for hit in result.hits) == sorted(hit.score for hit in plain.hits)


def test_what_was_asked_for_exactly_stays_first(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(), "is pump PPR-9087 checked in spring")
    assert names(result)[:2] == ["four.txt", "six.txt"]


def test_the_trace_tells_of_it(folder: Path, server: RerankServer) -> None:
    with opened(folder, server.settings()) as library:
        result = library.search(QUESTION, kb="pumps")
        trace = library.trace(result.trace_id)
    assert trace["counters"]["reranked"] == 6
    assert trace["rerank"]["applied"] is True
    assert trace["rerank"]["parameters"] == {"candidates": 30, "top_n": 0, "score_threshold": 0.0, "seconds": 4.0}
    (stage,) = [one for one in trace["stages"] if one["name"] == "rerank"]
    assert (stage["count"], stage["model"], stage["protocol"]) == (6, "judge-1", "cohere")
    assert FILES["six.txt"] not in json.dumps(trace)


def hangs(server: RerankServer, _: list[str]) -> tuple[int, bytes]:
    server.over.wait(3 * SECONDS)
    return 500, b""


FAILURES: dict[str, tuple[Instead, str]] = {
    "answers 500": (lambda _server, _passages: (500, b"broken"), "http-500"),
    "answers 404": (lambda _server, _passages: (404, b"no such model"), "http-404"),
    "never answers": (hangs, "timeout"),
    "an empty list": (lambda _server, _passages: (200, b"[]"), "empty"),
    "no results": (lambda _server, _passages: (200, b'{"results": []}'), "empty"),
    "too few scores": (lambda _server, _passages: (200, _results([0.5])), "wrong-length"),
    "an index out of range": (
        lambda _server, passages: (
            200,
            json.dumps({"results": [{"index": n + 1, "relevance_score": 0.5} for n in range(len(passages))]}).encode(),
        ),
        "bad-index",
    ),
    "NaN": (lambda _server, passages: (200, _results([float("nan")] * len(passages))), "not-a-number"),
    "no JSON": (lambda _server, _passages: (200, b"<html>"), "malformed"),
}


@pytest.mark.parametrize(("instead", "detail"), FAILURES.values(), ids=FAILURES.keys())
def test_however_it_fails_the_order_stays_that_of_retrieval(
    folder: Path, server: RerankServer, instead: Instead, detail: str
) -> None:
    server.instead = instead
    plain = asked(folder, "")
    # What is only kept after reranking is not kept where there was none.
    search = f"rerank_seconds = {SECONDS / 2}\nrerank_top_n = 1\nrerank_threshold = 0.99\n"
    result = asked(folder, server.settings(search=search))
    assert names(result) == names(plain)
    assert [hit.score for hit in result.hits] == [hit.score for hit in plain.hits]
    assert {hit.rerank_score for hit in result.hits} == {None}
    assert result.grounding == plain.grounding
    assert result.degraded == ("rerank: fallback-provider-call-failed",)
    record = record_of(result)
    assert (record.applied, record.degraded) == (False, True)
    assert (record.finish_reason, record.detail) == ("fallback-provider-call-failed", detail)
    assert record.reranked == 0
    assert record.ms < SECONDS * 1000


def test_where_nobody_listens_the_search_goes_on(folder: Path) -> None:
    settings = (
        '[roles]\nrerank = "judge"\n[models.judge]\ntypes = ["rerank"]\nprotocol = "tei"\nmodel = "m"\n'
        'base_url = "http://127.0.0.1:1"\n[search]\nrerank_seconds = 1.0\n'
    )
    result = asked(folder, settings)
    assert len(result.hits) == 6
    assert record_of(result).detail == "unreachable"


def test_after_some_failures_it_is_not_called_for_a_while(folder: Path, server: RerankServer) -> None:
    server.instead = lambda _server, _passages: (500, b"")
    with opened(folder, server.settings(search="rerank_seconds = 0.05\n")) as library:
        for _ in range(5):
            # On a busy machine it is not even answered in time, which counts as much.
            assert record_of(library.search(QUESTION, kb="pumps")).detail in ("http-500", "timeout")
        called = len(server.requests)
        result = library.search(QUESTION, kb="pumps")
    assert (record_of(result).detail, len(server.requests)) == ("paused", called)
    assert len(result.hits) == 6


@pytest.mark.parametrize(
    ("settings", "detail"),
    [
        ('[roles]\nrerank = "gone"\n', "model-not-configured"),
        ('[roles]\nrerank = "built-in/multilingual-e5-small"\n', "model-unsuitable"),
        (
            '[roles]\nrerank = "j"\n[models.j]\ntypes = ["rerank"]\nprotocol = "cohere"\nmodel = "m"\n'
            'base_url = "http://127.0.0.1:1"\nkey = "env:NO_SUCH_KEY_4711"\n',
            "key-missing",
        ),
        (
            '[roles]\nrerank = "j"\n[models.j]\ntypes = ["rerank"]\nprotocol = "cohere"\nmodel = "m"\n',
            "configuration-invalid",
        ),
    ],
)
def test_a_model_that_is_not_there_is_named(folder: Path, settings: str, detail: str) -> None:
    result = asked(folder, settings)
    assert len(result.hits) == 6
    assert result.degraded == ("rerank: fallback-missing-provider-or-model",)
    assert record_of(result).detail == detail


def test_who_does_not_want_it_does_without(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(), rerank=False)
    assert (record_of(result).finish_reason, record_of(result).degraded) == ("fallback-disabled", False)
    assert result.degraded == ()
    assert server.requests == []


def test_what_was_valid_on_a_day_stays_in_the_order_of_days(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(), "截至2026年3月 pump checked in spring 的规定")
    if result.plan.as_of is None:
        pytest.fail("the question does not ask for what was valid on a day")
    assert record_of(result).detail == "as-of"
    assert server.requests == []


# --- How many are kept -----------------------------------------------------------------------------


def test_one_that_is_kept_is_one(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(search="rerank_top_n = 1\n"))
    assert names(result) == ["six.txt"]
    assert len(asked(folder, server.settings(search="rerank_top_n = 3\n")).hits) == 3
    assert len(asked(folder, server.settings(search="rerank_top_n = 3\n"), top_k=2).hits) == 2


def test_one_that_is_kept_is_none_that_is_excluded(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(search="rerank_top_n = 1\n"), f"{QUESTION} -keys")
    assert len(result.hits) == 1
    assert names(result) != ["six.txt"]


def test_what_is_scored_too_low_is_not_kept(folder: Path, server: RerankServer) -> None:
    server.instead = favouring("six.txt", "one.txt")
    assert names(asked(folder, server.settings(search="rerank_threshold = 0.7\n"))) == ["six.txt", "one.txt"]


def test_where_nothing_is_scored_high_enough_that_is_said(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(search="rerank_threshold = 0.95\n"))
    assert (result.hits, result.why_empty) == ((), "below-threshold")
    assert "0.95" in result.explanation


def test_only_so_many_candidates_are_sent(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings(search="rerank_candidates = 2\n"))
    assert [len(passages) for passages in server.passages] == [2]
    assert len(result.hits) == 6
    assert [hit.rerank_score is None for hit in result.hits] == [False, False, True, True, True, True]


def test_candidates_go_in_as_many_calls_as_the_model_takes(folder: Path, server: RerankServer) -> None:
    result = asked(folder, server.settings() + "max_batch_texts = 4\n")
    assert [len(passages) for passages in server.passages] == [4, 2]
    assert record_of(result).reranked == 6


def test_more_candidates_are_looked_for_than_are_wanted(folder: Path, server: RerankServer) -> None:
    server.instead = favouring("three.txt")
    assert names(asked(folder, server.settings(), top_k=1)) == ["three.txt"]


def test_a_passage_without_words_is_not_sent_and_shifts_no_score(folder: Path, server: RerankServer) -> None:
    server.instead = lambda _server, _passages: None
    with opened(folder, server.settings()) as library:
        hits = library.search(QUESTION, kb="pumps").hits
        passages = {hit.passage.chunk_key: hit.passage for hit in hits}
        blank = hits[2].passage
        passages[blank.chunk_key] = replace(blank, chunk=replace(blank.chunk, text=" \n"))
        ordered = [Ranked(key, 0.5, 2) for key in passages]
        server.passages.clear()
        found = rerank(library.models.reranking(), Observer(perf_counter), QUESTION, passages, ordered, "")
    (sent,) = server.passages
    assert sent == [passage.chunk.text for passage in passages.values() if passage.chunk_id != blank.chunk_id]
    scores = {one.chunk_key: one.rerank_score for one in found.ordered}
    assert scores == {
        key: None if passage.chunk_id == blank.chunk_id else score_of(QUESTION, passage.chunk.text)
        for key, passage in passages.items()
    }
    assert found.ordered[-1].chunk_key == blank.chunk_key


def test_passages_are_sent_with_what_stands_above_them(tmp_path: Path, server: RerankServer) -> None:
    server.instead = lambda _server, _passages: None
    with opened(tmp_path, server.settings()) as library:
        shelf = Shelf(
            library, filled(library, tmp_path / "guides", {"g.md": "# Pumps\n\n## Spring\n\nCheck it."}).knowledge_base
        )
        shelf.search("how are pumps checked")
    ((passage,),) = server.passages
    assert passage.startswith("Pumps > Spring\n")
