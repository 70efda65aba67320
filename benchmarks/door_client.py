"""Clients of a served library in a process of their own: many at once, on connections that cost little.

`python -m benchmarks.door_client PORT KIND CLIENTS SECONDS` prints one line of JSON: what was answered, how soon, and
how much processor time that took here. It speaks just as much HTTP as that needs.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field

KINDS = ("search", "chat", "slow-chat", "half-open")
_SLOW_SECONDS = 0.5
_LONGEST_LINE = 8 << 20


@dataclass
class Tally:
    """What came of one run. Times are in milliseconds: until the answer, its first event, and its first words."""

    answered: int = 0
    refused: int = 0
    refused_without_time: int = 0
    failed: int = 0
    milliseconds: list[float] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    first_event: list[float] = field(default_factory=list)
    first_words: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    status: int
    headers: dict[str, str]


class Line:
    """One connection, opened again where the server has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None
        self._ends = False

    async def ask(self, path: str, body: object) -> Head:
        """Send a request and read the head of its answer."""
        if self._writer is None or self._writer.is_closing() or self._ends or self.reader.at_eof():
            self.close()
            self.reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=_LONGEST_LINE)
        content = json.dumps(body).encode()
        head = f"POST /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if line)
        # Such a connection may be gone already while its end is not yet seen here.
        self._ends = headers.get("connection") == "close"
        return Head(int(status.split()[1]), headers)

    async def rest(self, head: Head) -> None:
        await self.reader.readexactly(int(head.headers["content-length"]))

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces of an answer whose length nobody knew."""
        while size := int(await self.reader.readline(), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
            self._writer = None


class Clients:
    def __init__(self, port: int, kind: str, clients: int, seconds: float, questions: Sequence[str]) -> None:
        self._port = port
        self._kind = kind
        self._clients = clients
        self._until = time.monotonic() + seconds
        self._questions = questions
        self.tally = Tally()

    async def run(self) -> Tally:
        began = time.monotonic()
        await asyncio.gather(*(self._client(random.Random(number)) for number in range(self._clients)))
        used = resource.getrusage(resource.RUSAGE_SELF)
        self.tally.cpu_seconds = used.ru_utime + used.ru_stime
        self.tally.seconds = time.monotonic() - began
        return self.tally

    async def _client(self, randomness: random.Random) -> None:
        """Ask again and again until the time is over; who is told to ask later does."""
        line = Line(self._port)
        try:
            while time.monotonic() < self._until:
                try:
                    wait = await self._once(line, randomness)
                except (OSError, EOFError, asyncio.IncompleteReadError) as error:
                    self.tally.failed += 1
                    name = type(error).__name__
                    self.tally.failures[name] = self.tally.failures.get(name, 0) + 1
                    line.close()
                    wait = 1.0
                if wait:
                    await asyncio.sleep(min(wait * (1 + randomness.random()), max(self._until - time.monotonic(), 0)))
        finally:
            line.close()

    async def _once(self, line: Line, randomness: random.Random) -> float:
        """Ask once; for how many seconds to wait before the next time."""
        if self._kind == "half-open":
            return await self._half_open()
        began = time.perf_counter()
        question = randomness.choice(self._questions)
        if self._kind == "search":
            head = await line.ask("/search", {"question": question})
        else:
            head = await line.ask("/chat", {"question": question})
        if head.status in (429, 503):
            await line.rest(head)
            self.tally.refused += 1
            self.tally.refusals.append((time.perf_counter() - began) * 1000)
            self.tally.refused_without_time += "retry-after" not in head.headers
            return float(head.headers.get("retry-after", "1"))
        if head.status != 200:
            await line.rest(head)
            self.tally.failed += 1
            self.tally.failures[str(head.status)] = self.tally.failures.get(str(head.status), 0) + 1
            return 1.0
        if self._kind == "search":
            await line.rest(head)
        else:
            await self._listen(line, began)
        self.tally.answered += 1
        self.tally.milliseconds.append((time.perf_counter() - began) * 1000)
        return 0.0

    async def _listen(self, line: Line, began: float) -> None:
        has_words, is_whole, is_first = False, False, True
        async for piece in line.chunks():
            if self._kind == "slow-chat":
                # Like somebody on a bad connection, who takes a piece now and then.
                await asyncio.sleep(_SLOW_SECONDS)
            elapsed = (time.perf_counter() - began) * 1000
            if is_first:
                self.tally.first_event.append(elapsed)
                is_first = False
            if not has_words and b"event: assistant.delta" in piece:
                self.tally.first_words.append(elapsed)
                has_words = True
            is_whole = is_whole or b"event: assistant.message" in piece
        if not is_whole:
            raise EOFError("no message came")

    async def _half_open(self) -> float:
        """Begin a request and say no more until the server has enough of it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(b"POST /api/v1/search HTTP/1.1\r\nHost: 127.0")
            await asyncio.wait_for(reader.read(), max(self._until - time.monotonic(), 0.001))
        except (TimeoutError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
        self.tally.answered += 1
        return 0.0


def main(arguments: Sequence[str]) -> None:
    port, kind, clients, seconds = arguments
    questions = json.loads(sys.stdin.readline())
    clients_of_kind = Clients(int(port), kind, int(clients), float(seconds), questions)
    print(json.dumps(asdict(asyncio.run(clients_of_kind.run()))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
