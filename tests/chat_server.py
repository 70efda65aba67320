"""A language model's service on loopback that says what a test tells it to, in the protocols of OpenAI and Anthropic.

`POST /v1/chat/completions` and `POST /v1/messages` are answered, as a stream where one is asked for.
"""

from __future__ import annotations

import json
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import serving_on_loopback

MODEL = "scripted-1"
_GLANCE_MS = 50


@dataclass(frozen=True)
class Reply:
    """What the model says to one request.

    `tool_calls` are (name, arguments) pairs, the arguments as text. `reason` is as OpenAI words it. After
    `breaks_after` pieces the connection is cut, after `hangs_after` nothing more comes until the test is over.
    With a `status` other than 200 the `body` is the whole answer.
    """

    text: str = ""
    tool_calls: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    reasoning: str = ""
    input_tokens: int | None = 12
    output_tokens: int | None = 7
    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    breaks_after: int | None = None
    hangs_after: int | None = None

    @property
    def pieces(self) -> list[str]:
        return re.findall(r"\S{1,12}\s*|\s+", self.text)


@dataclass
class ChatServer:
    """Gives one reply of the script to each request; the last one again and again.

    A reply may be a function of the request. `spoken` is set once a piece has been sent; `left` holds the moments at
    which callers closed their connections while nothing came.
    """

    address: str
    replies: list[Reply | Callable[[dict[str, Any]], Reply]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    spoken: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    left: list[float] = field(default_factory=list)
    _choosing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def settings(self, name: str = "writer", protocol: str = "openai-compatible", more: str = "") -> str:
        """The part of wenyuan.toml that makes this server the model that answers; `more` are further lines of it."""
        return f'[roles]\nanswer = "{name}"\n\n{self.described(name, protocol, more)}'

    def described(self, name: str = "writer", protocol: str = "openai-compatible", more: str = "tools = true") -> str:
        """The table of wenyuan.toml that describes this server as a model that writes."""
        return (
            f'[models."{name}"]\ntypes = ["chat"]\nprotocol = "{protocol}"\nmodel = "{MODEL}"\n'
            f'base_url = "{self.base_url}"\n{more}\n'
        )

    def next_reply(self, request: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self._choosing:
            self.requests.append(request)
            self.headers.append(headers)
            chosen = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return chosen(request) if callable(chosen) else chosen


@contextmanager
def chatting(*replies: Reply | Callable[[dict[str, Any]], Reply]) -> Iterator[ChatServer]:
    """Serve for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = state.next_reply(request, {name.lower(): value for name, value in self.headers.items()})
            with suppress(ConnectionError):
                self._answer(request, reply)

        def _answer(self, request: dict[str, Any], reply: Reply) -> None:
            if reply.status != 200:
                self._whole(reply.status, reply.body, dict(reply.headers))
                return
            is_anthropic = self.path.endswith("/messages")
            if request.get("stream"):
                events = _anthropic_events(reply) if is_anthropic else _openai_events(request, reply)
                self._stream(events, reply)
            else:
                body = _anthropic_message(reply) if is_anthropic else _openai_completion(reply)
                self._whole(200, json.dumps(body, ensure_ascii=False).encode(), {"Content-Type": "application/json"})

        def _whole(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, events: Iterator[tuple[bytes, bool]], reply: Reply) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            said = 0
            for event, is_piece in events:
                if is_piece and said == reply.breaks_after:
                    self.close_connection = True
                    return
                if is_piece and said == reply.hangs_after:
                    self._hang()
                    self.close_connection = True
                    return
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.flush()
                if is_piece:
                    said += 1
                    state.spoken.set()
            self.wfile.write(b"0\r\n\r\n")

        def _hang(self) -> None:
            waiting = select.poll()
            waiting.register(self.connection, select.POLLIN)
            while not state.over.is_set():
                if waiting.poll(_GLANCE_MS) and self._is_left():
                    state.left.append(time.monotonic())
                    return

        def _is_left(self) -> bool:
            try:
                return not self.connection.recv(1, socket.MSG_PEEK)
            except ConnectionResetError:
                # Whoever asked has gone without reading all that was said.
                return True

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with serving_on_loopback(Handler) as address:
        state = ChatServer(address, list(replies))
        try:
            yield state
        finally:
            state.over.set()


def _sent(data: dict[str, Any] | str, event: str = "") -> bytes:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if not isinstance(data, str) and text.encode("utf-8", "ignore").decode() != text:
        # Half of a character has no UTF-8, but a way to be written in JSON.
        text = json.dumps(data)
    return f"{f'event: {event}' + chr(10) if event else ''}data: {text}\n\n".encode()


# --- OpenAI ----------------------------------------------------------------------------------------


def _openai_reason(reply: Reply) -> str:
    return reply.reason or ("tool_calls" if reply.tool_calls else "stop")


def _openai_usage(reply: Reply) -> dict[str, Any] | None:
    if reply.input_tokens is None or reply.output_tokens is None:
        return None
    total = reply.input_tokens + reply.output_tokens
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}


def _openai_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(reply.tool_calls)
    ]


def _openai_completion(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = _openai_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _openai_reason(reply)}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]}
    usage = _openai_usage(reply)
    return {**body, "usage": usage} if usage is not None else body


def _openai_events(request: dict[str, Any], reply: Reply) -> Iterator[tuple[bytes, bool]]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
        return _sent({**base, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""}), False
    if reply.reasoning:
        yield chunk({"reasoning_content": reply.reasoning}), False
    for piece in reply.pieces:
        yield chunk({"content": piece}), True
    for number, call in enumerate(_openai_calls(reply)):
        head = {**call, "index": number, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [head]}), False
        arguments = call["function"]["arguments"]
        middle = len(arguments) // 2
        for part in (arguments[:middle], arguments[middle:]):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": part}}]}), False
    yield chunk({}, _openai_reason(reply)), True
    if (request.get("stream_options") or {}).get("include_usage") and (usage := _openai_usage(reply)) is not None:
        yield _sent({"id": "chatcmpl-1", "model": MODEL, "choices": [], "usage": usage}), False
    yield _sent("[DONE]"), False


# --- Anthropic -------------------------------------------------------------------------------------

_ANTHROPIC_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def _anthropic_blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2ln"})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    for number, (name, arguments) in enumerate(reply.tool_calls):
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": json.loads(arguments)})
    return blocks


def _anthropic_message(reply: Reply) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": _anthropic_blocks(reply),
        "stop_reason": _ANTHROPIC_REASONS[_openai_reason(reply)],
        "stop_sequence": None,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
    }


def _anthropic_events(reply: Reply) -> Iterator[tuple[bytes, bool]]:
    def event(kind: str, **data: Any) -> bytes:
        return _sent({"type": kind, **data}, kind)

    empty = {**_anthropic_message(reply), "content": [], "stop_reason": None}
    usage = {"input_tokens": reply.input_tokens, "output_tokens": 1}
    yield event("message_start", message={**empty, "usage": usage}), False
    yield event("ping"), False
    for number, block in enumerate(_anthropic_blocks(reply)):
        kind = block["type"]
        empty_of: dict[str, dict[str, Any]] = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        yield event("content_block_start", index=number, content_block={**block, **empty_of[kind]}), False
        if kind == "text":
            for piece in reply.pieces:
                delta: dict[str, Any] = {"type": "text_delta", "text": piece}
                yield event("content_block_delta", index=number, delta=delta), True
        elif kind == "thinking":
            delta = {"type": "thinking_delta", "thinking": block["thinking"]}
            yield event("content_block_delta", index=number, delta=delta), False
        else:
            arguments = json.dumps(block["input"], ensure_ascii=False)
            middle = len(arguments) // 2
            for part in ("", arguments[:middle], arguments[middle:]):
                delta = {"type": "input_json_delta", "partial_json": part}
                yield event("content_block_delta", index=number, delta=delta), False
        yield event("content_block_stop", index=number), False
    stopped = {"stop_reason": _ANTHROPIC_REASONS[_openai_reason(reply)], "stop_sequence": None}
    yield event("message_delta", delta=stopped, usage={"output_tokens": reply.output_tokens}), True
    yield event("message_stop"), False
