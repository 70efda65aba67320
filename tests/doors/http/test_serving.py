"""The server as people run it: a process of its own, stopped, killed under load and started again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.waiting import until

_ROUNDS, _ADDED_A_ROUND = 1, 12
PROGRAM = (sys.executable, "-m", "wenyuan.doors.cli")


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", **more}


def run(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**more), check=False, timeout=60)


class Process:
    """`wenyuan serve`, on a free port if none is named, ready to answer."""

    def __init__(self, library: Path, *arguments: str, **more: str) -> None:
        any_port = () if "--port" in arguments else ("--port", "0")
        command = [*PROGRAM, "--library", str(library), "serve", *any_port, "--json", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more)
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.serving: Any = json.loads(line)
        headers = {"Authorization": f"Bearer {self.serving['first_key']}"} if self.serving["first_key"] else {}
        port = self.serving["url"].rpartition(":")[2]
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=30)

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send it a signal; its exit code, and what it wrote to standard error."""
        self.client.close()
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@contextmanager
def process(library: Path, *arguments: str, **more: str) -> Iterator[Process]:
    running = Process(library, *arguments, **more)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()


def add(client: httpx2.Client, name: str, text: str) -> httpx2.Response:
    return client.post("/knowledge-bases/default/documents/text", json={"name": name, "text": text})


# --- Starting and stopping -----------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_is_started_used_and_stopped(tmp_path: Path, how: signal.Signals) -> None:
    with process(tmp_path / "library") as running:
        add(running.client, "notes.md", "体检每年一次。")
        question = {"question": "体检"}
        until(lambda: bool(running.client.post("/retrieve", json=question).json()["passages"]))
        with running.client.stream("GET", "/jobs/events") as stream:
            # A stream that is open does not keep the server from ending.
            ended = running.end(how)
            assert stream.status_code == 200
    assert ended == (0, "")


def test_work_that_is_left_is_done_by_the_next_server(tmp_path: Path) -> None:
    path = tmp_path / "library"
    with process(path, "--no-work") as running:
        assert [add(running.client, f"{n}.md", f"text {n}").status_code for n in range(3)] == [202] * 3
        assert running.end()[0] == 0
    with process(path) as running:
        page = "/knowledge-bases/default/documents"
        until(lambda: all(one["searchable"] for one in running.client.get(page).json()["documents"]))
        assert len(running.client.get(page).json()["documents"]) == 3


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = run("--library", tmp_path / "library", "serve", "--port", str(port))
    assert ended.returncode == 3
    assert f"error[address-taken]: Another program listens on 127.0.0.1:{port}." in ended.stderr
    assert "--port" in ended.stderr


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_an_address_that_is_not_here_is_named(tmp_path: Path, host: str) -> None:
    ended = run("--library", tmp_path / "library", "serve", "--host", host, WENYUAN_LANG="zh")
    assert ended.returncode == 3
    assert f"error[address-unusable]: 无法监听 {host}:8420" in ended.stderr


def test_a_library_has_one_server_and_any_number_of_workers(tmp_path: Path) -> None:
    path = tmp_path / "library"
    with process(path) as running:
        ended = run("--library", path, "serve", "--port", "0")
        assert ended.returncode == 6
        assert f"is served already, at {running.serving['url']}." in ended.stderr
        assert run("--library", path, "worker", "--drain").returncode == 0
        running.process.kill()
        running.process.communicate()
    with process(path) as again:
        assert again.client.get("/health").status_code == 200


def test_where_others_can_reach_it_the_first_key_is_shown_and_needed(tmp_path: Path) -> None:
    path = tmp_path / "library"
    with process(path, "--host", "0.0.0.0") as running:
        assert running.serving["first_key"].startswith("wyk_")
        assert running.client.get("/knowledge-bases").status_code == 200
        del running.client.headers["authorization"]
        assert running.client.get("/knowledge-bases").json()["code"] == "key-required"
        running.end()
    with process(path, "--host", "0.0.0.0") as running:
        assert running.serving["first_key"] == ""
        assert running.client.get("/knowledge-bases").json()["code"] == "key-required"


# --- Killed under load ---------------------------------------------------------------------------


def test_what_was_accepted_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    _kill_again_and_again(tmp_path, _ROUNDS)


@pytest.mark.soak
def test_what_was_accepted_before_many_kills_is_there_after_them(tmp_path: Path) -> None:
    _kill_again_and_again(tmp_path, 20)


def _kill_again_and_again(folder: Path, rounds: int) -> None:
    path = folder / "library"
    path.mkdir()
    with serving() as model:
        (path / "wenyuan.toml").write_text(model.settings() + "[worker]\nlease_seconds = 1.0\n", "utf-8")
        accepted: dict[str, str] = {}
        for round_number in range(rounds):
            _kill_under_load(path, round_number, accepted)
        _finish(path, model, accepted)
    with wy.open(path) as library:
        assert [finding.code for finding in library.check(deep=True) if finding.severity == "error"] == []


def _kill_under_load(path: Path, round_number: int, accepted: dict[str, str]) -> None:
    """Let four clients add and ask as fast as they can, and kill the server in the middle of it."""
    with process(path, WENYUAN_DEFAULTS_EMBEDDING_MODEL="test/characters") as running:
        before = len(accepted)
        threads = [
            threading.Thread(target=_load, args=(running.serving["url"], f"{round_number}-{client}", accepted))
            for client in range(4)
        ]
        for thread in threads:
            thread.start()
        until(lambda: len(accepted) >= before + _ADDED_A_ROUND)
        running.process.kill()
        running.process.communicate()
        for thread in threads:
            thread.join()


def _load(url: str, name: str, accepted: dict[str, str]) -> None:
    with httpx2.Client(base_url=f"{url}/api/v1", timeout=30) as client:
        try:
            for number in range(1_000):
                word = f"mark{name}x{number}".replace("-", "y")
                answer = client.post(
                    "/knowledge-bases/default/documents/upload",
                    files={"file": (f"{name}-{number}.md", f"# {word}\n\n这是{word}的内容。")},
                    headers={"Idempotency-Key": word},
                )
                if answer.status_code == 202:
                    accepted[answer.json()["document_id"]] = word
                client.post("/search", json={"question": word})
        except httpx2.TransportError:
            # The server was killed.
            return


def _finish(path: Path, model: EmbeddingServer, accepted: dict[str, str]) -> None:
    with process(path, WENYUAN_DEFAULTS_EMBEDDING_MODEL="test/characters") as running:
        for document, word in accepted.items():
            until(lambda at=f"/documents/{document}": running.client.get(at).json()["semantic"]["state"] == "ready")  # type: ignore[misc]
            assert word in running.client.get(f"/documents/{document}/text").json()["text"]
            # Sent again after the kill, it is the same document.
            again = running.client.post(
                "/knowledge-bases/default/documents/upload",
                files={"file": (f"{_name(word)}.md", f"# {word}\n\n这是{word}的内容。")},
                headers={"Idempotency-Key": word},
            )
            assert again.json()["document_id"] == document
        word = next(iter(accepted.values()))
        found = running.client.post("/search", json={"question": word}).json()["hits"]
        assert any(word in hit["passage"]["chunk"]["text"] for hit in found)
        assert running.end()[0] == 0
    assert model.calls > 0


def _name(word: str) -> str:
    return word.removeprefix("mark").replace("y", "-").replace("x", "-")
