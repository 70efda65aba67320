"""A server on loopback in a thread of this process, with a real library behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Queue
from typing import Any

import httpx2

from tests.waiting import until
from wenyuan.doors.cli.errors_zh import in_chinese
from wenyuan.doors.http.server import Serving, serve
from wenyuan.runtime.library import Library

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
MEETING = "# 周会\n\n## 2026年4月14日\n\n决定：屏幕改用 PPR-9087，五月起供货。\n"


@dataclass
class Server:
    """Where it is, and a client of it that has no key."""

    url: str
    library: Library
    client: httpx2.Client

    def with_key(self, **grants: Any) -> httpx2.Client:
        """Another client, with a key that was just made."""
        made = self.library.access_keys.create(f"key {len(self.library.access_keys.list())}", **grants)
        headers = {"Authorization": f"Bearer {made.secret}"}
        return httpx2.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=30)

    def add(self, name: str, text: str, kb: str = "default") -> str:
        """Add a text and wait until it is read; its document's id."""
        received = self.library.add_text(text, name, kb=kb, wait=False)
        assert received.document_id is not None
        self.settle()
        return received.document_id

    def settle(self) -> None:
        """Wait until the server's worker has nothing left to do."""
        until(lambda: not self.library.jobs.list(only_live=True, limit=1))


@contextmanager
def running(library: Library, *, host: str = "127.0.0.1", port: int = 0, works: bool = False) -> Iterator[Server]:
    """Serve, on a free port if none is named. Without `works`, what is added is read when a test says so."""
    ready: Queue[tuple[Serving, Callable[[], None]]] = Queue()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            serve(
                library,
                host=host,
                port=port,
                works=works,
                worded=in_chinese,
                on_ready=lambda serving, stop: ready.put((serving, stop)),
            )
        except BaseException as error:
            failed.append(error)
            raise

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    serving, stop = ready.get(timeout=30)
    try:
        with httpx2.Client(base_url=f"{serving.url}/api/v1", timeout=30) as client:
            yield Server(serving.url, library, client)
    finally:
        stop()
        thread.join(30)
        assert not thread.is_alive()
        assert failed == []


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: Any


def events_of(lines: Iterator[str]) -> Iterator[Event]:
    """Server-sent events as a browser reads them; comments are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if fields:
                yield Event(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
