"""Whatever a model says and asks for, a conversation ends with one message or one error, and is kept as it was told."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chat_server import Reply
from tests.runtime.conversing import Talking, conversing
from wenyuan.errors import WenyuanError
from wenyuan.flows.conversation.steps import Step

ORDER = ("rag.rewrite", "rag.embed", "tool.call.start", "tool.call.end", "rag.sources")

words = st.text(
    st.sampled_from(
        '屏幕改用 PPR-9087 [1][2]【3】(x) `\n。.<think>{}"action:search,query\\[document 1 end]~\u200b\ufeff\ud7ff'
    ),
    max_size=80,
)
names = st.sampled_from(
    ["knowledge_base_search", "list_documents", "read_document", "table_query", "drop_all", "", "\x00"]
)
halves = st.text(st.sampled_from("a\ud83d\ude00"), max_size=5)
arguments = st.one_of(
    words,
    st.dictionaries(
        st.sampled_from(["query", "document", "name", "first_passage", "table"]), words | st.integers()
    ).map(lambda value: json.dumps(value, ensure_ascii=False)),
    (words | st.text(max_size=9)).map(lambda text: json.dumps({"query": text}, ensure_ascii=False)),
    st.text(st.sampled_from("a\ud83d\ude00"), max_size=5).map(
        lambda half: json.dumps({"document": half, "query": half})
    ),
)
replies = st.builds(
    Reply,
    text=words,
    tool_calls=st.lists(st.tuples(names, arguments), max_size=3).map(tuple),
    reason=st.sampled_from(["", "", "stop", "length", "content_filter"]),
)


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talking]:
    with conversing(tmp_path_factory.mktemp("random"), "[answer]\nrounds = 3\n") as talking:
        yield talking


@settings(max_examples=25)
@given(script=st.lists(replies, min_size=1, max_size=5), model=st.sampled_from(["writer", "plain"]))
def test_every_conversation_ends_once_and_is_kept_as_it_was_told(
    talking: Talking, script: list[Reply], model: str
) -> None:
    # After the script the model keeps to the point, so that nothing is waited for.
    talking.script(*script, Reply("屏幕改用 PPR-9087 [1]。"))
    library = talking.library
    session = library.sessions.create()
    seen: list[Step] = []
    failed: WenyuanError | None = None
    try:
        seen.extend(library.converse("屏幕改用什么？", session=session.id, model=model))
    except WenyuanError as error:
        failed = error
    question, kept = library.turns.page(session.id).turns
    messages = [step.data for step in seen if step.name == "assistant.message"]
    said = "".join(step.data["text"] for step in seen if step.name == "assistant.delta")
    assert (question.text, kept.text) == ("屏幕改用什么？", said)
    assert kept.answer is not None
    if failed is None:
        (message,) = messages
        assert seen[-1].name == "assistant.message"
        assert (message["text"], message["turn"]) == (said, kept.number)
        assert message["finish_reason"] == kept.answer["finish_reason"]
        numbers = {source.number for source in message["sources"]}
        assert {citation.number for citation in message["citations"]} <= numbers
        assert all(one.end <= len(said) and set(one.numbers) <= numbers for one in message["support"])
    else:
        assert (messages, kept.answer["finish_reason"]) == ([], "interrupted")
        assert failed.details["saved"] == {"text": said, "turn": kept.number}
    assert len({step.trace_id for step in seen}) == 1
    rounds = [(step.data["round"], step.name) for step in seen if step.name in ORDER]
    assert [number for number, _ in rounds] == sorted(number for number, _ in rounds)
