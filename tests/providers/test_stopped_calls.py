"""Calls to language models end at once when nobody wants their answer any more, whatever they are waiting for."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

from tests.chat_server import MODEL, Reply, chatting
from tests.waiting import until
from wenyuan.ports import CallStopped
from wenyuan.providers.anthropic_chat import AnthropicChat
from wenyuan.providers.openai_chat import OpenAIChat
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import GenerationRequest, Message, TextPiece

HELLO = GenerationRequest((Message("user", "你好"),))
LONG = 600.0


def settings(base_url: str, protocol: str = "openai-compatible") -> ModelSettings:
    return ModelSettings("writer", protocol=protocol, model=MODEL, base_url=base_url, types=("chat",))


def test_a_call_that_is_stopped_ends_while_the_model_says_nothing() -> None:
    with chatting(Reply("one two three", hangs_after=1)) as server:
        adapter = OpenAIChat(settings(server.base_url))
        is_stopped = threading.Event()
        events = adapter.generate(HELLO, LONG, is_stopped.is_set)
        assert isinstance(next(events), TextPiece)
        is_stopped.set()
        with pytest.raises(CallStopped):
            next(events)
        # The model's server sees it too, and nothing is left that could wait for the deadline.
        until(lambda: len(server.left) == 1)


@pytest.mark.parametrize("answers", [b"", b"HTTP/1.1 200 OK\r\nContent-"], ids=["silent", "half a head"])
def test_a_call_is_stopped_before_its_answer_has_begun(answers: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        adapter = AnthropicChat(settings(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", "anthropic"))
        is_stopped = threading.Event()
        outcome: list[BaseException] = []

        def call() -> None:
            try:
                next(adapter.generate(HELLO, LONG, is_stopped.is_set))
            except CallStopped as error:
                outcome.append(error)

        calling = threading.Thread(target=call)
        calling.start()
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answers)
            is_stopped.set()
            calling.join(60)
            assert len(outcome) == 1
            connection.settimeout(60)
            with suppress(ConnectionResetError):
                while connection.recv(65536):
                    pass


def test_a_call_that_waits_to_be_tried_again_is_stopped() -> None:
    with chatting(Reply(status=503, headers=(("Retry-After", "300"),))) as server:
        adapter = OpenAIChat(settings(server.base_url))
        with pytest.raises(CallStopped):
            next(adapter.generate(HELLO, LONG, lambda: len(server.requests) == 1))


def test_a_call_whose_request_is_not_taken_is_stopped() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        adapter = OpenAIChat(settings(f"http://127.0.0.1:{listening.getsockname()[1]}/v1"))
        long = GenerationRequest((Message("user", "x" * (32 << 20)),))
        glances = iter(range(1000))
        with pytest.raises(CallStopped):
            next(adapter.generate(long, LONG, lambda: next(glances) > 20))
