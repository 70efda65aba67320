"""The pages on OpenAI's API, on agents, on the client and on bots do what they say."""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import wenyuan as wy
from tests.doors.bots.simulators import AES_KEY, TOKEN, WeComSimulator
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.doors.mcp.clients import over_stdio
from wenyuan.doors.bots.service import Bots, Delivery

DOCS = Path(__file__).resolve().parents[2] / "docs"
ADDRESS = "http://127.0.0.1:8420"
WEEKLY = "# Weekly\n\n## 2026-04-14\n\nDecided: the screen becomes PPR-9087."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("pages") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library:
        library.add_text(WEEKLY, "weekly.md")
        with running(library, works=True) as server:
            yield server


def blocks(page: str, language: str) -> list[str]:
    quick_start = (DOCS / page).read_text("utf-8").partition("## Quick start\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", quick_start, re.DOTALL)


def tables(page: str) -> list[str]:
    return re.findall(r"```toml\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


def run_python(page: str, server: Server) -> str:
    (program,) = blocks(page, "python")
    assert ADDRESS in program
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program.replace(ADDRESS, server.url), page, "exec"), {})  # what the page tells people to run
    return out.getvalue()


def test_the_page_on_openai_works(server: Server) -> None:
    said = run_python("how-to-openai.md", server)
    assert "'kb:default'" in said
    assert "PPR-9087" in said
    assert "[1] weekly.md › Weekly › 2026-04-14, line 5" in said


def test_the_page_on_the_client_works(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pump.md").write_text("The pump is a KX-77.", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run_python("how-to-python-client.md", server).count("PPR-9087") == 2
    assert server.library.search("KX-77", filters={"author": "Wang"}).hits


def test_the_page_on_agents_works(server: Server) -> None:
    (told,) = blocks("how-to-mcp.md", "json")
    entry = json.loads(told)["mcpServers"]["wenyuan"]
    assert entry["command"] == "wenyuan"
    assert entry["args"] == ["--library", "/path/to/library", "mcp"]

    async def use(client: Client) -> Any:
        question = {"question": "What was decided on 14 April 2026?"}
        return (await client.call_tool("knowledge_base_search", question)).structured_content

    assert "PPR-9087" in over_stdio(server.library.path, use)["passages"][0]["text"]


def test_the_bots_of_the_page_can_be_spoken_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"WECOM_TOKEN": TOKEN, "WECOM_AES_KEY": AES_KEY, "DINGTALK_APP_SECRET": "secret"}
    for name in ("WECOM_BOT_SECRET", "FEISHU_APP_SECRET", "FEISHU_VERIFICATION_TOKEN", "FEISHU_ENCRYPT_KEY"):
        secrets[name] = "secret"
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    described = tables("how-to-bots.md")
    assert len(described) == 4
    platforms = []
    for number, table in enumerate(described):
        path = tmp_path / str(number)
        path.mkdir()
        (path / "wenyuan.toml").write_text(table, "utf-8")
        with wy.open(path, environment=KEYWORD_ONLY) as library:
            library.knowledge_bases.create("handbooks")
            platforms.append(library.settings.bots["helper"].platform)
            bots = Bots(library, lambda problem: problem)
            if library.settings.bots["helper"].connects_itself:
                assert len(bots.connections()) == 1
                continue
            bot = bots.bot("helper")
            if platforms[-1] == "wecom":
                wecom = WeComSimulator("")
                echo = wecom.encrypt(b"1288432023552776189")
                query = {**wecom.signed(echo), "echostr": echo}
                assert bot.deliver(Delivery("GET", query, {}, b"", time.time()))[0].body == b"1288432023552776189"
    assert platforms == ["wecom", "wecom", "feishu", "dingtalk"]
