"""A server that is killed in the middle of everything, and clients that go on: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import MEETING, Event, events_of
from tests.doors.http.test_serving import Process, process
from tests.waiting import until

UPLOAD = "/knowledge-bases/default/documents/upload"
QUESTION = "屏幕改用什么？"
ANSWER = Reply("屏幕改用 PPR-9087 [1]。" + "还有别的事情要说。" * 20)
HANGING = Reply("请稍等。屏幕改用 PPR-9087 [1]。还有别的。", hangs_after=3)
SETTINGS = (
    "[worker]\nlease_seconds = 1.0\n[answer]\nsave_seconds = 0.000001\nrunning = 64\n[server]\nstreams = 64\n"
    "heartbeat_seconds = 0.5\n"
)


@dataclass
class Seen:
    """What the clients were told, all rounds together."""

    accepted: dict[str, str] = field(default_factory=dict)
    """Ids of documents by the Idempotency-Key with which they were sent."""
    endings: list[str] = field(default_factory=list)
    """How each chat ended: its message's finish reason, or its error's code."""
    resumed: int = 0
    hanging: int = 0
    """How many answers began that would never end."""
    searches: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class Client:
    """Goes on over broken connections and restarts, as long as the test lasts."""

    def __init__(self, url: str, name: str, seen: Seen) -> None:
        self._http = httpx2.Client(base_url=f"{url}/api/v1", timeout=60)
        self._name = name
        self._seen = seen

    def run(self, do: Callable[[int], None]) -> None:
        number = 0
        try:
            while not self._seen.over.is_set():
                do(number)
                number += 1
        except BaseException as error:
            self._seen.faults.append(f"{self._name} {number}: {error!r}")
            raise
        finally:
            self._http.close()

    def upload(self, number: int) -> None:
        word = f"mark{self._name}n{number}"
        answer = self._sent("POST", UPLOAD, files={"file": (f"{word}.md", f"# {word}\n\n水泵。")}, key=word)
        if answer is not None:
            assert answer.status_code == 202, answer.text
            self._seen.accepted[word] = answer.json()["document_id"]

    def search(self, number: int) -> None:
        answer = self._sent("POST", "/search", json={"question": f"水泵 {number}"})
        if answer is not None:
            self._seen.searches[answer.status_code] += 1

    def chat(self, number: int) -> None:
        """Ask within a session of its own; a stream that breaks is taken up behind its last event."""
        session = self._sent("POST", "/sessions", json={}, key=f"{self._name}s{number}")
        if session is None:
            return
        seen: list[Event] = []
        body = {"question": QUESTION, "session": session.json()["id"]}
        self._listen(seen, "POST", "/chat", json=body)
        while not _is_over(seen) and not self._seen.over.is_set():
            if not seen:
                # Nothing was told of it, so that nothing is known to be lost.
                self._listen(seen, "POST", "/chat", json=body)
                continue
            last = seen[-1]
            self._seen.resumed += 1
            self._listen(seen, "GET", f"/chat/{last.data['trace_id']}", headers={"Last-Event-ID": last.id})
        if _is_over(seen):
            numbers = [int(one.id) for one in seen]
            assert numbers == list(range(1, len(seen) + 1)), numbers
            self._seen.endings.append(seen[-1].data.get("finish_reason") or seen[-1].data["code"])

    def _listen(self, seen: list[Event], method: str, path: str, **more: Any) -> None:
        try:
            with self._http.stream(method, path, **more) as answer:
                if answer.status_code == 503:
                    time.sleep(0.05)
                    return
                assert answer.status_code == 200, (path, answer.read())
                for event in events_of(answer.iter_lines()):
                    seen.append(event)
                    self._seen.hanging += "请稍等" in event.data.get("text", "") and event.name == "assistant.delta"
        except (httpx2.TransportError, json.JSONDecodeError):
            time.sleep(0.05)

    def _sent(self, method: str, path: str, key: str = "", **more: Any) -> httpx2.Response | None:
        """Send a request until it is answered, always with the same Idempotency-Key; None when the test is over."""
        headers = {"Idempotency-Key": key} if key else {}
        while not self._seen.over.is_set():
            try:
                answer = self._http.request(method, path, headers=headers, **more)
            except httpx2.TransportError:
                time.sleep(0.05)
                continue
            # The first request with this key may still be under way when the server is asked again.
            if answer.status_code != 503 and answer.json().get("code") != "repeat-too-early":
                return answer
            time.sleep(0.05)
        return None


def _is_over(seen: list[Event]) -> bool:
    return bool(seen) and seen[-1].name in ("assistant.message", "error")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


def _kill_again_and_again(folder: Path, kills: int, clients: int) -> Seen:
    path, port = folder / "library", _free_port()
    path.mkdir()
    seen = Seen()
    with chatting(ANSWER) as model:
        (path / "wenyuan.toml").write_text(SETTINGS + model.settings(more="tools = true"), "utf-8")
        with process(path, "--port", str(port)) as running:
            _fill(running)
            threads = list(_begin(f"http://127.0.0.1:{port}", seen, clients))
            _kill(running, seen, model)
        for _ in range(kills - 1):
            with process(path, "--port", str(port)) as running:
                _kill(running, seen, model)
        with process(path, "--port", str(port)) as running:
            _progress(seen)
            seen.over.set()
            for thread in threads:
                thread.join(120)
            assert seen.faults == []
            _check(running, seen)
            assert running.end()[0] == 0
    with wy.open(path, create=False) as library:
        assert [finding.code for finding in library.check(deep=True) if finding.severity == "error"] == []
    return seen


def _fill(running: Process) -> None:
    answer = running.client.post("/knowledge-bases/default/documents/text", json={"name": "周会.md", "text": MEETING})
    at = f"/documents/{answer.json()['document_id']}"
    until(lambda: running.client.get(at).json()["searchable"])


def _begin(url: str, seen: Seen, clients: int) -> Iterator[threading.Thread]:
    for number in range(clients):
        for kind in ("upload", "search", "chat"):
            client = Client(url, f"{kind}{number}", seen)
            thread = threading.Thread(target=client.run, args=(getattr(client, kind),))
            thread.start()
            yield thread


def _progress(seen: Seen) -> None:
    """Wait until every kind of client got somewhere."""
    before = len(seen.accepted), len(seen.endings), seen.searches[200]

    def is_further() -> bool:
        now = len(seen.accepted), len(seen.endings), seen.searches[200]
        return bool(seen.faults) or all(new >= old + 2 for new, old in zip(now, before, strict=True))

    until(is_further)


def _kill(running: Process, seen: Seen, model: ChatServer) -> None:
    """Kill the server while everybody is at work and one answer at least is in the middle of its words."""
    _progress(seen)
    before = seen.hanging
    model.replies[:] = [HANGING]
    until(lambda: seen.hanging > before or bool(seen.faults))
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.communicate()
    model.replies[:] = [ANSWER]


def _latest(running: Process, document: str) -> Any:
    return running.client.get(f"/documents/{document}").json()["latest"]


def _is_settled(running: Process, document: str) -> bool:
    return _latest(running, document)["state"] in ("ready", "failed")


def _check(running: Process, seen: Seen) -> None:
    for document in seen.accepted.values():
        until(partial(_is_settled, running, document))
        assert _latest(running, document)["state"] == "ready", _latest(running, document)
    names = Counter[str]()
    cursor: str | None = ""
    while cursor is not None:
        page = running.client.get(
            "/knowledge-bases/default/documents", params={"limit": 100, **({"cursor": cursor} if cursor else {})}
        ).json()
        names.update(one["document"]["name"] for one in page["documents"])
        cursor = page["next_cursor"]
    assert max(names.values()) == 1
    assert {f"{word}.md" for word in seen.accepted} <= set(names)
    # Sent again it is the very document, after any number of kills.
    with suppress(StopIteration):
        word, document = next(iter(seen.accepted.items()))
        form = {"file": (f"{word}.md", f"# {word}\n\n水泵。")}
        again = running.client.post(UPLOAD, files=form, headers={"Idempotency-Key": word})
        assert again.json()["document_id"] == document
    assert set(seen.endings) <= {"stop", "stopped", "interrupted", "provider-unavailable", "extractive"}
    assert {"stop", "interrupted"} <= set(seen.endings)
    assert set(seen.searches) <= {200, 503}


def test_a_kill_loses_nothing_and_clients_go_on(tmp_path: Path) -> None:
    assert _kill_again_and_again(tmp_path, kills=1, clients=1).resumed > 0


@pytest.mark.soak
def test_many_kills_lose_nothing_and_clients_go_on(tmp_path: Path) -> None:
    seen = _kill_again_and_again(tmp_path, kills=12, clients=4)
    assert seen.resumed > 12
    print(f"{len(seen.accepted)} uploads, {len(seen.endings)} chats, {Counter(seen.endings)}, {seen.searches}")
