"""Reranking against real HTTP on loopback, in every shape, well-behaved and not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.providers.reranker_contract import PASSAGES, QUESTION, RerankerContract
from tests.rerank_server import RerankServer, reranking, score_of, shaped
from wenyuan.errors import (
    ConfigurationInvalid,
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from wenyuan.ports import Reranker
from wenyuan.providers.reranking import RerankingService
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.rules.ranking.reranking import failure_detail

PROTOCOLS = ("openai-compatible", "cohere", "jina", "voyage", "tei", "dashscope")
KEY = "sk-secret-0123456789abcdef"
AT_ONCE = Surroundings(sleep=lambda _: None)


@pytest.fixture(scope="module")
def serving() -> Iterator[RerankServer]:
    with reranking() as server:
        yield server


@pytest.fixture
def server(serving: RerankServer) -> RerankServer:
    serving.requests.clear()
    serving.passages.clear()
    serving.instead = lambda _server, _passages: None
    return serving


def service(server: RerankServer, protocol: str = "cohere", **changes: Any) -> RerankingService:
    described: dict[str, Any] = {"base_url": server.base_url(protocol), "types": ("rerank",)}
    return RerankingService(ModelSettings("judge", protocol, "judge-1", **{**described, **changes}), AT_ONCE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
class TestContract(RerankerContract):
    @pytest.fixture
    def reranker(self, server: RerankServer, protocol: str) -> Reranker:
        return service(server, protocol)


# --- What is asked ---------------------------------------------------------------------------------

ASKED: dict[str, dict[str, Any]] = {
    "cohere": {"model": "judge-1", "query": "q", "documents": ["a", "b"], "top_n": 2},
    "jina": {"model": "judge-1", "query": "q", "documents": ["a", "b"], "top_n": 2, "return_documents": False},
    "voyage": {"model": "judge-1", "query": "q", "documents": ["a", "b"], "top_k": 2},
    "tei": {"query": "q", "texts": ["a", "b"], "truncate": True},
    "dashscope": {
        "model": "judge-1",
        "input": {"query": "q", "documents": ["a", "b"]},
        "parameters": {"top_n": 2, "return_documents": False},
    },
}


@pytest.mark.parametrize("protocol", ASKED)
def test_a_request_is_what_the_protocol_says(server: RerankServer, protocol: str) -> None:
    service(server, protocol).rerank("q", ["a", "b"], 10.0)
    assert server.requests == [ASKED[protocol]]


def test_what_else_a_provider_is_told_stands_in_the_settings(server: RerankServer) -> None:
    service(server, options={"max_chunks_per_doc": 4}).rerank("q", ["a"], 10.0)
    assert server.requests[0]["max_chunks_per_doc"] == 4


# --- What is answered ------------------------------------------------------------------------------

PLAIN = [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.25}]
UNUSABLE: dict[str, tuple[Any, str]] = {
    "no results": ({"results": []}, "empty"),
    "an empty list": ([], "empty"),
    "too few": ({"results": PLAIN[:1]}, "wrong-length"),
    "too many": ({"results": [*PLAIN, {"index": 2, "relevance_score": 0.1}]}, "wrong-length"),
    "out of range": ({"results": [PLAIN[0], {"index": 2, "relevance_score": 0.1}]}, "bad-index"),
    "below range": ({"results": [PLAIN[0], {"index": -1, "relevance_score": 0.1}]}, "bad-index"),
    "the same twice": ({"results": [PLAIN[0], PLAIN[0]]}, "bad-index"),
    "no index": ({"results": [{"relevance_score": 0.5}, {"relevance_score": 0.1}]}, "bad-index"),
    "an index that is true": ({"results": [PLAIN[0], {"index": True, "relevance_score": 0.1}]}, "bad-index"),
    "no number": ({"results": [PLAIN[0], {"index": 1, "relevance_score": "0.1"}]}, "not-a-number"),
    "null": ({"results": [PLAIN[0], {"index": 1, "relevance_score": None}]}, "not-a-number"),
    "NaN": ({"results": [PLAIN[0], {"index": 1, "relevance_score": float("nan")}]}, "not-a-number"),
    "infinity": ({"results": [PLAIN[0], {"index": 1, "relevance_score": float("inf")}]}, "not-a-number"),
    "beyond a float": ({"results": [PLAIN[0], {"index": 1, "relevance_score": 10**400}]}, "not-a-number"),
    "no list": ({"results": {"0": 1}}, "malformed"),
    "another shape": ({"scores": [1, 2]}, "malformed"),
    "no object": (7, "malformed"),
}


@pytest.mark.parametrize(("answer", "detail"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_answer_that_is_not_one_score_for_each_is_refused(server: RerankServer, answer: Any, detail: str) -> None:
    server.instead = lambda _server, _passages: (200, json.dumps(answer).encode())
    with pytest.raises(ProviderAnswerInvalid) as caught:
        service(server).rerank("q", ["a", "b"], 10.0)
    assert failure_detail(caught.value) == detail
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"results": [', b"[" * 100_000])
def test_an_answer_that_is_no_json_is_refused(server: RerankServer, body: bytes) -> None:
    server.instead = lambda _server, _passages: (200, body)
    with pytest.raises(ProviderAnswerInvalid) as caught:
        service(server).rerank("q", ["a", "b"], 10.0)
    assert failure_detail(caught.value) == "malformed"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scores_may_be_any_finite_numbers(server: RerankServer, protocol: str) -> None:
    name = "score" if protocol == "tei" else "relevance_score"
    results: list[dict[str, Any]] = [{"index": 1, name: 7}, {"index": 0, name: -11.25}]
    server.instead = lambda _server, _passages: (200, json.dumps(shaped(protocol, results)).encode())
    assert service(server, protocol).rerank("q", ["a", "b"], 10.0) == (-11.25, 7.0)


def test_passages_that_come_back_are_no_trouble(server: RerankServer) -> None:
    def instead(_: RerankServer, passages: list[str]) -> tuple[int, bytes]:
        results = [{"index": n, "relevance_score": 0.5, "document": {"text": t}} for n, t in enumerate(passages)]
        return 200, json.dumps({"results": results}).encode()

    server.instead = instead
    assert len(service(server).rerank("q", ["中" * 20_000] * 3, 10.0)) == 3


def test_an_endless_answer_is_refused(server: RerankServer) -> None:
    server.instead = lambda _server, _passages: (200, b" " * 1_000_000)
    with pytest.raises(ProviderAnswerInvalid, match="more than"):
        service(server).rerank("q", ["a"], 10.0)


# --- What fails ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ProviderRefused), (404, ProviderRefused), (429, RateLimited), (500, ProviderUnavailable)],
)
def test_a_status_is_told(server: RerankServer, status: int, kind: type[ProviderError]) -> None:
    server.instead = lambda _server, _passages: (status, b'{"message": "no"}')
    with pytest.raises(kind) as caught:
        service(server).rerank("q", ["a"], 10.0)
    assert failure_detail(caught.value) == f"http-{status}"


def test_what_passes_is_tried_again(server: RerankServer) -> None:
    server.instead = lambda state, _passages: (503, b"busy") if len(state.requests) < 3 else None
    assert service(server).rerank(QUESTION, PASSAGES[:1], 10.0) == (score_of(QUESTION, PASSAGES[0]),)
    assert len(server.requests) == 3


def test_a_service_that_says_nothing_times_out(server: RerankServer) -> None:
    def instead(state: RerankServer, _: list[str]) -> tuple[int, bytes]:
        state.over.wait(1.0)
        return 200, b"{}"

    server.instead = instead
    with pytest.raises(ProviderTimeout) as caught:
        service(server).rerank("q", ["a"], 0.2)
    assert failure_detail(caught.value) == "timeout"


def test_a_service_that_is_not_there_is_unreachable() -> None:
    settings = ModelSettings("judge", "cohere", "m", base_url="http://127.0.0.1:1", types=("rerank",))
    with pytest.raises(ProviderUnavailable) as caught:
        RerankingService(settings, AT_ONCE).rerank("q", ["a"], 10.0)
    assert failure_detail(caught.value) == "unreachable"


def test_a_key_is_sent_and_in_no_error(server: RerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    server.instead = lambda _server, _passages: (401, f"bad key {KEY}".encode())
    with pytest.raises(ProviderRefused, match=r"bad key \*\*\*") as caught:
        service(server, key="env:JUDGE_KEY").rerank("q", ["a"], 10.0)
    assert KEY not in repr(caught.value.details)
    monkeypatch.delenv("JUDGE_KEY")
    with pytest.raises(KeyMissing):
        service(server, key="env:JUDGE_KEY").rerank("q", ["a"], 10.0)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("changes", "setting"), [({"base_url": ""}, "base_url"), ({"model": ""}, "model")])
def test_settings_that_do_not_say_enough_are_refused(changes: dict[str, Any], setting: str) -> None:
    described: dict[str, Any] = {"base_url": "http://host", "model": "m", **changes}
    settings = ModelSettings(name="judge", protocol="cohere", types=("rerank",), **described)
    with pytest.raises(ConfigurationInvalid, match=rf"models\.judge\.{setting} "):
        RerankingService(settings)
