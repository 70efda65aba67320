"""The OpenAI-compatible adapter against real HTTP on loopback, well-behaved and not."""

from __future__ import annotations

import base64
import dataclasses
import email.utils
import json
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.embedding_server import DIMENSIONS, serving
from tests.providers.embedder_contract import EmbedderContract
from tests.providers.scripted_server import Answer, Exchange, ScriptedServer, scripted_server
from wenyuan.errors import (
    ConfigurationInvalid,
    DimensionMismatch,
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    WenyuanError,
)
from wenyuan.ports import Embedder
from wenyuan.providers.embeddings import EmbeddingService
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import Side

KEY = "sk-secret-0123456789abcdef"


class Time:
    """A clock that moves only when somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def surroundings(self) -> Surroundings:
        return Surroundings(lambda: self.now, lambda: self.now, self.sleep, lambda: 0.5)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


def _settings(base_url: str, **changes: Any) -> ModelSettings:
    settings = ModelSettings("test/model", "openai-compatible", "model", base_url=base_url, dimensions=2)
    return dataclasses.replace(settings, **changes)


def _embedder(server: ScriptedServer, time: Time, *answers: Answer, **changes: Any) -> EmbeddingService:
    server.script[:] = answers
    return EmbeddingService(_settings(server.base_url, **changes), time.surroundings())


def _base64(vector: list[float]) -> str:
    return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()


def _data(*vectors: Any) -> bytes:
    items = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": items}).encode()


def answering(status: int, body: bytes, headers: dict[str, str] | None = None) -> Answer:
    return lambda exchange: exchange.reply(status, body, headers)


GOOD = answering(200, _data(_base64([3.0, 4.0])))


class TestContract(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with serving() as server:
            embedder = EmbeddingService(_settings(server.base_url, dimensions=DIMENSIONS))
            yield embedder
            embedder.close()


# --- What is asked ---------------------------------------------------------------------------------


def test_a_request_is_what_the_protocol_says(
    server: ScriptedServer, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", f" {KEY}\n")
    embedder = _embedder(server, time, GOOD, key="env:TEST_MODEL_KEY", query_prefix="q: ", passage_prefix="p: ")
    embedder.embed(["什么"], "query", 10.0)
    embedder.embed(["这个"], "passage", 10.0)
    assert server.requests == [
        {"model": "model", "input": ["q: 什么"], "encoding_format": "base64"},
        {"model": "model", "input": ["p: 这个"], "encoding_format": "base64"},
    ]
    assert server.keys == [f"Bearer {KEY}"] * 2


DIALECTS: dict[str, dict[str, Any]] = {
    "jina": {
        "path": "embeddings",
        "texts": "input",
        "field": "task",
        "sides": ("retrieval.query", "retrieval.passage"),
    },
    "voyage": {"path": "embeddings", "texts": "input", "field": "input_type", "sides": ("query", "document")},
    "cohere": {"path": "embed", "texts": "texts", "field": "input_type", "sides": ("search_query", "search_document")},
}


@pytest.mark.parametrize("protocol", DIALECTS)
def test_others_are_told_which_side_a_text_is_of(server: ScriptedServer, time: Time, protocol: str) -> None:
    dialect = DIALECTS[protocol]
    good = (
        answering(200, json.dumps({"embeddings": {"float": [[3.0, 4.0]]}}).encode()) if protocol == "cohere" else GOOD
    )
    embedder = _embedder(server, time, good, protocol=protocol, send_dimensions=True)
    sides: tuple[Side, ...] = ("query", "passage")
    for side, said in zip(sides, dialect["sides"], strict=True):
        assert embedder.embed(["什么"], side, 10.0) == pytest.approx(np.array([[0.6, 0.8]]))
        request = server.requests[-1]
        assert (request["model"], request[dialect["texts"]], request[dialect["field"]]) == ("model", ["什么"], said)
        assert request["dimensions" if protocol == "jina" else "output_dimension"] == 2
        assert "encoding_format" not in request
    assert server.paths[-1] == f"/v1/{dialect['path']}"


@pytest.mark.parametrize("protocol", DIALECTS)
def test_vectors_of_another_protocol_are_others(server: ScriptedServer, time: Time, protocol: str) -> None:
    plain, other = (_embedder(server, time, GOOD, protocol=one).identity for one in ("openai-compatible", protocol))
    assert plain != other
    assert plain.query_prefix == ""


UNUSABLE_LISTS: tuple[Any, ...] = ([], {}, None, [[3.0]], [["a", "b"]], [[3.0, 4.0], [3.0, 4.0]])


@pytest.mark.parametrize("vectors", UNUSABLE_LISTS)
def test_lists_that_are_not_one_vector_for_each_text_are_refused(
    server: ScriptedServer, time: Time, vectors: Any
) -> None:
    answer = answering(200, json.dumps({"embeddings": {"float": vectors}}).encode())
    with pytest.raises((ProviderAnswerInvalid, DimensionMismatch)):
        _embedder(server, time, answer, protocol="cohere").embed(["a"], "query", 10.0)


def test_dimensions_are_asked_for_only_where_the_settings_say_so(server: ScriptedServer, time: Time) -> None:
    _embedder(server, time, GOOD, send_dimensions=True).embed(["a"], "query", 10.0)
    assert server.requests[0]["dimensions"] == 2


def test_without_a_key_none_is_sent(server: ScriptedServer, time: Time) -> None:
    _embedder(server, time, GOOD).embed(["a"], "query", 10.0)
    assert server.keys == [None]


def test_connections_are_kept(server: ScriptedServer, time: Time) -> None:
    embedder = _embedder(server, time, GOOD)
    for _ in range(5):
        embedder.embed(["a"], "query", 10.0)
    assert len(server.connections) == 1


def test_a_proxy_of_the_environment_is_not_asked_for_a_model_on_this_machine(
    server: ScriptedServer, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _embedder(server, time, GOOD).embed(["a"], "query", 10.0)
    assert len(server.requests) == 1


# --- What is answered ------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", [_base64([3.0, 4.0]), [3.0, 4.0], [3, 4]])
def test_base64_and_numbers_are_taken_and_brought_to_unit_length(
    server: ScriptedServer, time: Time, vector: Any
) -> None:
    vectors = _embedder(server, time, answering(200, _data(vector))).embed(["a"], "query", 10.0)
    assert vectors == pytest.approx(np.array([[0.6, 0.8]]))


def test_indexes_tell_the_order(server: ScriptedServer, time: Time) -> None:
    items = [{"index": 2, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, 1]}]
    answer = answering(200, json.dumps({"data": items}).encode())
    vectors = _embedder(server, time, answer).embed(["a", "b", "c"], "query", 10.0)
    assert vectors == pytest.approx(np.array([[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]]))


def test_without_indexes_the_order_is_that_of_the_texts(server: ScriptedServer, time: Time) -> None:
    answer = answering(200, json.dumps({"data": [{"embedding": [0, 1]}, {"embedding": [1, 0]}]}).encode())
    vectors = _embedder(server, time, answer).embed(["a", "b"], "query", 10.0)
    assert vectors == pytest.approx(np.array([[0, 1], [1, 0]]))


def _items(*items: Any) -> bytes:
    return json.dumps({"data": list(items)}).encode()


UNUSABLE = {
    "nothing": b"",
    "no JSON": b"<html>Welcome</html>",
    "half of it": _data([1.0, 0.0])[:-4],
    "a list": b"[1, 2]",
    "no data": b"{}",
    "data of another kind": b'{"data": {"0": [1, 2]}}',
    "items of another kind": b'{"data": [[1, 2]]}',
    "deep nesting": b"[" * 100_000,
    "too few": _data(),
    "too many": _data([1.0, 0.0], [1.0, 0.0]),
    "not a number": _data([float("nan"), 0.0]),
    "not a number in base64": _data(_base64([float("nan"), 0.0])),
    "an infinite number": _data([float("inf"), 0.0]),
    "a number beyond every number": b'{"data": [{"embedding": [1' + b"0" * 400 + b", 1]}]}",
    "no length": _data([0.0, 0.0]),
    "no embedding": _items({"index": 0}),
    "an embedding of words": _data(["a", "b"]),
    "an embedding of truths": _data([True, False]),
    "no base64": _data("!!!!"),
    "base64 of half a number": _data(base64.b64encode(b"123456").decode()),
    "an index too high": _items({"index": 1, "embedding": [1, 0]}),
    "an index of truth": _items({"index": False, "embedding": [1, 0]}),
    "an index of words": _items({"index": "0", "embedding": [1, 0]}),
}


@pytest.mark.parametrize("body", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_unusable_answer_is_refused_and_not_asked_for_again(server: ScriptedServer, time: Time, body: bytes) -> None:
    with pytest.raises(ProviderAnswerInvalid, match="test/model answered something unusable"):
        _embedder(server, time, answering(200, body)).embed(["a"], "query", 10.0)
    assert len(server.requests) == 1


def test_an_index_that_comes_twice_is_refused(server: ScriptedServer, time: Time) -> None:
    body = _items({"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [0, 1]})
    with pytest.raises(ProviderAnswerInvalid, match="do not number the texts"):
        _embedder(server, time, answering(200, body)).embed(["a", "b"], "query", 10.0)


@pytest.mark.parametrize("vector", [[1.0, 0.0, 0.0], _base64([1.0]), []])
def test_other_dimensions_are_told(server: ScriptedServer, time: Time, vector: Any) -> None:
    with pytest.raises(DimensionMismatch, match="where 2 were expected"):
        _embedder(server, time, answering(200, _data(vector))).embed(["a"], "query", 10.0)


def test_an_answer_without_end_is_not_read_to_its_end(server: ScriptedServer, time: Time) -> None:
    def endless(exchange: Exchange) -> None:
        exchange.begin(200, 1 << 40)
        while not exchange.hang(0):
            exchange.send(b" " * 65_536)

    with pytest.raises(ProviderAnswerInvalid, match="more than"):
        _embedder(server, time, endless).embed(["a"], "query", 10.0)


# --- What fails and may be repeated ----------------------------------------------------------------


def _cut(exchange: Exchange) -> None:
    exchange.cut()


def _cut_in_the_middle(exchange: Exchange) -> None:
    exchange.begin(200, 1_000)
    exchange.send(b'{"data": [')
    exchange.cut()


PASSING = {
    "500": answering(500, b"oops"),
    "502": answering(502, b""),
    "503": answering(503, b"<html>busy</html>"),
    "504": answering(504, b""),
    "429": answering(429, b"{}"),
    "429 with a time": answering(429, b"{}", {"Retry-After": "2"}),
    "503 with a date": answering(503, b"", {"Retry-After": email.utils.formatdate(1_003, usegmt=True)}),
    "a cut connection": _cut,
    "a cut answer": _cut_in_the_middle,
}


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING.keys())
def test_what_passes_is_tried_again(server: ScriptedServer, time: Time, answer: Answer) -> None:
    vectors = _embedder(server, time, answer, answer, GOOD).embed(["a"], "query", 30.0)
    assert vectors == pytest.approx(np.array([[0.6, 0.8]]))
    assert len(server.requests) == 3


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING.keys())
def test_a_passage_is_not_waited_for(server: ScriptedServer, time: Time, answer: Answer) -> None:
    """It is put off by whoever asked, so that others learn of the refusal."""
    with pytest.raises(ProviderUnavailable):
        _embedder(server, time, answer, GOOD).embed(["a"], "passage", 30.0)
    assert len(server.requests) == 1
    assert time.waits == []


@pytest.mark.parametrize("header", ["2", email.utils.formatdate(1_002, usegmt=True), "2.0"])
def test_a_time_to_wait_is_kept(server: ScriptedServer, time: Time, header: str) -> None:
    answer = answering(429, b"{}", {"Retry-After": header})
    _embedder(server, time, answer, GOOD).embed(["a"], "query", 30.0)
    assert time.waits == [2.0]


@pytest.mark.parametrize(
    ("status", "kind"), [(429, RateLimited), (500, ProviderUnavailable), (503, ProviderUnavailable)]
)
def test_a_time_to_wait_beyond_the_deadline_is_handed_on(
    server: ScriptedServer, time: Time, status: int, kind: type[ProviderUnavailable]
) -> None:
    answer = answering(status, b"{}", {"Retry-After": "120"})
    with pytest.raises(kind) as caught:
        _embedder(server, time, answer).embed(["a"], "query", 30.0)
    assert caught.value.retry_after == 120.0
    assert len(server.requests) == 1
    assert time.waits == []


def test_what_does_not_pass_is_given_up_before_the_deadline(server: ScriptedServer, time: Time) -> None:
    with pytest.raises(ProviderUnavailable, match="HTTP 503: busy") as caught:
        _embedder(server, time, answering(503, b"busy")).embed(["a"], "query", 3.0)
    assert caught.value.retry_after is None
    assert 1 < len(server.requests) < 6
    assert time.now < 1_003.0


def test_waits_grow_and_attempts_are_counted(server: ScriptedServer, time: Time) -> None:
    with pytest.raises(ProviderUnavailable):
        _embedder(server, time, answering(500, b"")).embed(["a"], "query", 1_000.0)
    assert time.waits == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert len(server.requests) == 6


def test_a_provider_that_is_not_there_is_unavailable(time: Time) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings = _settings(f"http://127.0.0.1:{free.getsockname()[1]}")
    with pytest.raises(ProviderUnavailable, match="cannot be reached: ConnectError"):
        EmbeddingService(settings, time.surroundings()).embed(["a"], "query", 30.0)
    assert time.waits


def test_a_provider_that_says_nothing_times_out(server: ScriptedServer) -> None:
    server.script[:] = [lambda exchange: exchange.cut() if exchange.hang() else None]
    with pytest.raises(ProviderTimeout, match=r"0\.2 s"):
        EmbeddingService(_settings(server.base_url)).embed(["a"], "query", 0.2)


def test_a_provider_that_says_a_little_again_and_again_times_out(server: ScriptedServer) -> None:
    def drip(exchange: Exchange) -> None:
        exchange.begin(200, 1_000_000)
        while not exchange.hang(0.01):
            exchange.send(b" ")

    server.script[:] = [drip]
    with pytest.raises(ProviderTimeout):
        EmbeddingService(_settings(server.base_url)).embed(["a"], "query", 0.2)


# --- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413, 422, 501])
def test_a_refusal_is_final_and_says_why(server: ScriptedServer, time: Time, status: int) -> None:
    body = json.dumps({"error": {"message": "no such model\nfor you", "code": 7}}).encode()
    with pytest.raises(ProviderRefused, match=rf"HTTP {status}: no such model for you\.") as caught:
        _embedder(server, time, answering(status, body, {"Location": "/elsewhere"})).embed(["a"], "query", 30.0)
    assert not caught.value.retryable
    assert len(server.requests) == 1


def test_a_provider_that_knows_no_base64_is_asked_for_numbers_from_then_on(server: ScriptedServer, time: Time) -> None:
    refusal = answering(400, b'{"error": {"message": "encoding_format must be float"}}')
    embedder = _embedder(server, time, refusal, answering(200, _data([3.0, 4.0])))
    for _ in range(2):
        assert embedder.embed(["a"], "query", 30.0) == pytest.approx(np.array([[0.6, 0.8]]))
    assert [request["encoding_format"] for request in server.requests] == ["base64", "float", "float"]


def test_what_a_provider_says_is_shortened_and_made_visible(server: ScriptedServer, time: Time) -> None:
    body = b"\x1b[31m" + b"very long " * 10_000
    with pytest.raises(ProviderRefused) as caught:
        _embedder(server, time, answering(400, body)).embed(["a"], "query", 30.0)
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


# --- Keys ------------------------------------------------------------------------------------------


def _echo_key(status: int) -> Answer:
    def answer(exchange: Exchange) -> None:
        exchange.reply(status, json.dumps({"error": {"message": f"bad: {exchange.headers['Authorization']}"}}).encode())

    return answer


@pytest.mark.parametrize("answer", [_echo_key(401), _echo_key(503), _cut])
def test_a_key_is_in_no_error_and_no_traceback(
    server: ScriptedServer, time: Time, answer: Answer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    (tmp_path / "key").write_text(KEY + "\n")
    embedder = _embedder(server, time, answer, key=f"file:{tmp_path / 'key'}")
    with pytest.raises(WenyuanError) as caught:
        embedder.embed(["a"], "query", 30.0)
    assert server.keys[0] == f"Bearer {KEY}"
    # The first frame is this test's own, and this test knows the key.
    inner = caught.tb.tb_next
    shown = "".join(traceback.TracebackException(caught.type, caught.value, inner, capture_locals=True).format())
    told = [shown, repr(caught.value), repr(caught.value.details), repr(embedder), repr(vars(embedder)), caplog.text]
    assert [text for text in told if KEY in text] == []


@pytest.mark.parametrize("key", ["env:TEST_ABSENT_KEY", "env:TEST_EMPTY_KEY", "file:/nowhere/key", "env:"])
def test_a_key_that_is_not_there_is_told_before_anything_is_sent(
    server: ScriptedServer, time: Time, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_EMPTY_KEY", " ")
    with pytest.raises(KeyMissing, match=key):
        _embedder(server, time, GOOD, key=key).embed(["a"], "query", 30.0)
    assert server.requests == []


@pytest.mark.parametrize("key", ["two words", "two\nlines", "密钥", "k" * 10_000])
def test_what_cannot_be_a_key_is_told_without_showing_it(
    server: ScriptedServer, time: Time, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", key)
    with pytest.raises(ConfigurationInvalid) as caught:
        _embedder(server, time, GOOD, key="env:TEST_MODEL_KEY").embed(["a"], "query", 30.0)
    assert key not in str(caught.value)
    assert server.requests == []


def test_a_key_is_read_anew_for_every_call(server: ScriptedServer, time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = _embedder(server, time, GOOD, key="env:TEST_MODEL_KEY")
    for key in ("first", "second"):
        monkeypatch.setenv("TEST_MODEL_KEY", key)
        embedder.embed(["a"], "query", 30.0)
    assert server.keys == ["Bearer first", "Bearer second"]


# --- Settings --------------------------------------------------------------------------------------


UNUSABLE_ADDRESSES = [
    *("", "ftp://host", "host/v1", "http://", "http://[::1", "http://h:x", "http://a b/", "http://h/\n"),
    *("http://u:p@host/v1", "https://host/v1?key=1", "https://host/v1#x"),
]


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        *(({"base_url": address}, "base_url") for address in UNUSABLE_ADDRESSES),
        ({"dimensions": 0}, "dimensions"),
        ({"model": ""}, "model"),
    ],
)
def test_settings_that_do_not_say_enough_are_refused(changes: dict[str, Any], setting: str) -> None:
    settings = dataclasses.replace(_settings("http://host/v1"), **changes)
    with pytest.raises(ConfigurationInvalid, match=f"models.test/model.{setting} "):
        EmbeddingService(settings)


def test_a_closed_embedder_opens_new_connections(server: ScriptedServer, time: Time) -> None:
    embedder = _embedder(server, time, GOOD)
    for _ in range(2):
        embedder.embed(["a"], "query", 10.0)
        embedder.close()
    assert len(server.connections) == 2
