"""`wenyuan jobs --watch`: lines into a pipe, JSON lines on request, a live table on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving

PROGRAM = (sys.executable, "-m", "wenyuan.doors.cli")
FILES = ("水位.md", "雨量.md")


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", **more}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, server: EmbeddingServer) -> Path:
    """A library with two files to read and embed."""
    home = tmp_path / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text(server.settings() + "max_batch_texts = 1\n", "utf-8")
    with wy.open(home) as library:
        for name in FILES:
            path = tmp_path / name
            path.write_text("\n\n".join(f"{name}第{part}段。" + "设备良好。" * 150 for part in range(4)), "utf-8")
            library.add(path, wait=False)
    return home


def watch(home: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, "--library", str(home), "jobs", "--watch", *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**more), check=False, timeout=120)


def drain(home: Path) -> None:
    with wy.open(home) as library:
        library.drain()


def test_each_thing_that_happens_is_a_line(home: Path) -> None:
    worker = threading.Thread(target=drain, args=(home,))
    worker.start()
    watched = watch(home, "--until-idle", "--after", "0")
    worker.join()
    assert watched.returncode == 0
    lines = watched.stdout.splitlines()
    for name in FILES:
        assert any(re.fullmatch(rf"[\d:]+ read: {name} \(default\): done in [\d.]+ s", line) for line in lines)
        assert any(re.fullmatch(rf"[\d:]+ embed: {name} \(default\): done in [\d.]+ s", line) for line in lines)
    assert "\x1b" not in watched.stdout


def test_each_event_is_a_line_of_json_and_can_be_gone_on_from(home: Path) -> None:
    drain(home)
    events = [json.loads(line) for line in watch(home, "--until-idle", "--after", "0", "--json").stdout.splitlines()]
    assert [event["kind"] for event in events] == ["done"] * 4
    assert {event["document"] for event in events} == set(FILES)
    rest = watch(home, "--until-idle", "--after", str(events[1]["number"]), "--json").stdout.splitlines()
    assert [json.loads(line)["number"] for line in rest] == [event["number"] for event in events[2:]]


def test_what_is_put_off_says_until_when_and_why_in_both_languages(home: Path, server: EmbeddingServer) -> None:
    server.before_answer = lambda _: (429, {"Retry-After": "3600"}, b"{}")
    drain(home)
    english = watch(home, "--until-idle").stdout
    assert re.search(r"embed: .+: put off until [\d: -]+: rate-limited: .+ asks for fewer calls", english)
    chinese = watch(home, "--until-idle", WENYUAN_LANG="zh").stdout
    assert re.search(r"生成向量: .+: 暂缓到 [\d: -]+：rate-limited: .+ 要求减少调用", chinese)


def test_without_watching_the_live_jobs_are_listed(home: Path) -> None:
    command = [*PROGRAM, "--library", str(home), "jobs"]
    listed = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout
    assert listed.count("queued") == len(FILES)
    drain(home)
    assert "no jobs" in subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout


def test_a_terminal_shows_a_live_table_until_ctrl_c(home: Path, server: EmbeddingServer) -> None:
    going_on = threading.Event()

    def hold(texts: list[str]) -> None:
        del texts
        if server.calls == 3:
            going_on.wait(120)

    server.before_answer = hold
    worker = threading.Thread(target=drain, args=(home,))
    worker.start()
    ours, theirs = pty.openpty()
    command = [*PROGRAM, "--library", str(home), "jobs", "--watch"]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment(TERM="xterm", COLUMNS="120"))
    os.close(theirs)
    shown = ""
    while not ("embedding" in shown and " of " in shown):
        shown += os.read(ours, 65_536).decode("utf-8", "replace")
    going_on.set()
    worker.join()
    while "done in" not in shown:
        shown += os.read(ours, 65_536).decode("utf-8", "replace")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    os.close(ours)
    assert "Traceback" not in shown
    assert "knowledge base" in shown
