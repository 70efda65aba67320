"""Stored passages are read again by new rules: in place, resumably, while the old ones go on answering."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import serving
from tests.runtime.test_together import work_while
from tests.waiting import until
from wenyuan.errors import InvalidValue
from wenyuan.flows import reread
from wenyuan.flows.reread import question_vocabulary
from wenyuan.language.postings import read_chunk
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.runtime.library import Library

ONE_WORKER = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
COURSES = {
    "a": "我们报名了转换体验课，2026年3月8日开课。",
    "b": "体验课程转换完成，编号 PPR-9087。",
    "c": "水位正常。",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with wy.open(tmp_path / "library", environment=ONE_WORKER) as opened:
        opened.add_texts(wy.TextToAdd(text, name) for name, text in COURSES.items())
        yield opened


def index(library: Library) -> dict[str, tuple[int, int]]:
    """Every token of the default knowledge base, with the passages that hold it and how often they do."""
    with library._database.read() as tx:
        (number,) = tx.first("SELECT number FROM index_generations WHERE kind = 'lexical'") or (0,)
        return {term: (doc, count) for term, doc, count in tx.all(f"SELECT term, doc, cnt FROM lexical_{number}_terms")}


def keys(library: Library) -> list[tuple[object, ...]]:
    with library._database.read() as tx:
        return tx.all(
            "SELECT d.name, c.seq, k.kind, k.value, k.source, k.first_day, k.last_day FROM keys AS k "
            "JOIN documents AS d ON d.id = k.document_id LEFT JOIN chunks AS c ON c.key = k.chunk_key "
            "ORDER BY 1, 2, 3, 4, 5"
        )


def stored(library: Library) -> list[tuple[object, ...]]:
    with library._database.read() as tx:
        return tx.all("SELECT key, revision_id, seq, text, input_hash FROM chunks ORDER BY key")


def made_anew(folder: Path, terms: tuple[str, ...]) -> tuple[object, object]:
    with wy.open(folder / "anew", environment=ONE_WORKER) as other:
        if terms:
            other.knowledge_bases.add_terms("default", terms)
        other.add_texts(wy.TextToAdd(text, name) for name, text in COURSES.items())
        return index(other), keys(other)


def behind(library: Library) -> int:
    return library.knowledge_bases.show("default").behind


def asked_with(library: Library) -> Vocabulary:
    with library._database.read() as tx:
        return question_vocabulary(tx, library.knowledge_bases.find(None).id)


def test_reading_again_gives_what_reading_anew_gives(library: Library, tmp_path: Path) -> None:
    before = stored(library)
    assert library.knowledge_bases.add_terms("default", ["转换体验课", " 水位 "]) == 3
    library.drain()
    assert (index(library), keys(library)) == made_anew(tmp_path, ("转换体验课", "水位"))
    assert stored(library) == before
    assert behind(library) == 0
    assert library.check() == []


def test_reading_everything_again_changes_nothing(library: Library) -> None:
    before = index(library), keys(library), stored(library)
    assert library.knowledge_bases.refresh_aliases("default") == 0
    assert library.knowledge_bases.refresh_aliases("default", everything=True) == 3
    assert behind(library) == 3
    library.drain()
    assert (index(library), keys(library), stored(library)) == before
    assert behind(library) == 0


def test_what_was_read_before_is_found_until_it_is_read_again(library: Library) -> None:
    library.knowledge_bases.add_terms("default", ["转换体验课"])
    assert behind(library) == 3
    assert library.search("体验课").hits[0].passage.document_name in "ab"
    assert library.drain() == 3
    assert library.search("体验课").hits[0].passage.document_name in "ab"


def test_a_question_uses_a_term_when_every_document_was_read_with_it(library: Library) -> None:
    bases = library.knowledge_bases
    bases.add_terms("default", ["转换体验课"])
    bases.add_synonyms("default", [["水位", "water level"]])
    assert asked_with(library) == Vocabulary((), (("水位", "water level"),))
    library.drain(2)
    assert asked_with(library).terms == ()
    library.drain()
    assert asked_with(library).terms == ("转换体验课",)
    bases.add_terms("default", ["开课"])
    assert asked_with(library).terms == ("转换体验课",)
    bases.remove_terms("default", ["转换体验课"])
    assert asked_with(library).terms == ()
    library.drain()
    assert asked_with(library).terms == ("开课",)


def test_new_documents_are_read_with_the_terms(library: Library) -> None:
    library.knowledge_bases.add_terms("default", ["转换体验课"])
    library.add_text("又一门转换体验课。", "d", wait=False)
    assert [library.drain(1), behind(library)] == [1, 3]
    library.drain()
    assert behind(library) == 0


def test_a_file_that_was_being_read_when_a_term_came_is_read_again(library: Library) -> None:
    library.add_text("又一门转换体验课。", "d", wait=False)
    work_while(library, lambda _: void(library.knowledge_bases.add_terms("default", ["转换体验课"])))
    assert behind(library) == 4
    assert library.check() == []
    library.drain()
    assert behind(library) == 0
    assert index(library)["§t转换体验课"][0] == 2


def void(_: object) -> None:
    """What it did is all that is wanted."""


def test_terms_that_come_while_a_document_is_read_again_are_read_as_well(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bases = library.knowledge_bases
    later = iter(["水位"])

    def meddled(*given: object) -> object:
        for term in later:
            bases.add_terms("default", [term])
        return read_chunk(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(reread, "read_chunk", meddled)
    bases.add_terms("default", ["转换体验课"])
    library.drain()
    assert behind(library) == 0
    assert (index(library), keys(library)) == made_anew(tmp_path, ("转换体验课", "水位"))


def test_a_library_of_older_rules_is_caught_up_with_by_the_next_worker(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reread, "RULE_SET_VERSION", "a later one")
    assert behind(library) == 3
    assert [finding.code for finding in library.check()] == ["rules-behind"]
    assert "rules-behind" in {finding.code for finding in library.doctor()}
    assert library.jobs.list(only_live=True) == []
    library.add_text("新的。", "d")
    assert behind(library) == 0
    assert library.check() == []
    assert "rules-behind" not in {finding.code for finding in library.doctor()}


def test_a_cancelled_one_stays_behind_until_the_next_worker(library: Library) -> None:
    library.knowledge_bases.add_terms("default", ["转换体验课"])
    for job in library.jobs.list(only_live=True):
        library.jobs.cancel(job.id)
    assert behind(library) == 3
    assert {view.latest.state for view in library.documents.list()} == {"ready"}
    assert library.drain() == 3
    assert behind(library) == 0


def test_a_deleted_document_is_not_read_again(library: Library) -> None:
    library.knowledge_bases.add_terms("default", ["转换体验课"])
    library.documents.delete("a")
    assert behind(library) == 2
    library.drain()
    assert behind(library) == 0
    assert asked_with(library).terms == ("转换体验课",)
    assert library.check() == []


def test_only_documents_below_a_path_are_read_again(library: Library, tmp_path: Path) -> None:
    for name in ("x/a.txt", "x/b.txt", "xy/c.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("水位正常", "utf-8")
    library.add(tmp_path / "x", tmp_path / "xy")
    assert library.knowledge_bases.refresh_aliases("default", f"{tmp_path}/x/", everything=True) == 2
    assert library.drain() == 2
    assert library.knowledge_bases.refresh_aliases("default", f"{tmp_path}/nowhere", everything=True) == 0
    assert behind(library) == 0


def test_vectors_stay(tmp_path: Path) -> None:
    home = tmp_path / "library"
    home.mkdir()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
        with wy.open(home, environment={}) as library:
            library.add_text(COURSES["a"], "a")
            embedded = list(server.inputs)
            library.knowledge_bases.add_terms("default", ["转换体验课"])
            library.drain()
            assert behind(library) == 0
            assert library.documents.show("a").semantic.state == "ready"
            assert server.inputs == embedded
            assert library.check() == []


DRAIN = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library: library.drain()"


def test_a_killed_worker_is_gone_on_from(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=ONE_WORKER) as library:
        library.add_text("\n\n".join(f"第{n}门转换体验课。" + f"水位{n}正常。" * 60 for n in range(1500)), "long")
        (chunks,) = {view.latest.chunk_count for view in library.documents.list()}
        assert chunks > 1000
        library.knowledge_bases.add_terms("default", ["转换体验课"])
        worker = subprocess.Popen([sys.executable, "-c", DRAIN, str(library.path)])
        (job,) = library.jobs.list(only_live=True)
        until(lambda: library.jobs.show(job.id).done >= 256, process=worker, glance_seconds=0.002)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        half = library.jobs.show(job.id)
        assert 256 <= half.done < chunks
        assert behind(library) == 1
        library.drain()
        assert library.jobs.show(job.id).state == "done"
        assert index(library)["§t转换体验课"] == (1500, 1500)
        assert behind(library) == 0
        assert library.check() == []


def test_words_that_make_no_sense_are_refused(library: Library) -> None:
    bases = library.knowledge_bases
    for refused in (
        lambda: bases.add_terms("default", ["x"]),
        lambda: bases.remove_terms("default", ["转换体验课"]),
        lambda: bases.add_synonyms("default", [["水位"]]),
        lambda: bases.remove_synonyms("default", [["水位", "water level"]]),
    ):
        with pytest.raises(InvalidValue):
            refused()
    assert bases.show("default").vocabulary == Vocabulary()


def test_words_come_and_go_whatever_their_writing(library: Library) -> None:
    bases = library.knowledge_bases
    bases.add_terms("default", ["PyTorch", "PYTORCH", "水位"])
    assert bases.add_terms("default", ["pytorch"]) == 0
    bases.add_synonyms("default", [["AI", "人工智能"], ["ＡＩ", "人工智能", "机器智能"], ["人工智能", "ai"]])
    words = bases.show("default").vocabulary
    assert words == Vocabulary(("PyTorch", "水位"), (("AI", "人工智能"), ("ＡＩ", "人工智能", "机器智能")))
    bases.remove_terms("default", ["ｐｙｔｏｒｃｈ"])
    bases.remove_synonyms("default", [["人工智能", "Ai"]])
    words = bases.show("default").vocabulary
    assert words == Vocabulary(("水位",), (("ＡＩ", "人工智能", "机器智能"),))
