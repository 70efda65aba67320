"""The steps of an answer as a chat completion, whole or in chunks."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wenyuan.doors.http.openai.bodies import ChatCompletion
from wenyuan.doors.http.openai.cutting import Cutting, estimated_tokens
from wenyuan.runtime.footnotes import footnotes
from wenyuan.runtime.granted import Step, last

_FINISHED: Mapping[str, str] = {"length": "length", "filtered": "content_filter"}
_SHOWN = ("trace_id", "route", "sources", "citations", "grounded", "finish_reason", "degraded", "unread", "support")


@dataclass(slots=True)
class Completion:
    """One completion while it is made."""

    body: ChatCompletion
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def cutting(self) -> Cutting:
        stop = self.body.stop
        stops = [stop] if isinstance(stop, str) else list(stop or ())
        return Cutting(stops, self.body.max_completion_tokens or self.body.max_tokens)

    def whole(self, steps: Sequence[Step]) -> dict[str, Any]:
        """The answer to a request that is not streamed."""
        message, cutting = last(steps), self.cutting()
        text = cutting.feed(message["text"]) + cutting.end()
        return self._whole(text, footnotes(text, message["citations"]), message, self._finished(message, cutting))

    def plain(self, text: str) -> dict[str, Any]:
        """A text for which nothing was looked up, as the answer."""
        return self._whole(text, "", {}, "stop")

    def _whole(self, text: str, below: str, message: Mapping[str, Any], finished: str) -> dict[str, Any]:
        said = {"role": "assistant", "content": text + below, "refusal": None}
        choice = {"index": 0, "message": said, "finish_reason": finished, "logprobs": None}
        whole = {**self._head("chat.completion"), "choices": [choice], "usage": self._usage(message, text)}
        return {**whole, "wenyuan": _ours(message)} if message else whole

    def first_chunk(self) -> dict[str, Any]:
        return self._chunk({"role": "assistant", "content": ""}, None)

    def text_chunk(self, text: str) -> dict[str, Any]:
        return self._chunk({"content": text}, None)

    def plain_chunks(self, text: str) -> Iterator[dict[str, Any]]:
        """A text for which nothing was looked up, in chunks."""
        yield self.first_chunk()
        yield self.text_chunk(text)
        yield self._chunk({}, "stop")
        yield from self._usage_chunk({}, text)

    def last_chunks(self, steps: Sequence[Step], cutting: Cutting) -> Iterator[dict[str, Any]]:
        """What comes after all of the text: the sources, why it ended, and what it took."""
        message = last(steps)
        below = footnotes(cutting.text, message["citations"])
        if below:
            yield self.text_chunk(below)
        yield {**self._chunk({}, self._finished(message, cutting)), "wenyuan": _ours(message)}
        yield from self._usage_chunk(message, cutting.text)

    def _usage_chunk(self, message: Mapping[str, Any], text: str) -> Iterator[dict[str, Any]]:
        if self.body.stream_options is not None and self.body.stream_options.include_usage:
            yield {**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage(message, text)}

    def _chunk(self, delta: Mapping[str, str], finished: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finished, "logprobs": None}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.body.model}

    def _finished(self, message: Mapping[str, Any], cutting: Cutting) -> str:
        return cutting.reason or _FINISHED.get(message["finish_reason"], "stop")

    def _usage(self, message: Mapping[str, Any], text: str) -> dict[str, int]:
        """As the model that wrote it counts; else as it is estimated here."""
        counted = message.get("usage") or {}
        asked, said = counted.get("input_tokens"), counted.get("output_tokens")
        if not asked and not said:
            asked = sum(estimated_tokens(_content(one.content)) for one in self.body.messages)
            said = estimated_tokens(text)
        asked, said = asked or 0, said or 0
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _content(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(part.text or "" for part in content or ())


def _ours(message: Mapping[str, Any]) -> dict[str, Any]:
    """What such a client does not know, and programs that know us do."""
    return {name: message[name] for name in _SHOWN if name in message}
