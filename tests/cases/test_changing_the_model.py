"""Changing the embedding model of a knowledge base: the old index answers until the new one is complete."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.two_models import configure, described, embedded_texts, found, indexed_with, opened
from wenyuan.runtime.library import Library

FILES = {
    "泵站.txt": "一号泵站的密封件编号 PPR-1044，三月检修。",
    "水位.txt": "水位记录：三号水库本周上涨两米。",
    "报销.txt": "差旅报销每天补贴八十元。",
}
QUESTION = "水库的水位涨了多少？"
PATIENCE_SECONDS = 60.0


@pytest.fixture
def servers() -> Iterator[Mapping[str, EmbeddingServer]]:
    with serving() as first, serving(dimensions=96) as second:
        yield {"a": first, "b": second}


@pytest.fixture
def library(tmp_path: Path, servers: Mapping[str, EmbeddingServer]) -> Iterator[Library]:
    with opened(tmp_path, servers) as one:
        one.add_texts(wy.TextToAdd(text, name) for name, text in FILES.items())
        yield one


def test_the_old_index_answers_until_the_new_one_is_complete(
    library: Library, servers: Mapping[str, EmbeddingServer]
) -> None:
    assert found(library, QUESTION)[0] == "水位.txt"
    library.documents.delete("报销.txt")
    library.rebuilds.begin("default", embedding_model="b")
    library.add_text("新的水位计已经安装。", "水位计.txt", wait=False)
    seen: list[tuple[list[str], tuple[str, ...], str]] = []

    def look(texts: list[str]) -> None:
        if QUESTION not in texts:
            seen.append((found(library, QUESTION), library.search(QUESTION).degraded, indexed_with(library)))

    servers["b"].before_answer = look
    library.drain()
    assert seen
    for names, degraded, model in seen:
        assert (names[0], degraded, model) == ("水位.txt", (), "a")
        assert "报销.txt" not in names
    asked_before = len(servers["a"].inputs)
    result = library.search(QUESTION)
    assert result.hits[0].passage.document_name == "水位.txt"
    assert (result.degraded, indexed_with(library)) == ((), "b")
    assert len(servers["a"].inputs) == asked_before
    assert sorted(found(library, QUESTION)) == sorted(["水位.txt", "水位计.txt", "泵站.txt"])
    assert library.check() == []


def test_a_deleted_document_never_returns(library: Library) -> None:
    library.documents.delete("报销.txt")
    library.rebuilds.begin("default", embedding_model="b")
    library.documents.delete("泵站.txt")
    library.drain()
    assert found(library, "差旅报销补贴？") == ["水位.txt"]
    library.rebuilds.roll_back("default")
    library.drain()
    assert (found(library, "差旅报销补贴？"), indexed_with(library)) == (["水位.txt"], "a")
    with library._database.read() as tx:
        assert tx.first("SELECT count(*) FROM chunks") == (1,)
    assert library.check() == []


@pytest.mark.parametrize(
    ("more", "model"), [("", "another"), ('passage_prefix = "passage: "', "a"), ('query_prefix = "query: "', "a")]
)
def test_another_model_under_the_same_name_is_noticed(
    tmp_path: Path, servers: Mapping[str, EmbeddingServer], more: str, model: str
) -> None:
    with opened(tmp_path, servers) as library:
        library.add_texts(wy.TextToAdd(text, name) for name, text in FILES.items())
    changed = '[defaults]\nembedding_model = "a"\n' + described("a", servers["a"], more, model)
    (tmp_path / "library" / "wenyuan.toml").write_text(changed, "utf-8")
    with wy.open(tmp_path / "library") as library:
        result = library.search(QUESTION)
        assert result.hits[0].passage.document_name == "水位.txt"
        assert "embed: index-incompatible" in result.degraded
        begun = library.rebuilds.begin("default")
        assert begun is not None
        assert begun.rebuild.state == "building"
        library.drain()
        assert library.search(QUESTION).degraded == ()
        assert library.rebuilds.begin("default") is None
        assert library.check() == []


def test_the_old_model_under_another_name_goes_on_answering(
    tmp_path: Path, servers: Mapping[str, EmbeddingServer]
) -> None:
    with opened(tmp_path, servers) as library:
        library.add_texts(wy.TextToAdd(text, name) for name, text in FILES.items())
    models = described("a", servers["b"]) + described("old", servers["a"], model="a")
    (tmp_path / "library" / "wenyuan.toml").write_text('[defaults]\nembedding_model = "a"\n' + models, "utf-8")
    with wy.open(tmp_path / "library") as library:
        result = library.search(QUESTION)
        assert (result.hits[0].passage.document_name, result.degraded) == ("水位.txt", ())
        library.add_text("新的水位计已经安装。", "水位计.txt")
        assert library.documents.show("水位计.txt").semantic.state == "ready"
        assert library.rebuilds.begin("default") is not None
        library.drain()
        asked = len(servers["a"].inputs)
        assert library.search(QUESTION).degraded == ()
        assert len(servers["a"].inputs) == asked
        assert library.check() == []


_DRAIN = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library: library.drain()"


def test_killed_half_way_it_goes_on_without_embedding_again(
    tmp_path: Path, servers: Mapping[str, EmbeddingServer]
) -> None:
    home = tmp_path / "library"
    configure(home, servers, "a")
    settings = (home / "wenyuan.toml").read_text("utf-8")
    (home / "wenyuan.toml").write_text(settings.replace("dimensions = 96", "dimensions = 96\nmax_batch_texts = 2"))
    with wy.open(home) as library:
        library.add_texts(wy.TextToAdd(f"第{n}份水位记录。", f"{n}.txt") for n in range(20))
        library.rebuilds.begin("default", embedding_model="b")
    half_way, given_up = threading.Event(), threading.Event()

    def stop_half_way(_: list[str]) -> None:
        if len(embedded_texts(servers["b"])) >= 10 and not given_up.is_set():
            half_way.set()
            assert given_up.wait(PATIENCE_SECONDS)

    servers["b"].before_answer = stop_half_way
    worker = subprocess.Popen([sys.executable, "-c", _DRAIN, str(home)])
    assert half_way.wait(PATIENCE_SECONDS)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    with wy.open(home, create=False) as library:
        assert (indexed_with(library), library.search("水位？").degraded) == ("a", ())
        with library._database.read() as tx:
            assert tx.first("SELECT count(*) FROM vectors WHERE model_key = 2") == (10,)
        stored = set(embedded_texts(servers["b"]))
        given_up.set()
        library.drain()
        assert indexed_with(library) == "b"
        times = Counter(embedded_texts(servers["b"]))
        assert {text: times[text] for text in stored} == dict.fromkeys(stored, 1)
        assert len(found(library, "水位？")) == 20
        assert library.check() == []
