"""What every generator keeps, whatever is behind it. An adapter's tests subclass it and provide `generator`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from wenyuan.errors import ProviderUnavailable
from wenyuan.ports import CallStopped, Generator
from wenyuan.types import GenerationEnd, GenerationEvent, GenerationRequest, Message, TextPiece

AWKWARD_TEXTS = [
    "你好",
    "half of a pair: \ud83d",
    "null \x00 and bell \x07",
    "<|im_end|> [DONE] data: x",
    "😀👩‍👩‍👧‍👦 e\u0301",
]
SECONDS = 60.0


def asking(text: str, max_output_tokens: int = 12) -> GenerationRequest:
    messages = (Message("system", "You are brief."), Message("user", text))
    return GenerationRequest(messages, max_output_tokens=max_output_tokens)


def written(events: list[GenerationEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextPiece))


class GeneratorContract:
    @pytest.fixture
    def generator(self) -> Generator:
        raise NotImplementedError

    def test_pieces_come_and_one_end_comes_last(self, generator: Generator) -> None:
        events = list(generator.generate(asking("Say something about rivers."), SECONDS))
        *pieces, end = events
        assert isinstance(end, GenerationEnd)
        assert pieces
        assert all(isinstance(piece, TextPiece) and piece.text for piece in pieces)
        assert end.reason in ("stop", "length")
        assert end.model
        assert end.tool_calls == ()
        assert end.usage.input_tokens is not None
        assert end.usage.input_tokens > 0
        assert end.usage.output_tokens is not None
        assert end.usage.output_tokens > 0

    @pytest.mark.parametrize("text", AWKWARD_TEXTS)
    def test_any_text_can_be_asked(self, generator: Generator, text: str) -> None:
        events = list(generator.generate(asking(text, 4), SECONDS))
        assert isinstance(events[-1], GenerationEnd)

    def test_a_whole_conversation_is_understood(self, generator: Generator) -> None:
        messages = (
            Message("system", "You are brief."),
            Message("user", "Hello."),
            Message("assistant", "Hello!"),
            Message("user", "And now?"),
        )
        events = list(generator.generate(GenerationRequest(messages, max_output_tokens=4), SECONDS))
        assert isinstance(events[-1], GenerationEnd)

    def test_closing_ends_the_call_and_the_next_one_is_whole(self, generator: Generator) -> None:
        events = generator.generate(asking("Count to a hundred.", 64), SECONDS)
        assert isinstance(next(events), TextPiece)
        events.close()  # type: ignore[attr-defined]  # an iterator that is made by a generator
        assert list(events) == []
        assert isinstance(list(generator.generate(asking("Hello."), SECONDS))[-1], GenerationEnd)

    def test_threads_may_share_it(self, generator: Generator) -> None:
        def ask(number: int) -> list[GenerationEvent]:
            return list(generator.generate(asking(f"Say {number}.", 4), SECONDS))

        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(ask, range(3)))
        assert all(isinstance(events[-1], GenerationEnd) for events in answers)
        assert all(written(events) for events in answers)

    def test_it_says_what_it_is_before_anything_is_called(self, generator: Generator) -> None:
        profile = generator.profile
        assert profile.name
        assert profile.provider
        assert profile.protocol
        assert profile.endpoint
        assert profile.model
        assert profile.context_tokens > 0
        assert profile.max_output_tokens > 0

    def test_no_time_at_all_is_worth_trying_again_later(self, generator: Generator) -> None:
        with pytest.raises(ProviderUnavailable):
            list(generator.generate(asking("Hello."), 0.0))

    def test_a_call_that_is_stopped_ends_without_an_answer(self, generator: Generator) -> None:
        with pytest.raises(CallStopped):
            list(generator.generate(asking("Say something about rivers."), SECONDS, lambda: True))
