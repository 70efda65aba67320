"""The server is killed while it answers: the page says so, waits for it, and shows what was kept."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, expect

import wenyuan as wy
from tests.chat_server import Reply, chatting
from tests.doors.http.running import MEETING
from tests.page.browsing import page_of
from tests.waiting import until

QUESTION = "屏幕改用什么？"
SETTINGS = '[defaults]\nembedding_model = ""\n[answer]\nsave_seconds = 0.000001\n'


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def is_there(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/api/v1/health").status_code == 200
    except httpx2.TransportError:
        return False


@contextmanager
def serving(library: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [
        sys.executable,
        "-m",
        "wenyuan.doors.cli",
        "--library",
        str(library),
        "serve",
        "--no-work",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_there(f"http://127.0.0.1:{port}"))
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.soak
def test_a_server_that_was_killed_is_waited_for(tmp_path: Path, browser: Browser) -> None:
    path, port = tmp_path / "library", free_port()
    path.mkdir()
    with chatting(Reply("一二三四五六七八九十 屏幕 改用 PPR-9087 [1]。", hangs_after=2)) as model:
        (path / "wenyuan.toml").write_text(SETTINGS + model.settings(more="tools = true"), "utf-8")
        with wy.open(path, environment={}) as library:
            library.add_text(MEETING, "周会.md")
        with serving(path, port) as server, page_of(browser, f"http://127.0.0.1:{port}") as page:
            page.evaluate("location.hash = '#/chat'")
            box = page.get_by_role("textbox", name="Question")
            box.fill(QUESTION)
            box.press("Enter")
            answer = page.get_by_role("article").last
            expect(answer).to_contain_text("一二三四五六七八九十 屏幕")
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            expect(page.get_by_text("The connection broke off.")).to_be_visible()
            with serving(path, port):
                expect(page.get_by_text("The answer was interrupted.")).to_be_visible()
                expect(answer).to_contain_text("一二三四五六七八九十 屏幕")
                model.replies[:] = [Reply("屏幕改用 PPR-9087 [1]。")]
                page.get_by_role("button", name="Ask again").click()
                expect(page.get_by_role("link", name="Citation 1: 周会.md").first).to_be_visible()
