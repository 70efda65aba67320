"""What clients of OpenAI's API send. What this program has no use for is passed over, as that API grows steadily;

what it cannot do, and what would change the answer, is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_INPUTS = 2048
_LONGEST_STOP = 500
_MOST_MESSAGES = 2000

Name = Annotated[str, Field(min_length=1, max_length=4000)]
Stop = Annotated[str, Field(min_length=1, max_length=_LONGEST_STOP)]
Tokens = Annotated[int, Field(ge=1)]


class Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class ContentPart(Lenient):
    type: str
    text: str | None = None


class ChatMessage(Lenient):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None


class StreamOptions(Lenient):
    include_usage: bool = False


class ResponseFormat(Lenient):
    type: str = "text"


class Within(BaseModel):
    """What our own search takes besides; see `/api/v1/chat`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prefer: Literal["auto", "knowledge", "chat"] = "auto"
    top_k: int | None = Field(default=None, ge=1, le=200)
    documents: list[Name] | None = Field(default=None, max_length=1000)
    filters: dict[str, Any] | None = None


class ChatCompletion(Lenient):
    model: Name
    messages: list[ChatMessage] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    stop: Stop | Annotated[list[Stop], Field(max_length=4)] | None = None
    max_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    n: int | None = 1
    response_format: ResponseFormat | None = None
    tool_choice: str | dict[str, Any] | None = None
    logprobs: bool | None = False
    wenyuan: Within = Within()


class Embeddings(Lenient):
    model: Name
    input: str | list[str] | list[int] | list[list[int]]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1)
    input_type: Literal["passage", "query"] = "passage"
