"""Language models behind APIs, against real HTTP on loopback, well-behaved and not, in both protocols."""

from __future__ import annotations

import json
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.chat_server import MODEL, ChatServer, Reply, chatting
from tests.providers.generator_contract import GeneratorContract, written
from tests.providers.scripted_server import Answer, Exchange, scripted_server
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
from wenyuan.ports import Generator
from wenyuan.providers.anthropic_chat import AnthropicChat
from wenyuan.providers.chat_service import ChatService
from wenyuan.providers.openai_chat import OpenAIChat
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import (
    GenerationEnd,
    GenerationEvent,
    GenerationRequest,
    JsonObject,
    Message,
    TextPiece,
    TokenUsage,
    Tool,
    ToolCall,
)

KEY = "sk-secret-0123456789abcdef"
AT_ONCE = Surroundings(sleep=lambda _: None)
ADAPTERS: dict[str, Callable[[ModelSettings, Surroundings], ChatService]] = {
    "openai-compatible": OpenAIChat,
    "anthropic": AnthropicChat,
}
PROTOCOLS = tuple(ADAPTERS)
HELLO = GenerationRequest((Message("system", "Be brief."), Message("user", "你好")))
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}
SEARCH = Tool("search", "Looks something up.", SCHEMA)


@pytest.fixture(scope="module")
def serving() -> Iterator[ChatServer]:
    with chatting(Reply("unused")) as server:
        yield server


@pytest.fixture
def server(serving: ChatServer) -> ChatServer:
    serving.replies[:] = [Reply("Hello there, 世界。")]
    serving.requests.clear()
    serving.headers.clear()
    return serving


def writer(base_url: str, protocol: str, **changes: Any) -> ChatService:
    described: dict[str, Any] = {"types": ("chat",), "base_url": base_url, **changes}
    return ADAPTERS[protocol](ModelSettings("writer", protocol, "model-1", **described), AT_ONCE)


def ask(service: ChatService, request: GenerationRequest = HELLO, seconds: float = 10.0) -> list[GenerationEvent]:
    return list(service.generate(request, seconds))


def end_of(events: list[GenerationEvent]) -> GenerationEnd:
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return end


@pytest.mark.parametrize("protocol", PROTOCOLS)
class TestContract(GeneratorContract):
    @pytest.fixture
    def generator(self, server: ChatServer, protocol: str) -> Generator:
        return writer(server.base_url, protocol)


# --- What is asked ---------------------------------------------------------------------------------

CONVERSATION = (
    Message("system", "Be brief."),
    Message("user", "When does it leave?"),
    Message("assistant", "", (ToolCall("c1", "search", '{"query": "ferry"}'), ToolCall("c2", "search", "not JSON"))),
    Message("tool", "At nine.", tool_call_id="c1"),
    Message("tool", "Nothing.", tool_call_id="c2"),
    Message("user", "Well?"),
)


def test_openai_is_asked_as_the_protocol_says(server: ChatServer) -> None:
    service = writer(server.base_url, "openai-compatible", tools=True, max_output_tokens=50)
    ask(service, GenerationRequest(CONVERSATION, tools=(SEARCH,), stop=("END",)))
    assert server.requests == [
        {
            "model": "model-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "When does it leave?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"query": "ferry"}'},
                        },
                        {"id": "c2", "type": "function", "function": {"name": "search", "arguments": "not JSON"}},
                    ],
                },
                {"role": "tool", "content": "At nine.", "tool_call_id": "c1"},
                {"role": "tool", "content": "Nothing.", "tool_call_id": "c2"},
                {"role": "user", "content": "Well?"},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 50,
            "temperature": 0.0,
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "search", "description": "Looks something up.", "parameters": SCHEMA},
                }
            ],
            "stop": ["END"],
        }
    ]


def test_anthropic_is_asked_as_the_protocol_says(server: ChatServer) -> None:
    service = writer(server.base_url, "anthropic", tools=True, max_output_tokens=50)
    ask(service, GenerationRequest(CONVERSATION, tools=(SEARCH,), stop=("END",), max_output_tokens=20))
    assert server.requests == [
        {
            "model": "model-1",
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "When does it leave?"}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "ferry"}},
                        {"type": "tool_use", "id": "c2", "name": "search", "input": {"arguments": "not JSON"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "At nine."},
                        {"type": "tool_result", "tool_use_id": "c2", "content": "Nothing."},
                        {"type": "text", "text": "Well?"},
                    ],
                },
            ],
            "stream": True,
            "max_tokens": 20,
            "temperature": 0.0,
            "tools": [{"name": "search", "description": "Looks something up.", "input_schema": SCHEMA}],
            "stop_sequences": ["END"],
        }
    ]


@pytest.mark.parametrize(
    ("protocol", "header", "value"),
    [("openai-compatible", "authorization", f"Bearer {KEY}"), ("anthropic", "x-api-key", KEY)],
)
def test_a_key_is_sent_as_the_protocol_says(
    server: ChatServer, protocol: str, header: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRITER_KEY", KEY)
    ask(writer(server.base_url, protocol, key="env:WRITER_KEY"))
    assert server.headers[0][header] == value
    assert str(server.headers[0]).count(KEY) == 1
    monkeypatch.delenv("WRITER_KEY")
    with pytest.raises(KeyMissing):
        ask(writer(server.base_url, protocol, key="env:WRITER_KEY"))
    assert len(server.requests) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_else_a_provider_is_told_stands_in_the_settings(server: ChatServer, protocol: str) -> None:
    ask(writer(server.base_url, protocol, options={"enable_thinking": False, "temperature": 0.5}))
    assert server.requests[0]["enable_thinking"] is False
    assert server.requests[0]["temperature"] == 0.5


def test_openai_is_held_to_a_schema(server: ChatServer) -> None:
    ask(
        writer(server.base_url, "openai-compatible", json_schema=True),
        GenerationRequest(HELLO.messages, json_schema=SCHEMA),
    )
    described = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert server.requests[0]["response_format"] == {"type": "json_schema", "json_schema": described}


def test_anthropic_is_held_to_a_schema_by_a_tool(server: ChatServer) -> None:
    server.replies[:] = [Reply(tool_calls=(("answer", '{"query": "ferry"}'),))]
    events = ask(
        writer(server.base_url, "anthropic", json_schema=True), GenerationRequest(HELLO.messages, json_schema=SCHEMA)
    )
    assert json.loads(written(events)) == {"query": "ferry"}
    assert (end_of(events).reason, end_of(events).tool_calls) == ("stop", ())
    assert server.requests[0]["tool_choice"] == {"type": "tool", "name": "answer"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_cannot_be_held_to_a_schema_is_told_it_in_words(server: ChatServer, protocol: str) -> None:
    ask(writer(server.base_url, protocol), GenerationRequest(HELLO.messages, json_schema=SCHEMA))
    asked = json.dumps(server.requests[0])
    assert "JSON Schema" in asked
    assert "additionalProperties" in asked
    assert "response_format" not in server.requests[0]
    assert "tool_choice" not in server.requests[0]


# --- What is answered ------------------------------------------------------------------------------

ENDINGS = {"stop": "stop", "length": "length", "content_filter": "filtered"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("said", "reason"), ENDINGS.items())
def test_an_answer_tells_why_it_ended_and_what_it_came_to(
    server: ChatServer, protocol: str, said: str, reason: str
) -> None:
    server.replies[:] = [Reply("两 pieces.", reason=said, input_tokens=30, output_tokens=4)]
    events = ask(writer(server.base_url, protocol))
    assert written(events) == "两 pieces."
    assert end_of(events) == GenerationEnd(reason, MODEL, TokenUsage(30, 4))  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_calls_of_tools_come_whole(server: ChatServer, protocol: str) -> None:
    server.replies[:] = [Reply("I look.", tool_calls=(("search", '{"query": "渡轮 ferry"}'), ("list", "{}")))]
    events = ask(writer(server.base_url, protocol, tools=True), GenerationRequest(HELLO.messages, tools=(SEARCH,)))
    end = end_of(events)
    assert written(events) == "I look."
    assert end.reason == "tool-calls"
    assert [(one.name, json.loads(one.arguments)) for one in end.tool_calls] == [
        ("search", {"query": "渡轮 ferry"}),
        ("list", {}),
    ]
    assert len({one.id for one in end.tool_calls}) == 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_model_thinks_is_passed_over(server: ChatServer, protocol: str) -> None:
    server.replies[:] = [Reply("Nine.", reasoning="The user wants a time. It is nine.")]
    assert written(ask(writer(server.base_url, protocol))) == "Nine."


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_without_words_is_an_answer(server: ChatServer, protocol: str) -> None:
    server.replies[:] = [Reply("")]
    assert ask(writer(server.base_url, protocol)) == [GenerationEnd("stop", MODEL, TokenUsage(12, 7))]


def test_thoughts_within_the_answer_are_passed_over(server: ChatServer) -> None:
    server.replies[:] = [Reply("<think>\nIt is nine, I believe.\n</think>\n\nNine, <think>.")]
    assert written(ask(writer(server.base_url, "openai-compatible"))) == "Nine, <think>."


def test_a_count_that_is_not_told_is_unknown(server: ChatServer) -> None:
    server.replies[:] = [Reply("Nine.", input_tokens=None)]
    assert end_of(ask(writer(server.base_url, "openai-compatible"))).usage == TokenUsage(None, None)


# --- Servers that say it in their own way -----------------------------------------------------------


def _sse(*events: Any) -> bytes:
    return b"".join(f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n".encode() for one in events)


def _delta(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _streaming(body: bytes) -> Answer:
    return lambda exchange: exchange.reply(200, body, {"Content-Type": "text/event-stream"})


def _against(
    protocol: str, *answers: Answer, seconds: float = 10.0
) -> tuple[list[GenerationEvent], list[dict[str, Any]]]:
    with scripted_server() as server:
        server.script[:] = answers
        return ask(writer(server.base_url, protocol), HELLO, seconds), server.requests


def test_calls_without_numbers_or_ids_are_told_apart() -> None:
    call = {"function": {"name": "search", "arguments": {"query": "a"}}}
    named = [{"id": name, "index": 0, "function": {"name": "list", "arguments": "{}"}} for name in ("x", "y")]
    body = _sse(_delta({"tool_calls": [call]}), _delta({"tool_calls": named}), _delta({}, "stop"))
    events, _ = _against("openai-compatible", _streaming(body))
    end = end_of(events)
    assert end.reason == "tool-calls"
    assert [(one.id, one.name, one.arguments) for one in end.tool_calls] == [
        ("call_0", "search", '{"query": "a"}'),
        ("x", "list", "{}"),
        ("y", "list", "{}"),
    ]


def test_so_many_calls_are_heard_and_no_more() -> None:
    calls = [{"index": number, "function": {"name": "list", "arguments": "{}"}} for number in range(12_000)]
    body = _sse(_delta({"tool_calls": calls}), _delta({"tool_calls": calls[:1]}), _delta({}, "tool_calls"))
    events, _ = _against("openai-compatible", _streaming(body))
    heard = end_of(events).tool_calls
    assert [one.arguments for one in heard] == ["{}{}", *["{}"] * 127]


def test_an_answer_that_came_as_a_whole_is_taken() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "Nine."}], "reasoning_content": "hm"}
    whole = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    answer: Answer = lambda exchange: exchange.reply(  # noqa: E731
        200, json.dumps(whole).encode(), {"Content-Type": "application/json"}
    )
    events, _ = _against("openai-compatible", answer)
    assert events == [TextPiece("Nine."), GenerationEnd("stop", "m", TokenUsage(3, None))]


def test_a_message_that_came_as_a_whole_is_taken() -> None:
    content = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t", "name": "search", "input": {"q": 1}},
    ]
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5}
    whole = {"type": "message", "model": "m", "content": content, "stop_reason": "tool_use", "usage": usage}
    answer: Answer = lambda exchange: exchange.reply(  # noqa: E731
        200, json.dumps(whole).encode(), {"Content-Type": "application/json"}
    )
    events, _ = _against("anthropic", answer)
    call = ToolCall("t", "search", '{"q": 1}')
    assert events == [TextPiece("I look."), GenerationEnd("tool-calls", "m", TokenUsage(7, 5), (call,))]


@pytest.mark.parametrize(
    ("refusal", "gone", "new"),
    [
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_completion_tokens",
        ),
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "temperature", ""),
        ("Unrecognized request argument supplied: stream_options", "stream_options", ""),
    ],
)
def test_a_field_that_is_not_taken_is_worded_otherwise_from_then_on(refusal: str, gone: str, new: str) -> None:
    refused: Answer = lambda exchange: exchange.reply(400, json.dumps({"error": {"message": refusal}}).encode())  # noqa: E731
    good = _streaming(_sse(_delta({"content": "Nine."}, "stop"), "[DONE]"))
    events, requests = _against("openai-compatible", refused, good)
    assert written(events) == "Nine."
    assert [gone in request for request in requests] == [True, False]
    assert not new or new in requests[1]


# --- What fails ------------------------------------------------------------------------------------

STATUSES: list[tuple[int, type[ProviderError]]] = [
    (400, ProviderRefused),
    (401, ProviderRefused),
    (404, ProviderRefused),
    (429, RateLimited),
    (500, ProviderUnavailable),
    (529, ProviderUnavailable),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("status", "kind"), STATUSES)
def test_a_status_is_told(server: ChatServer, protocol: str, status: int, kind: type[ProviderError]) -> None:
    server.replies[:] = [Reply(status=status, body=b'{"error": {"message": "not today"}}')]
    with pytest.raises(kind) as caught:
        ask(writer(server.base_url, protocol))
    assert type(caught.value) is kind
    assert status == 429 or "not today" in str(caught.value)
    assert len(server.requests) == (6 if kind is not ProviderRefused else 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_time_to_wait_is_handed_on(server: ChatServer, protocol: str) -> None:
    server.replies[:] = [Reply(status=429, body=b"{}", headers=(("Retry-After", "120"),))]
    with pytest.raises(RateLimited) as caught:
        ask(writer(server.base_url, protocol))
    assert caught.value.retry_after == 120.0
    assert len(server.requests) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_fails_before_the_first_piece_is_tried_again(server: ChatServer, protocol: str) -> None:
    cut = Reply("one two three", breaks_after=0)
    server.replies[:] = [Reply(status=503, body=b"busy"), cut, cut, Reply("fine")]
    assert written(ask(writer(server.base_url, protocol))) == "fine"
    assert len(server.requests) == 4


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_breaks_off_later_is_not(server: ChatServer, protocol: str) -> None:
    server.replies[:] = [Reply("one two three", breaks_after=2)]
    events = writer(server.base_url, protocol).generate(HELLO, 10.0)
    pieces = [next(events), next(events)]
    assert written(pieces) == "one two "
    with pytest.raises(ProviderUnavailable):
        list(events)
    assert len(server.requests) == 1


BROKEN: dict[str, tuple[bytes, type[ProviderError], int]] = {
    "no end": (_sse(_delta({"content": "a"})), ProviderUnavailable, 1),
    "nothing": (b"", ProviderUnavailable, 6),
    "no JSON": (_sse("{nonsense"), ProviderAnswerInvalid, 1),
    "no object": (_sse("[1]"), ProviderAnswerInvalid, 1),
    "an error that passes": (_sse({"error": {"message": "overloaded"}}), ProviderUnavailable, 6),
    "an error that does not": (_sse({"error": {"message": "too long", "code": 400}}), ProviderAnswerInvalid, 1),
    "an endless line": (b"data: " + b"x" * 1_200_000, ProviderAnswerInvalid, 1),
    "an endless event": (b"data: x\n" * 200_000, ProviderAnswerInvalid, 1),
    "odd values": (_sse({"choices": 7}, {"choices": [None]}, {"choices": [{"delta": 3}]}), ProviderUnavailable, 6),
}


@pytest.mark.parametrize(("body", "kind", "attempts"), BROKEN.values(), ids=BROKEN.keys())
def test_a_stream_that_makes_no_sense_is_told(body: bytes, kind: type[ProviderError], attempts: int) -> None:
    with scripted_server() as server:
        server.script[:] = [_streaming(body)]
        with pytest.raises(kind) as caught:
            ask(writer(server.base_url, "openai-compatible"))
        assert type(caught.value) is kind
        assert len(server.requests) == attempts


ANTHROPIC_BROKEN: dict[str, tuple[bytes, type[ProviderError]]] = {
    "no end": (_sse({"type": "message_start", "message": {}}), ProviderUnavailable),
    "no JSON": (_sse("{nonsense"), ProviderAnswerInvalid),
    "overloaded": (_sse({"type": "error", "error": {"type": "overloaded_error"}}), ProviderUnavailable),
    "refused": (
        _sse({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
        ProviderAnswerInvalid,
    ),
    "odd values": (_sse({"type": "content_block_delta", "delta": 3}, {"type": 7}), ProviderUnavailable),
}


@pytest.mark.parametrize(("body", "kind"), ANTHROPIC_BROKEN.values(), ids=ANTHROPIC_BROKEN.keys())
def test_events_that_make_no_sense_are_told(body: bytes, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        _against("anthropic", _streaming(body))


def _hang(exchange: Exchange) -> None:
    exchange.hang()
    exchange.cut()


def _drip_headers(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not exchange.hang(0.01):
        exchange.send(b"x")


def _drip(exchange: Exchange) -> None:
    exchange.begin(200, 1_000_000, {"Content-Type": "text/event-stream"})
    while not exchange.hang(0.01):
        exchange.send(b":\n")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("answer", [_hang, _drip_headers, _drip])
def test_who_does_not_come_to_an_end_times_out(protocol: str, answer: Answer) -> None:
    with pytest.raises(ProviderTimeout):
        _against(protocol, answer, seconds=0.2)


def test_a_piece_does_not_renew_the_time(server: ChatServer) -> None:
    server.replies[:] = [Reply("one two three", hangs_after=1)]
    events = writer(server.base_url, "openai-compatible").generate(HELLO, 1.0)
    assert next(events) == TextPiece("one ")
    with pytest.raises(ProviderTimeout):
        list(events)


def test_closing_tells_the_provider_to_stop() -> None:
    with scripted_server() as server:
        closed = threading.Event()

        def talk(exchange: Exchange) -> None:
            exchange.begin(200, 1 << 30, {"Content-Type": "text/event-stream"})
            exchange.send(_sse(_delta({"content": "word "})))
            try:
                while not exchange.hang(0.01):
                    exchange.send(b": still here" + b" " * 10_000 + b"\n")
            except ConnectionError:
                closed.set()
                raise

        server.script[:] = [talk]
        events = writer(server.base_url, "openai-compatible").generate(HELLO, 30.0)
        assert next(events) == TextPiece("word ")
        events.close()  # type: ignore[attr-defined]  # an iterator that is made by a generator
        assert closed.wait(10.0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_provider_that_is_not_there_is_unavailable(protocol: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        waits: list[float] = []
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        settings = ModelSettings("writer", protocol, "m", url, types=("chat",))
        service = ADAPTERS[protocol](settings, Surroundings(sleep=waits.append))
    with pytest.raises(ProviderUnavailable, match="ConnectError"):
        ask(service)
    assert len(waits) == 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("reply", [Reply(status=401, body=KEY.encode()), Reply("one two", breaks_after=1)])
def test_a_key_is_in_no_error_and_no_traceback(
    server: ChatServer, protocol: str, reply: Reply, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    monkeypatch.setenv("WRITER_KEY", KEY)
    server.replies[:] = [reply]
    service = writer(server.base_url, protocol, key="env:WRITER_KEY")
    with pytest.raises(ProviderError) as caught:
        ask(service)
    # The first frame is this test's own, and this test knows the key.
    inner = caught.tb.tb_next
    shown = "".join(traceback.TracebackException(caught.type, caught.value, inner, capture_locals=True).format())
    told = [shown, repr(caught.value.details), repr(vars(service)), caplog.text]
    assert [text for text in told if KEY in text] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("changes", "setting"), [({"base_url": "host"}, "base_url"), ({"model": ""}, "model")])
def test_settings_that_do_not_say_enough_are_refused(protocol: str, changes: dict[str, str], setting: str) -> None:
    described: dict[str, Any] = {"model": "m", "base_url": "http://host", **changes}
    settings = ModelSettings(name="writer", protocol=protocol, types=("chat",), **described)
    with pytest.raises(ConfigurationInvalid, match=rf"models\.writer\.{setting} "):
        ADAPTERS[protocol](settings, AT_ONCE)
