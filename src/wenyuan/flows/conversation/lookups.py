"""What a model may look up while it answers: read-only, and within the scope of the question.

Whatever a document says, or a model asks for, nothing here writes, and nothing reaches what the person who asked may
not see: every lookup is given the scope of the question, and the store has the last say on each passage.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wenyuan.errors import RequestError
from wenyuan.flows.conversation.asking import Conversation
from wenyuan.flows.conversation.blocks import NO_ROOM, blocks_that_fit
from wenyuan.flows.conversation.searching import search
from wenyuan.flows.conversation.steps import Step
from wenyuan.flows.table_query import TABLE_TOOL, run_table_query
from wenyuan.language.folding import fold
from wenyuan.rules.conversation.budget import estimate_tokens
from wenyuan.rules.conversation.document_blocks import neutralised
from wenyuan.rules.whole_characters import whole_characters
from wenyuan.store import knowledge_bases, scoped_documents
from wenyuan.store.database import Reading
from wenyuan.store.scoped_documents import ReadableDocument
from wenyuan.types import JsonObject, Passage, Scope, Tool, ToolCall

_LISTED_AT_ONCE = 40
_LOOKED_THROUGH = 2000
_READ_AT_ONCE = 8
_LONGEST_ARGUMENTS = 20_000
_HIGHEST_NUMBER = 1_000_000_000

SEARCH = Tool(
    "knowledge_base_search",
    "Find passages in the documents that answer a question. Ask for one thing at a time, in words that may stand in "
    "the documents; put dates, codes and names as they are written.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look for, in one sentence or a few words."}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
LIST_DOCUMENTS = Tool(
    "list_documents",
    f"List the documents that can be read, with their ids, {_LISTED_AT_ONCE} at a time.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Only documents whose name holds this."},
            "after": {"type": "string", "description": "The id after which to go on."},
        },
        "additionalProperties": False,
    },
)
READ_DOCUMENT = Tool(
    "read_document",
    f"Read a document from a passage on, {_READ_AT_ONCE} passages at a time.",
    {
        "type": "object",
        "properties": {
            "document": {"type": "string", "description": "The document's id, as list_documents or a search gives it."},
            "first_passage": {"type": "integer", "minimum": 0, "description": "The first passage to read; 0 is first."},
        },
        "required": ["document"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a lookup: what the model is told, and what is told of it."""

    text: str
    data: JsonObject
    ok: bool = True
    has_room: bool = False
    """Whether room was taken for it in the model's window already."""


Lookup = Callable[[Conversation, int, Mapping[str, Any]], Generator[Step, None, Outcome]]
"""Looks something up in a round of that number, with arguments as the model gave them."""


def offered() -> tuple[Tool, ...]:
    return tuple(tool for tool, _ in _LOOKUPS.values())


def run_lookup(conversation: Conversation, number: int, call: ToolCall) -> Generator[Step, None, str]:
    """Do what a model asks for in the round of that number, tell of it, and return what to tell the model.

    What cannot be done is told to the model, so that it can ask otherwise.
    """
    try:
        tool, lookup = _known(call.name)
        outcome = yield from lookup(conversation, number, _arguments(tool, call.arguments))
    except (_Unusable, RequestError) as error:
        outcome = Outcome(f"This could not be done: {error}", {"error": getattr(error, "code", "unusable")}, ok=False)
    conversation.lookups.append({"round": number, "name": call.name[:80], "ok": outcome.ok, **outcome.data})
    if not outcome.has_room and not conversation.room.take(estimate_tokens(outcome.text)):
        conversation.left_out.append(f"{call.name[:80]}: no room")
        return NO_ROOM
    return outcome.text


def _known(name: str) -> tuple[Tool, Lookup]:
    if name not in _LOOKUPS:
        raise _Unusable(f"there is no tool {name[:80]!r}; there are: {', '.join(_LOOKUPS)}")
    return _LOOKUPS[name]


class _Unusable(Exception):
    """Arguments that do not fit; its words are for the model."""


def _arguments(tool: Tool, text: str) -> Mapping[str, Any]:
    """The arguments that a model wrote, if they are what the tool takes. Raises `_Unusable`."""
    if len(text) > _LONGEST_ARGUMENTS:
        raise _Unusable(f"the arguments may have {_LONGEST_ARGUMENTS} characters at most")
    try:
        arguments = _storable(json.loads(text or "{}"))
    except (ValueError, RecursionError) as error:
        raise _Unusable("the arguments are no JSON") from error
    if not isinstance(arguments, dict):
        raise _Unusable("the arguments must be a JSON object")
    if tool is TABLE_TOOL:
        # Its language is read, and mended, where it is known.
        return arguments
    properties: Mapping[str, JsonObject] = tool.parameters["properties"]
    for name, value in arguments.items():
        kind = properties.get(name, {}).get("type")
        if kind is None:
            raise _Unusable(f"there is no argument {name[:40]!r}; there are: {', '.join(properties)}")
        if not isinstance(value, _KINDS[kind]) or isinstance(value, bool):
            raise _Unusable(f"{name!r} must be of type {kind}")
        if isinstance(value, int) and not 0 <= value <= _HIGHEST_NUMBER:
            raise _Unusable(f"{name!r} must be 0 to {_HIGHEST_NUMBER}")
    for name in tool.parameters.get("required", ()):
        if name not in arguments:
            raise _Unusable(f"{name!r} is missing")
    return arguments


def _storable(value: Any) -> Any:
    """The same value without halves of characters, which no database takes."""
    match value:
        case str():
            return whole_characters(value)
        case list():
            return [_storable(one) for one in value]
        case dict():
            return {whole_characters(name): _storable(one) for name, one in value.items()}
        case _:
            return value


_KINDS: Mapping[str, type] = {"string": str, "integer": int}


def _search(conversation: Conversation, number: int, arguments: Mapping[str, Any]) -> Generator[Step, None, Outcome]:
    options = replace(conversation.asked.options, history=())
    found, sources = yield from search(conversation, arguments["query"], options, number=number)
    text = blocks_that_fit(conversation, sources) if sources else found.explanation
    data = {"query": found.question, "trace": found.trace_id, "found": len(sources)}
    return Outcome(text, data, has_room=bool(sources))


def _list(conversation: Conversation, number: int, arguments: Mapping[str, Any]) -> Generator[Step, None, Outcome]:
    tell, wanted = conversation.tell, fold(arguments.get("name", ""))
    yield tell("tool.call.start", round=number, name=LIST_DOCUMENTS.name)
    with conversation.database.read() as tx:
        readable = _readable(tx, conversation.scope, arguments.get("after", ""))
    matching = [one for one in readable if wanted in fold(one.name)]
    page = matching[:_LISTED_AT_ONCE]
    lines = [_described(one) for one in page]
    if len(matching) > len(page):
        lines.append(f"There are more: go on after {page[-1].id}.")
    yield tell("tool.call.end", round=number, name=LIST_DOCUMENTS.name, documents=len(page))
    return Outcome("\n".join(lines) or "There are no such documents.", {"documents": len(page)})


def _described(one: ReadableDocument) -> str:
    name = " ".join(neutralised(one.name).split())
    return f"{one.id}  {name}  ({one.passages} passages, {one.characters} characters)"


def _readable(tx: Reading, scope: Scope, after: str) -> list[ReadableDocument]:
    """Documents within the scope, by id, up to a bound."""
    found: list[ReadableDocument] = []
    for base in knowledge_bases.permitted(tx, scope):
        if base.state == "active":
            found += scoped_documents.listed(tx, base.id, scope, after, _LOOKED_THROUGH)
    return sorted(found, key=lambda one: one.id)


def _read(conversation: Conversation, number: int, arguments: Mapping[str, Any]) -> Generator[Step, None, Outcome]:
    tell, document, first = conversation.tell, arguments["document"], arguments.get("first_passage", 0)
    yield tell("tool.call.start", round=number, name=READ_DOCUMENT.name, document=document)
    with conversation.database.read() as tx:
        passages = [
            passage
            for base in knowledge_bases.permitted(tx, conversation.scope)
            if base.state == "active"
            for passage in scoped_documents.passages(tx, base.id, conversation.scope, document, first, _READ_AT_ONCE)
        ]
    sources = conversation.sources.add_read(passages)
    yield tell("tool.call.end", round=number, name=READ_DOCUMENT.name, document=document, passages=len(sources))
    if not sources:
        return Outcome("There is nothing to read there: list_documents gives the ids of documents.", {"passages": 0})
    last = passages[-1]
    yield tell("rag.sources", round=number, sources=tuple(source.evidence for source in sources), explanation="")
    following = last.chunk.seq + 1
    more = f"\nGo on with first_passage {following}." if following < last.chunk_count else "\nThis is the end of it."
    text = blocks_that_fit(conversation, sources) + more
    return Outcome(text, {"document": document, "passages": len(sources)}, has_room=True)


def _query_table(
    conversation: Conversation, number: int, arguments: Mapping[str, Any]
) -> Generator[Step, None, Outcome]:
    tell = conversation.tell
    yield tell("tool.call.start", round=number, name=TABLE_TOOL.name, table=str(arguments.get("table", ""))[:200])
    written = json.dumps(arguments, ensure_ascii=False)
    outcome = run_table_query(conversation.database, conversation.scope, written)
    data = {name: outcome.data[name] for name in _TABLE_MEMBERS if name in outcome.data}
    label = outcome.data.get("name", "")
    yield tell("tool.call.end", round=number, name=TABLE_TOOL.name, ok=outcome.ok, table_name=label, **data)
    # Names and cells are words of a document, as those of its passages are.
    text = neutralised(outcome.text)
    passages = _cited_passages(conversation, outcome.data.get("citations", ())[:1])
    if passages:
        source = conversation.sources.add_computed(passages[0], outcome.text)
        conversation.sources.show(source)
        yield tell("rag.sources", round=number, sources=(source.evidence,), explanation="")
        text = f"{text}\nCite this as [{source.number}]."
    return Outcome(text, {"table": data.get("table", "")}, outcome.ok)


_TABLE_MEMBERS = ("table", "rows_in_table", "rows_matched", "error")


def _cited_passages(conversation: Conversation, citations: Sequence[Mapping[str, Any]]) -> list[Passage]:
    with conversation.database.read() as tx:
        return [
            passage
            for base in knowledge_bases.permitted(tx, conversation.scope)
            if base.state == "active"
            for one in citations
            for passage in scoped_documents.passages(
                tx, base.id, conversation.scope, one["document_id"], int(one["chunk_id"].rpartition(".")[2]), 1
            )
        ]


_LOOKUPS: Mapping[str, tuple[Tool, Lookup]] = {
    SEARCH.name: (SEARCH, _search),
    LIST_DOCUMENTS.name: (LIST_DOCUMENTS, _list),
    READ_DOCUMENT.name: (READ_DOCUMENT, _read),
    TABLE_TOOL.name: (TABLE_TOOL, _query_table),
}
