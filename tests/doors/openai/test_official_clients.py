"""OpenAI's own clients, in Python and in JavaScript, use a library as they use OpenAI."""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Any

import openai
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.node import run_node

QUESTION = "四月十四号的会议定了什么？"


def ask(client: openai.OpenAI, question: str = QUESTION, model: str = "kb:default", **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": question}], **more)


def test_knowledge_bases_are_models(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == [
        "kb:*",
        "kb:default",
        "kb:pumps",
        "built-in/multilingual-e5-small",
    ]
    for name in ("kb:default", "kb:default+pumps", "kb:*", "built-in/multilingual-e5-small"):
        assert client.models.retrieve(name).id == name
    with pytest.raises(openai.NotFoundError) as raised:
        client.models.retrieve("kb:default+nowhere")
    assert raised.value.code == "model-not-found"


def test_a_completion_has_the_answer_and_its_sources(client: openai.OpenAI) -> None:
    made = ask(client)
    choice = made.choices[0]
    assert "PPR-9087" in choice.message.content
    assert choice.message.content.endswith("\n\n---\n[1] 周会.md › 周会 › 2026年4月14日, 第 5 行")
    assert choice.finish_reason == "stop"
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens > 0
    ours = made.model_extra["wenyuan"]
    assert ours["sources"][0]["document_name"] == "周会.md"
    assert ours["citations"][0]["number"] == 1
    assert ours["trace_id"].startswith("trace_")


def test_a_stream_says_the_same_as_the_whole(client: openai.OpenAI) -> None:
    whole = ask(client)
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    texts = [one.choices[0].delta.content or "" for one in chunks if one.choices]
    assert "".join(texts) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [one.choices[0].finish_reason for one in chunks if one.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    assert len({one.id for one in chunks}) == 1
    assert chunks[-2].model_extra["wenyuan"]["citations"] == whole.model_extra["wenyuan"]["citations"]
    assert all(one.usage is None for one in ask(client, stream=True))


@pytest.mark.parametrize("stream", [False, True])
def test_a_text_ends_before_a_stop_sequence(client: openai.OpenAI, stream: bool) -> None:
    assert content(ask(client, stop=["PPR-90", "没有"], stream=stream)) == "决定：屏幕改用 "


@pytest.mark.parametrize("stream", [False, True])
def test_a_text_has_no_more_tokens_than_are_wanted(client: openai.OpenAI, stream: bool) -> None:
    made = ask(client, max_completion_tokens=4, stream=stream)
    finished = list(made)[-1] if stream else made
    assert finished.choices[0].finish_reason == "length"
    assert content(ask(client, max_tokens=4, stream=stream)) == "决定：屏"


def content(made: Any) -> str:
    if isinstance(made, openai.Stream):
        return "".join(one.choices[0].delta.content or "" for one in made)
    text: str = made.choices[0].message.content
    return text


def test_a_model_looks_into_its_knowledge_bases_alone(client: openai.OpenAI) -> None:
    pumps = "三号水泵的额定流量是多少？"
    found = {model: "40 吨" in content(ask(client, pumps, model)) for model in ("kb:default", "kb:pumps", "kb:*")}
    assert found == {"kb:default": False, "kb:pumps": True, "kb:*": True}
    assert "40 吨" in content(ask(client, pumps, "kb:default+pumps"))


def test_what_was_said_before_belongs_to_the_question(client: openai.OpenAI, server: Server) -> None:
    first = content(ask(client))
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "它什么时候供货？"},
    ]
    made = client.chat.completions.create(model="kb:default", messages=messages)
    assert made.model_extra is not None
    stages = server.library.trace(made.model_extra["wenyuan"]["trace_id"])["stages"]
    rewrite = next(one for one in stages if one["name"] == "rewrite")
    assert rewrite["status"] == "fallback-no-config"


def test_what_a_front_end_asks_beside_the_conversation_searches_nothing(client: openai.OpenAI, server: Server) -> None:
    before = server.library.traces(100)
    title = (
        "### Task:\nGenerate a concise, 3-5 word title with an emoji.\n### Output:\nJSON format: "
        '{ "title": "your concise title here" }\n### Chat History:\n<chat_history>\n'
        f"USER: {QUESTION}\nASSISTANT: 决定：屏幕改用 PPR-9087。\n</chat_history>"
    )
    assert content(ask(client, title)) == f'{{"title": "{QUESTION}"}}'
    tags = '### Task:\nGenerate tags.\n### Output:\nJSON format: { "tags": ["tag1", "tag2"] }\n'
    assert content(ask(client, tags, stream=True)) == '{"tags": []}'
    assert server.library.traces(100) == before
    with pytest.raises(openai.NotFoundError):
        ask(client, tags, "kb:nowhere")


REFUSED: list[tuple[dict[str, Any], str | None]] = [
    ({"n": 2}, "n"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"logprobs": True}, "logprobs"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "assistant", "content": "?"}]}, "messages"),
    ({"messages": [{"role": "user", "content": "長" * 4001}]}, "messages"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "messages.0.content"),
    ({"messages": [{"role": "user", "content": "  "}]}, None),
    ({"extra_body": {"wenyuan": {"filters": {"year": {"nonsense": 1}}}}}, None),
]


@pytest.mark.parametrize(("change", "param"), REFUSED)
def test_what_cannot_be_done_is_refused(client: openai.OpenAI, change: dict[str, Any], param: str | None) -> None:
    asked: dict[str, Any] = {"model": "kb:default", "messages": [{"role": "user", "content": QUESTION}], **change}
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(**asked)
    assert raised.value.type == "invalid_request_error"
    assert raised.value.param == param


def test_errors_have_the_shape_and_status_that_are_known(server: Server, client: openai.OpenAI) -> None:
    raw = server.client
    assert raw.post(f"{server.url}/v1/chat/completions", content="{").json()["error"]["type"] == "invalid_request_error"
    assert raw.get(f"{server.url}/v1/nowhere").json()["error"]["code"] == "route-not-found"
    assert raw.get(f"{server.url}/v1/models", headers={"Origin": "https://evil.example"}).status_code == 403
    large = raw.post(f"{server.url}/v1/embeddings", content=b"x" * (5 << 20))
    assert (large.status_code, large.json()["error"]["code"]) == (413, "body-too-large")
    assert "detail" in raw.get("/nowhere").json()
    with pytest.raises(openai.AuthenticationError) as raised:
        client.with_options(api_key="wyk_unknown").models.list()
    assert raised.value.type == "authentication_error"


# --- Embeddings ------------------------------------------------------------------------------------

E5 = "built-in/multilingual-e5-small"


def test_texts_get_the_vectors_of_the_model(client: openai.OpenAI, server: Server) -> None:
    texts = ["水泵", "the screen", "PPR-9087"]
    made = client.embeddings.create(model=E5, input=texts)
    expected = server.library.models.embedder(E5).embed(texts, "passage", 60)
    assert [one.index for one in made.data] == [0, 1, 2]
    for one, vector in zip(made.data, expected, strict=True):
        assert one.embedding == pytest.approx(vector.tolist(), abs=1e-5)
    floats = client.embeddings.create(model=E5, input="水泵", encoding_format="float", dimensions=384)
    assert floats.data[0].embedding == pytest.approx(made.data[0].embedding, abs=1e-5)
    raw = server.client.post(
        f"{server.url}/v1/embeddings", json={"model": E5, "input": "水泵", "encoding_format": "base64"}
    )
    packed = base64.b64decode(raw.json()["data"][0]["embedding"])
    assert struct.unpack("<384f", packed) == pytest.approx(made.data[0].embedding, abs=1e-5)
    question = client.embeddings.create(model=E5, input="水泵", extra_body={"input_type": "query"})
    assert question.data[0].embedding != pytest.approx(made.data[0].embedding, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"dimensions": 256}, openai.BadRequestError),
        ({"input": []}, openai.BadRequestError),
        ({"input": ["a", ""]}, openai.BadRequestError),
        ({"input": ["a"] * 2049}, openai.BadRequestError),
        ({"input": [1, 2, 3]}, openai.BadRequestError),
        ({"model": "kb:default"}, openai.NotFoundError),
    ],
)
def test_what_cannot_be_embedded_is_refused(
    client: openai.OpenAI, change: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        client.embeddings.create(**{"model": E5, "input": "a", **change})


# --- In JavaScript ---------------------------------------------------------------------------------

SCRIPT = """
import OpenAI from 'openai';
const client = new OpenAI({ baseURL: process.env.BASE, apiKey: 'none', maxRetries: 0 });
const messages = [{ role: 'user', content: process.env.QUESTION }];
const models = [];
for await (const one of client.models.list()) models.push(one.id);
const whole = await client.chat.completions.create({ model: 'kb:*', messages });
const stream = await client.chat.completions.create({ model: 'kb:*', messages, stream: true });
let streamed = '';
for await (const chunk of stream) streamed += chunk.choices[0]?.delta?.content ?? '';
const vectors = await client.embeddings.create({ model: 'built-in/multilingual-e5-small', input: ['a', 'b'] });
let refused = null;
try { await client.models.retrieve('kb:nowhere'); } catch (error) { refused = [error.constructor.name, error.status, error.code]; }
console.log(JSON.stringify({
  models, streamed, whole: whole.choices[0].message.content, sources: whole.wenyuan.sources.length,
  dimensions: vectors.data.map(one => one.embedding.length), refused,
}));
"""  # noqa: E501


def test_the_client_in_javascript_works_unchanged(client: openai.OpenAI, server: Server, node_modules: Path) -> None:
    said = run_node(node_modules, SCRIPT, BASE=f"{server.url}/v1", QUESTION=QUESTION)
    assert said["models"] == [one.id for one in client.models.list()]
    assert said["streamed"] == said["whole"] == content(ask(client, model="kb:*"))
    assert said["sources"] > 0
    assert said["dimensions"] == [384, 384]
    assert said["refused"] == ["NotFoundError", 404, "model-not-found"]


# --- Who may ask -----------------------------------------------------------------------------------


def test_a_key_is_granted_no_more_here_than_elsewhere(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library, running(library) as server:
        library.knowledge_bases.create("secret")
        library.knowledge_bases.create("open")
        made = library.access_keys.create("one", kb=["open"])
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=made.secret, max_retries=0) as client:
            assert [one.id for one in client.models.list()] == ["kb:*", "kb:open", E5]
            with pytest.raises(openai.NotFoundError):
                ask(client, model="kb:secret")
            assert ask(client, model="kb:*").choices[0].finish_reason == "stop"
            with pytest.raises(openai.AuthenticationError):
                client.with_options(api_key="none").models.list()
