"""Agents use a library by the Model Context Protocol: over HTTP, as a child, with clients of others."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from tests.doors.mcp.clients import over_http, over_stdio
from tests.node import node_packages, run_node
from wenyuan.doors.cli.__main__ import main

QUESTION = "四月十四号的会议定了什么？"
READING = ["knowledge_base_search", "list_knowledge_bases", "list_documents", "read_document"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_question_finds_its_passages(server: Server, mode: Literal["auto", "legacy"]) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("knowledge_base_search", {"question": QUESTION})

    result = over_http(server.url, use, mode=mode)
    assert not result.is_error
    found = result.structured_content
    assert json.loads(result.content[0].text) == found
    assert "PPR-9087" in found["passages"][0]["text"]
    asked = server.client.post("/retrieve", json={"question": QUESTION}).json()
    assert {**found, "trace_id": ""} == {**asked, "trace_id": ""}


def test_tools_say_what_they_take_and_give(server: Server) -> None:
    async def use(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {one.name: one for one in over_http(server.url, use)}
    assert list(tools) == [*READING, "add_text", "delete_document"]
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (name in READING)
        assert tool.annotations.destructive_hint == (name not in READING)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"


def test_documents_are_listed_and_read_in_pages(server: Server) -> None:
    async def use(client: Client) -> tuple[Any, list[Any], str]:
        bases = (await client.call_tool("list_knowledge_bases")).structured_content
        listed = await client.call_tool("list_documents", {"knowledge_base": "pumps", "limit": 1})
        document = listed.structured_content["documents"][0]
        pages, start = [], 0
        while start is not None:
            page = await client.call_tool("read_document", {"document": document["id"], "start": start, "limit": 1500})
            pages.append(page.structured_content)
            start = page.structured_content["next_start"]
        resource = await client.read_resource(f"wenyuan://documents/{document['id']}")
        return bases, pages, getattr(resource.contents[0], "text", "")

    bases, pages, whole = over_http(server.url, use)
    assert {one["name"] for one in bases["knowledge_bases"]} == {"default", "pumps"}
    assert len(pages) > 1
    assert "".join(page["text"] for page in pages) == whole
    assert "流量是 199 吨" in whole


def test_documents_are_resources(server: Server) -> None:
    async def use(client: Client) -> tuple[list[str], Any, int]:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        with pytest.raises(MCPError) as raised:
            await client.read_resource("wenyuan://documents/doc_nowhere")
        return [one.name for one in listed], templates, raised.value.code

    names, templates, code = over_http(server.url, use)
    assert names == ["周会.md", "水泵.md"]
    assert templates[0].uri_template == "wenyuan://documents/{document}"
    assert code == -32002


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("knowledge_base_search", {}, "tool-arguments-invalid"),
    ("knowledge_base_search", {"question": "?", "topk": 3}, "tool-arguments-invalid"),
    ("knowledge_base_search", {"question": " "}, "empty-question"),
    ("knowledge_base_search", {"question": "?", "knowledge_bases": ["nowhere"]}, "kb-not-found"),
    ("read_document", {"document": "doc_nowhere"}, "document-not-found"),
]


def test_what_is_wrong_is_told_to_whoever_called(server: Server) -> None:
    async def use(client: Client) -> list[Any]:
        called = [await client.call_tool(name, arguments) for name, arguments, _ in WRONG]
        with pytest.raises(MCPError):
            await client.call_tool("nonsense", {})
        return called

    for result, (_, _, code) in zip(over_http(server.url, use), WRONG, strict=True):
        assert result.is_error
        assert result.content[0].text.startswith(f"error[{code}]: ")
        # No description of another door is what whoever calls a tool has before them.
        assert "openapi" not in result.content[0].text


def test_a_key_may_do_here_what_it_may_do_elsewhere(tmp_path: Path) -> None:
    environment = {**KEYWORD_ONLY, "WENYUAN_SERVER_MCP_WRITES": "true"}
    with wy.open(tmp_path / "library", environment=environment) as library, running(library) as server:
        library.knowledge_bases.create("pumps")
        read = library.access_keys.create("reads", kb=["pumps"]).secret
        write = library.access_keys.create("writes", kb=["pumps"], scopes=["read", "write"]).secret
        new = {"name": "新.md", "text": "四号水泵已停用。", "knowledge_base": "pumps"}

        async def names(client: Client) -> list[str]:
            found = (await client.call_tool("list_knowledge_bases")).structured_content
            return [one["name"] for one in found["knowledge_bases"]]

        async def add(client: Client) -> Any:
            return await client.call_tool("add_text", new)

        async def add_and_delete(client: Client) -> Any:
            added = (await client.call_tool("add_text", new)).structured_content
            return added, (await client.call_tool("delete_document", {"document": added["document_id"]}))

        assert over_http(server.url, names, key=read) == ["pumps"]
        refused = over_http(server.url, add, key=read)
        assert refused.is_error
        assert refused.content[0].text.startswith("error[permission-missing]: ")
        added, deleted = over_http(server.url, add_and_delete, key=write)
        assert added["outcome"] == "added"
        assert deleted.structured_content == {"document_id": added["document_id"]}
        assert library.documents.list("pumps") == []
        answer = server.client.post(f"{server.url}/mcp", json={})
        assert (answer.status_code, answer.json()["code"]) == (401, "key-required")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_the_server_is_guarded_as_all_of_it_is(server: Server) -> None:
    def status(method: str = "POST", **headers: str) -> int:
        headers = {"Accept": "application/json, text/event-stream", **headers}
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return server.client.request(method, f"{server.url}/mcp", json=body, headers=headers).status_code

    assert status() == 200
    assert status(Host="evil.example") == 421
    assert status(Origin="https://evil.example") == 403
    assert status(Authorization="Basic eDp5") == 401
    assert status("GET") == status("DELETE") == 405
    large = server.client.post(f"{server.url}/mcp", content=b"x" * (5 << 20))
    assert large.status_code == 413


# --- As a child ------------------------------------------------------------------------------------


def test_a_child_that_may_write_reads_what_is_added(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        await client.call_tool("add_text", {"name": "周会.md", "text": MEETING})
        while True:
            found = (await client.call_tool("knowledge_base_search", {"question": QUESTION})).structured_content
            if found["passages"]:
                return found

    found = over_stdio(tmp_path / "library", use, "--write")
    assert "PPR-9087" in found["passages"][0]["text"]


def test_a_child_reads_and_writes_nothing_but_messages(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("wenyuan")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "nonsense"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
    ]
    sent = "not JSON\n" + "".join(f"{json.dumps(line)}\n" for line in lines)
    command = [str(program), "--library", str(tmp_path / "library"), "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(sent)
        child.stdin.flush()
        said: list[dict[str, Any]] = []
        while not said or said[-1].get("id") != 3:
            said.append(json.loads(child.stdout.readline()))
        # Its input stays open: a client that hangs must not keep it from ending.
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130
        assert child.stdout.read() == ""
    assert [one["name"] for one in said[-1]["result"]["tools"]] == READING
    assert [one["error"]["code"] for one in said if one.get("id") == 2] == [-32601]


def test_without_the_package_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.startswith(("mcp.", "wenyuan.doors.mcp"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["--library", str(tmp_path / "library"), "mcp"]) == 3
    assert "pip install 'wenyuan[mcp]'" in capsys.readouterr().err


# --- A client of others ----------------------------------------------------------------------------

SCRIPT = """
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
const client = new Client({ name: 'test', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL)));
const { tools } = await client.listTools();
const found = await client.callTool({ name: 'knowledge_base_search', arguments: { question: process.env.QUESTION } });
const { resources } = await client.listResources();
const read = await client.readResource({ uri: resources[0].uri });
await client.close();
console.log(JSON.stringify({
  tools: tools.map(one => one.name), found: found.structuredContent, read: read.contents[0].text,
}));
"""


def test_the_client_in_javascript_checks_what_it_is_given(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    packages = node_packages(tmp_path_factory, "@modelcontextprotocol/sdk")
    said = run_node(packages, SCRIPT, URL=f"{server.url}/mcp", QUESTION=QUESTION)
    assert said["tools"][:4] == READING
    assert said["found"]["passages"][0]["document_name"] == "周会.md"
    assert "PPR-9087" in said["read"]
