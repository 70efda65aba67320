"""The HTTP door under load: a server, its clients and its model, each a process of its own on this machine."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil

import wenyuan as wy
from benchmarks.corpus import Corpus
from benchmarks.door_model import PIECES, SECONDS_A_PIECE
from benchmarks.postgresql import library_place
from benchmarks.report import table

_KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
_FILES, _PASSAGES_PER_FILE = 200, 25
_SECONDS = 8.0
# Ten lags a second are measured: so long, one of them is no more than what three in a thousand are.
_LONG_SECONDS = 30.0
_HEADER = (
    *("database", "what", "clients", "answered/s", "p50 ms", "p99 ms", "first event p50/p99 ms"),
    *("refused with Retry-After", "refusal p99 ms", "failed", "loop lag p99 ms; idle process", "CPU", "clients' CPU"),
)
_MODEL = """
[roles]
answer = "writer"

[models.writer]
types = ["chat"]
protocol = "openai-compatible"
model = "m"
base_url = "http://127.0.0.1:{port}/v1"
"""
_IDLE = """
import asyncio, json
from wenyuan.doors.http.event_loop import watch_lag
async def watch():
    lags = []
    try:
        await asyncio.wait_for(watch_lag(lambda lag: lags.append(1000 * lag)), {seconds})
    except TimeoutError:
        print(json.dumps(lags))
asyncio.run(watch())
"""
_MEMORY_AT = (10, 25, 50, 100)
"""When, in percent of the time, memory is told."""

# As many as are to be served at once; a machine with little memory would say less.
_MANY_STREAMS = {"WENYUAN_ANSWER_RUNNING": "256", "WENYUAN_SERVER_STREAMS": "256"}


@dataclass(frozen=True, slots=True)
class Load:
    """Clients that do the same, beside others that stand in the way."""

    what: str
    kind: str
    clients: int
    beside: tuple[tuple[str, int], ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    seconds: float = _SECONDS


_LOADS = (
    Load("searches, as many as are admitted", "search", 64, seconds=_LONG_SECONDS),
    Load("searches, far too many", "search", 1_000),
    Load("the same beside 300 half-open connections", "search", 600, (("half-open", 300),)),
    Load("chats, as many as are admitted", "chat", 30, seconds=_LONG_SECONDS),
    Load("chats, far too many", "chat", 200),
    Load("chats, where 256 may run", "chat", 200, (), _MANY_STREAMS),
    Load("the same beside 30 slow readers", "chat", 150, (("slow-chat", 30),), _MANY_STREAMS),
)


def measure(corpus: Corpus, minutes: float) -> str:
    """All loads on both databases, and for so many minutes how much memory a mixture of them takes."""
    rows: list[Sequence[object]] = []
    memory: list[Sequence[object]] = []
    for kind in ("SQLite", "PostgreSQL"):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            place = stack.enter_context(library_place(kind, folder))
            questions = _fill(place, corpus)
            port = stack.enter_context(_model())
            settings = _MODEL.format(port=port)
            rows += [_row(kind, load, place, settings, questions) for load in _LOADS]
            memory.append(_memory(kind, place, settings, questions, minutes))
    words = f"{PIECES} pieces, one each {' to '.join(f'{1000 * seconds:.0f}' for seconds in SECONDS_A_PIECE)} ms"
    return "\n".join(
        (
            table("The HTTP door under load", _HEADER, rows),
            f"{_FILES * _PASSAGES_PER_FILE:,} passages, found by words alone; the model says {words}.\n",
            table(
                "Its memory",
                (
                    "database",
                    "minutes",
                    *(f"MB after {share}%" for share in _MEMORY_AT),
                    "MB a minute, second half",
                    "answered",
                    "failed",
                ),
                memory,
            ),
        )
    )


def _fill(place: tuple[str, str], corpus: Corpus) -> list[str]:
    passages = list(corpus.passages(_FILES * _PASSAGES_PER_FILE, seed=11))
    with wy.open(place[0], blobs=place[1] or None, environment=_KEYWORD_ONLY) as library:
        for number in range(_FILES):
            text = "\n\n".join(passages[number * _PASSAGES_PER_FILE : (number + 1) * _PASSAGES_PER_FILE])
            library.add_text(text, f"{number:04d}.txt", wait=False)
        library.drain()
        library.search(passages[0][:24])
    return [passage[:24] for passage in passages[:: len(passages) // 200]]


# --- Processes -------------------------------------------------------------------------------------


@contextmanager
def _model() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.door_model"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


@dataclass
class Served:
    process: subprocess.Popen[str]
    port: int

    def metric(self, pattern: str) -> list[tuple[str, ...]]:
        """The lines of the metrics that a pattern fits, as its groups."""
        # While it has too much to do it refuses this as well.
        for _ in range(100):
            answer = httpx2.get(f"http://127.0.0.1:{self.port}/api/v1/metrics", timeout=60)
            if answer.status_code == 200:
                return [match.groups() for match in re.finditer(pattern, answer.text, re.MULTILINE)]
            time.sleep(0.2)
        raise AssertionError("the server tells no metrics")

    def lags(self) -> dict[float, int]:
        pattern = r'^wenyuan_event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$'
        return {float(limit): int(count) for limit, count in self.metric(pattern)}

    def cpu_seconds(self) -> float:
        used = psutil.Process(self.process.pid).cpu_times()
        return float(used.user + used.system)

    def megabytes(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6


@contextmanager
def _serving(place: tuple[str, str], settings: str, more: dict[str, str]) -> Iterator[Served]:
    folder = Path(place[1] or place[0])
    (folder / "wenyuan.toml").write_text(settings, "utf-8")
    command = [sys.executable, "-m", "wenyuan.doors.cli", "--library", place[0], "serve", "--port", "0", "--json"]
    where = {"WENYUAN_BLOBS": place[1]} if place[1] else {}
    environment = {**os.environ, **_KEYWORD_ONLY, **where, **more}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith('{"'):
            raise RuntimeError(f"no server came up: {line}{process.communicate()[0]}")
        yield Served(process, int(json.loads(line)["url"].rpartition(":")[2]))
    finally:
        process.terminate()
        process.wait()


class _Clients:
    """Clients of one kind in a process of their own; `tally` waits for what came of it."""

    def __init__(self, port: int, kind: str, clients: int, seconds: float, questions: Sequence[str]) -> None:
        command = [sys.executable, "-m", "benchmarks.door_client", str(port), kind, str(clients), str(seconds)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(questions)) + "\n")
        self._process.stdin.flush()

    def tally(self) -> dict[str, Any]:
        said, _ = self._process.communicate()
        tally: dict[str, Any] = json.loads(said)
        return tally


class _Idle:
    """A process that only waits: how late it comes back is how late the machine lets anybody be."""

    def __init__(self, seconds: float) -> None:
        command = [sys.executable, "-c", _IDLE.format(seconds=seconds)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def p99(self) -> float:
        """In milliseconds."""
        return _p50_and_p99(json.loads(self._process.communicate()[0]))[1]


# --- Loads -----------------------------------------------------------------------------------------


def _row(kind: str, load: Load, place: tuple[str, str], settings: str, questions: Sequence[str]) -> Sequence[object]:
    with _serving(place, settings, load.environment) as served:
        _Clients(served.port, "search", 4, 2.0, questions).tally()
        lags, cpu = served.lags(), served.cpu_seconds()
        beside = [_Clients(served.port, other, clients, load.seconds, questions) for other, clients in load.beside]
        idle = _Idle(load.seconds)
        tally = _Clients(served.port, load.kind, load.clients, load.seconds, questions).tally()
        used = served.cpu_seconds() - cpu
        for other in beside:
            other.tally()
        lag = f"{_lag(lags, served.lags())}, {idle.p99():.0f}"
    asked = tally["answered"] + tally["refused"]
    refused = f"{tally['refused'] / max(asked, 1):.0%}"
    if tally["refused_without_time"]:
        refused += f", {tally['refused_without_time']:,} without it"
    return (
        kind,
        load.what,
        load.clients,
        tally["answered"] / tally["seconds"],
        *_p50_and_p99(tally["milliseconds"]),
        "/".join(f"{value:,.0f}" for value in _p50_and_p99(tally["first_event"])) if tally["first_event"] else "",
        refused,
        _p50_and_p99(tally["refusals"])[1] if tally["refusals"] else "",
        _failures([tally]),
        lag,
        f"{used / tally['seconds']:.0%}",
        f"{tally['cpu_seconds'] / tally['seconds']:.0%}",
    )


def _p50_and_p99(samples: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(samples) or [float("nan")]
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def _lag(before: dict[float, int], after: dict[float, int]) -> str:
    """The limit below which 99 in 100 lags stay."""
    seen = {limit: after[limit] - before.get(limit, 0) for limit in after}
    whole = seen[float("inf")]
    limit = next(limit for limit in sorted(seen) if seen[limit] >= 0.99 * whole)
    return f"≤ {1000 * limit:g}" if limit != float("inf") else "> 1,000"


# --- Memory ----------------------------------------------------------------------------------------


def _memory(
    kind: str, place: tuple[str, str], settings: str, questions: Sequence[str], minutes: float
) -> Sequence[object]:
    """A mixture of everything for a while, and how much memory the server has meanwhile."""
    samples: list[tuple[float, float]] = []
    with _serving(place, settings, _MANY_STREAMS) as served:
        kinds = (("search", 40), ("chat", 40), ("slow-chat", 10), ("half-open", 50))
        running = [_Clients(served.port, one, clients, 60 * minutes, questions) for one, clients in kinds]
        over, began = threading.Event(), time.monotonic()

        def sample() -> None:
            while not over.wait(1.0):
                samples.append((time.monotonic() - began, served.megabytes()))

        sampling = threading.Thread(target=sample)
        sampling.start()
        tallies = [one.tally() for one in running]
        over.set()
        sampling.join()
    # Medians of the last tenth before each moment: page caches and answers that may be taken up again fill first.
    ends = [max(1, len(samples) * share // 100) for share in _MEMORY_AT]
    at = [statistics.median(megabytes for _, megabytes in samples[9 * end // 10 : end]) for end in ends]
    half, whole = (samples[end - 1][0] for end in ends[-2:])
    answered = sum(tally["answered"] for tally in tallies)
    return kind, minutes, *at, 60 * (at[-1] - at[-2]) / (whole - half), answered, _failures(tallies)


def _failures(tallies: Sequence[dict[str, Any]]) -> str | int:
    """How many of each kind, or 0."""
    counted: Counter[str] = sum((Counter(tally["failures"]) for tally in tallies), Counter())
    return ", ".join(f"{number} {name}" for name, number in counted.items()) or 0
