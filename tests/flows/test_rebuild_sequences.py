"""Anything in any order: what is found by words is exactly what is served, and everything holds together."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.two_models import opened
from wenyuan.errors import DocumentNotFound, NothingToCancel, NothingToRollBack, RebuildNotRunning, RebuildRunning
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig

_NAMES = ("甲", "乙", "丙", "丁", "戊")
_SIZES = (ChunkingConfig(), ChunkingConfig(100, 0))
_REFUSED = (RebuildRunning, RebuildNotRunning, NothingToRollBack, NothingToCancel, DocumentNotFound)


class Sequence:
    """A library to which things happen at random, and what is known of it."""

    def __init__(self, library: Library, servers: dict[str, EmbeddingServer], seed: int) -> None:
        self.library = library
        self.servers = servers
        self.random = random.Random(seed)
        self.versions: dict[str, list[str]] = {name: [] for name in _NAMES}
        self.seen: dict[str, int] = {}
        self.told: list[str] = []
        self._serial = 0

    def step(self) -> None:
        acts: list[tuple[int, Callable[[], None]]] = [
            (4, self.add),
            (1, self.delete),
            (1, self.switch),
            (1, self.cancel_document),
            (3, self.begin),
            (1, lambda: self._told(self.library.rebuilds.cancel)),
            (2, lambda: self._told(self.library.rebuilds.roll_back)),
            (1, lambda: self._told(self.library.rebuilds.drop_replaced)),
            (1, self.refuse),
            (8, lambda: self.drain(self.random.randint(1, 3))),
            (2, lambda: self.drain(None)),
        ]
        act = self.random.choices([act for _, act in acts], [weight for weight, _ in acts])[0]
        self.told.append(getattr(act, "__name__", ""))
        try:
            act()
        except _REFUSED as error:
            self.told.append(error.code)
        self.verify()

    def add(self) -> None:
        name = self.random.choice(_NAMES)
        self._serial += 1
        word = f"entry{self._serial:04d}"
        self.versions[name].append(word)
        lengths = self.random.choice((1, 1, 12))
        text = "\n\n".join(f"{word}x{part} 水位 {self._filler()}" for part in range(lengths))
        self.library.add_text(text, name, wait=False)
        self.told.append(f"{name}={word}")

    def delete(self) -> None:
        name = self.random.choice(_NAMES)
        self.library.documents.delete(f"text:{name}")
        self.versions[name] = []
        self.seen.pop(name, None)

    def switch(self) -> None:
        self.library.documents.switch(f"text:{self.random.choice(_NAMES)}", enabled=self.random.random() < 0.6)

    def cancel_document(self) -> None:
        self.library.documents.cancel(f"text:{self.random.choice(_NAMES)}")

    def begin(self) -> None:
        model = self.random.choice(("a", "b", "", None))
        chunking = self.random.choice((*_SIZES, None))
        rereads = self.random.random() < 0.2
        self.told.append(f"{model} {chunking} {rereads}")
        self.library.rebuilds.begin("default", embedding_model=model, chunking=chunking, rereads=rereads)

    def refuse(self) -> None:
        """Let the second model refuse everything, or nothing any more."""
        is_refusing = self.servers["b"].before_answer([]) is not None
        self.servers["b"].before_answer = (lambda _: None) if is_refusing else (lambda _: (401, {}, b"{}"))

    def drain(self, jobs: int | None) -> None:
        self.library.drain(jobs)

    def verify(self) -> None:
        served: dict[str, set[str]] = {}
        for view in self.library.documents.list():
            name = view.document.name
            chunks = self.library.documents.chunks(view.document.id, limit=1000)
            if not chunks:
                continue
            version = self.versions[name].index(chunks[0].text.partition("x")[0])
            assert version >= self.seen.get(name, 0), "an older version came back"
            self.seen[name] = version
            if view.document.enabled:
                served[name] = {chunk.text for chunk in chunks}
        result = self.library.search("水位", top_k=200, arms=("keyword",))
        found: dict[str, set[str]] = {}
        for hit in result.hits:
            found.setdefault(hit.passage.document_name, set()).add(hit.passage.chunk.text)
        assert found == served
        assert self.library.check() == []

    def _told(self, act: Callable[[str], object]) -> None:
        self.told.append(act.__name__)
        act("default")

    def _filler(self) -> str:
        return "".join(chr(self.random.randrange(0x4E00, 0x9000)) for _ in range(30))


def run(folder: Path, seed: int, steps: int) -> None:
    with serving() as first, serving(dimensions=96) as second:
        servers = {"a": first, "b": second}
        with opened(folder, servers) as library:
            sequence = Sequence(library, servers, seed)
            try:
                for _ in range(steps):
                    sequence.step()
                second.before_answer = lambda _: None
                settle(library)
            except AssertionError as error:
                error.add_note(f"seed {seed}: {' '.join(sequence.told)}")
                raise


def settle(library: Library) -> None:
    """Do everything that is left, and go on with what has failed: then nothing is missing anywhere."""
    view = library.rebuilds.show("default")
    if view is not None and view.rebuild.state == "failed":
        library.rebuilds.begin("default")
    library.drain()
    for one in library.documents.list():
        if one.semantic.state == "failed" or one.latest.state in ("failed", "cancelled"):
            library.documents.retry(one.document.id)
    library.drain()
    library.drain()
    assert library.check() == []
    result = library.search("水位", top_k=200)
    assert result.degraded == ()
    expected = {one.document.name for one in library.documents.list() if one.document.enabled}
    assert {hit.passage.document_name for hit in result.hits} == expected
    with library._database.read() as tx:
        kept = tx.first("SELECT count(*) FROM index_generations") or (0,)
    assert kept[0] <= 4


@pytest.mark.parametrize("seed", [0, 1, 2, 105])
def test_short_sequences(tmp_path: Path, seed: int) -> None:
    run(tmp_path, seed, steps=30)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
def test_long_sequences(tmp_path: Path, seed: int) -> None:
    run(tmp_path, seed, steps=120)


def test_a_reader_that_goes_on_asking_never_sees_a_gap(tmp_path: Path) -> None:
    with serving() as first, serving(dimensions=96) as second, opened(tmp_path, {"a": first, "b": second}) as library:
        library.add_texts(wy.TextToAdd(f"第{n}份水位记录。", f"{n}") for n in range(10))
        seen: list[int] = []

        def look(_: object) -> None:
            seen.append(len({hit.passage.document_name for hit in library.search("水位", top_k=50).hits}))

        for model, size in (("b", 1), ("a", 0), ("b", 0), ("b", 1)):
            library.rebuilds.begin("default", embedding_model=model, chunking=_SIZES[size])
            library.drain(watch=look)
            library.rebuilds.roll_back("default")
            library.drain(watch=look)
        assert set(seen) == {10}
