"""The same deed through every door gives the same result.

The command line, Python, HTTP, the client, the Model Context Protocol and OpenAI's API look at one library; each door
says what it was told in the same few words, and these are compared. What a door does not have, it leaves out.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import openai
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from tests.doors.mcp.clients import over_http
from wenyuan.doors.cli.__main__ import main
from wenyuan.errors import WenyuanError

QUESTION = "四月十四号的会议定了什么？"
NOWHERE = "nowhere"

Deed = Callable[..., Any]
DEEDS = ("bases", "add", "documents", "search", "retrieve", "ask", "chat", "read", "trace", "refusal")


@dataclass
class World:
    server: Server
    client: wy.Client
    openai: openai.OpenAI
    document: str
    trace: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    environment = {**KEYWORD_ONLY, "WENYUAN_SERVER_MCP_WRITES": "true"}
    path = tmp_path_factory.mktemp("doors") / "library"
    with wy.open(path, environment=environment) as library:
        library.add_text(MEETING, "周会.md")
        library.add_text("# 月会\n\n五月三号：暖气改在十月检修。\n", "月会.md")
        document = library.documents.find("周会.md").document.id
        trace = library.search(QUESTION).trace_id
        with running(library, works=True) as server, wy.Client(server.url) as client:
            base = f"{server.url}/v1"
            with openai.OpenAI(base_url=base, api_key="none", max_retries=0) as compatible:
                yield World(server, client, compatible, document, trace)


# --- One door after another ------------------------------------------------------------------------


def through_python(world: World) -> Mapping[str, Deed]:
    library = world.server.library
    return {
        "bases": lambda: [one.knowledge_base.name for one in library.knowledge_bases.all()],
        "add": lambda name, text: library.add_text(text, name, wait=False).outcome,
        "documents": lambda: [one.document.name for one in library.documents.list()],
        "search": lambda: [hit.passage.chunk_id for hit in library.search(QUESTION).hits],
        "ask": lambda: library.ask(QUESTION).text,
        "chat": lambda: list(library.converse(QUESTION))[-1].data["text"],
        "read": lambda: library.contents.text(world.document, 0, 1000).text,
        "trace": lambda: library.trace(world.trace)["question"],
        "refusal": lambda: code_of(lambda: library.search("?", kb=NOWHERE)),
    }


def through_client(world: World) -> Mapping[str, Deed]:
    client = world.client
    return {
        "bases": lambda: [one.knowledge_base.name for one in client.knowledge_bases.all()],
        "add": lambda name, text: client.add_text(text, name, wait=False).outcome,
        "documents": lambda: [one.document.name for one in client.documents.list()],
        "search": lambda: [hit.passage.chunk_id for hit in client.search(QUESTION).hits],
        "retrieve": lambda: [one.citation for one in client.retrieve(QUESTION).passages],
        "ask": lambda: client.ask(QUESTION).text,
        "chat": lambda: list(client.chat(QUESTION))[-1].data["text"],
        "read": lambda: client.documents.text(world.document).text,
        "trace": lambda: client.trace(world.trace)["question"],
        "refusal": lambda: code_of(lambda: client.search("?", kb=NOWHERE)),
    }


def through_http(world: World) -> Mapping[str, Deed]:
    http = world.server.client

    def post(path: str, **body: Any) -> Any:
        return http.post(path, json=body).json()

    documents = "/knowledge-bases/default/documents"
    return {
        "bases": lambda: [
            one["knowledge_base"]["name"] for one in http.get("/knowledge-bases").json()["knowledge_bases"]
        ],
        "add": lambda name, text: post(f"{documents}/text", name=name, text=text)["outcome"],
        "documents": lambda: [one["document"]["name"] for one in http.get(documents).json()["documents"]],
        "search": lambda: [hit["passage"]["chunk_id"] for hit in post("/search", question=QUESTION)["hits"]],
        "retrieve": lambda: [one["citation"] for one in post("/retrieve", question=QUESTION)["passages"]],
        "ask": lambda: post("/ask", question=QUESTION)["text"],
        "chat": lambda: post("/chat", question=QUESTION, stream=False)["text"],
        "read": lambda: http.get(f"/documents/{world.document}/text").json()["text"],
        "trace": lambda: http.get(f"/traces/{world.trace}").json()["question"],
        "refusal": lambda: post("/search", question="?", knowledge_bases=[NOWHERE])["code"],
    }


def through_cli(world: World) -> Mapping[str, Deed]:
    def run(*arguments: str, given: str = "") -> Any:
        out, before = io.BytesIO(), (sys.stdout, sys.stdin)
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
        sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        try:
            main(["--library", str(world.server.library.path), "--json", *arguments])
            return json.loads(out.getvalue())
        finally:
            sys.stdout, sys.stdin = before

    return {
        "bases": lambda: [one["knowledge_base"]["name"] for one in run("kb", "list")],
        "add": lambda name, text: run("add", "-", "--name", name, "--no-wait", given=text)["files"][0]["outcome"],
        "documents": lambda: [one["document"]["name"] for one in run("docs", "list")],
        "search": lambda: [hit["passage"]["chunk_id"] for hit in run("search", QUESTION)["hits"]],
        "ask": lambda: run("ask", QUESTION)["text"],
        "trace": lambda: run("explain", world.trace)["question"],
        "refusal": lambda: run("search", "?", "--kb", NOWHERE)["error"]["code"],
    }


def through_mcp(world: World) -> Mapping[str, Deed]:
    def call(tool: str, /, **arguments: Any) -> Any:
        async def use(client: Any) -> Any:
            return await client.call_tool(tool, arguments)

        return over_http(world.server.url, use)

    def listed(tool: str, what: str, field: str, **arguments: Any) -> list[Any]:
        return [one[field] for one in call(tool, **arguments).structured_content[what]]

    def code_told() -> str:
        text: str = call("knowledge_base_search", question="?", knowledge_bases=[NOWHERE]).content[0].text
        return text.removeprefix("error[").partition("]")[0]

    return {
        "bases": lambda: listed("list_knowledge_bases", "knowledge_bases", "name"),
        "add": lambda name, text: call("add_text", name=name, text=text).structured_content["outcome"],
        "documents": lambda: listed("list_documents", "documents", "name"),
        "retrieve": lambda: listed("knowledge_base_search", "passages", "citation", question=QUESTION),
        "read": lambda: call("read_document", document=world.document).structured_content["text"],
        "refusal": code_told,
    }


def through_openai(world: World) -> Mapping[str, Deed]:
    def complete(question: str, model: str = "kb:*") -> Any:
        messages: Any = [{"role": "user", "content": question}]
        return world.openai.chat.completions.create(model=model, messages=messages)

    def said() -> str:
        text: str = complete(QUESTION).choices[0].message.content
        return text.partition("\n\n---\n")[0]

    names = [one.id for one in world.openai.models.list()]
    return {
        "bases": lambda: [name.removeprefix("kb:") for name in names if name.startswith("kb:") and name != "kb:*"],
        "retrieve": lambda: [one["citation"] for one in complete(QUESTION).model_extra["wenyuan"]["sources"]],
        "chat": said,
    }


DOORS: Sequence[Callable[[World], Mapping[str, Deed]]] = (
    through_python,
    through_client,
    through_http,
    through_cli,
    through_mcp,
    through_openai,
)


def code_of(fails: Callable[[], object]) -> str:
    with pytest.raises(WenyuanError) as raised:
        fails()
    return raised.value.code


# --- The deeds -------------------------------------------------------------------------------------

EXPECTED: Mapping[str, Any] = {
    "bases": ["default"],
    "documents": ["周会.md", "月会.md"],
    "ask": "决定：屏幕改用 PPR-9087，五月起供货。 [1]",
    "chat": "决定：屏幕改用 PPR-9087，五月起供货。 [1]",
    "read": MEETING.rstrip(),
    "trace": QUESTION,
    "refusal": "kb-not-found",
}
SAME_AS = {"retrieve": "search"}
"""What one door calls so, others call otherwise."""


@pytest.mark.parametrize("deed", [one for one in DEEDS if one != "add"])
def test_a_deed_gives_the_same_through_every_door(world: World, deed: str) -> None:
    doors = {door.__name__: door(world) for door in DOORS}
    told = {name: deeds[deed]() for name, deeds in doors.items() if deed in deeds}
    assert len(told) >= 3
    expected = EXPECTED.get(deed) or doors["through_python"][SAME_AS.get(deed, deed)]()
    assert told == dict.fromkeys(told, expected)


def test_what_is_added_through_any_door_is_found(world: World) -> None:
    added = {}
    for door in DOORS:
        deeds = door(world)
        if "add" in deeds:
            name = f"{door.__name__}.md"
            added[name] = deeds["add"](name, f"{door.__name__} 的编号是 QX-4711。")
            assert deeds["add"](name, f"{door.__name__} 的编号是 QX-4711。") == "unchanged"
    assert added == dict.fromkeys(added, "added")
    assert len(added) == 5
    world.server.settle()
    found = world.client.search("QX-4711").hits
    assert {hit.passage.document_name for hit in found} == set(added)
    assert len({hit.passage.chunk.text.partition(" ")[2] for hit in found}) == 1
    world.client.documents.delete(*(hit.passage.document_id for hit in found))
