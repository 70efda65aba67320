"""A passage that is switched off is found by no list, in no revision that has its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from wenyuan.errors import DocumentNotFound, KnowledgeBaseArchived, PassageNotFound
from wenyuan.runtime.library import Library
from wenyuan.types import ArmName, ChunkingConfig

ARMS: tuple[ArmName, ...] = ("structured", "keyword", "vector")
SECRET = "# 口令\n\n机房口令编号 PPR-9087，每月更换。\n\n"
PUBLIC = "# 值班\n\n值班电话贴在门口，夜里也有人接。\n\n"


@pytest.fixture
def library(library: Library) -> Library:
    library.knowledge_bases.create("值班室", chunking=ChunkingConfig(50, 0))
    return library


@pytest.fixture
def note(tmp_path: Path, library: Library) -> Path:
    path = tmp_path / "机房.md"
    path.write_text(SECRET + PUBLIC, "utf-8")
    library.add(path, kb="值班室")
    return path


def number_of(library: Library, words: str) -> int:
    return next(one.chunk.seq for one in library.documents.passages("机房.md") if words in one.chunk.text)


def shown(library: Library, words: str = "PPR-9087") -> set[ArmName]:
    """The lists in which a passage with these words is found by its code, its words, or its meaning."""
    return {
        arm
        for arm in ARMS
        for hit in library.search(f"机房口令编号 {words}", kb="值班室", arms=(arm,)).hits
        if words in hit.passage.chunk.text
    }


def test_no_list_finds_it_from_then_on_until_it_is_switched_on(library: Library, note: Path) -> None:
    assert shown(library) == set(ARMS)
    number = number_of(library, "PPR-9087")
    assert library.documents.switch_passage(str(note), number, enabled=False) == 1
    assert shown(library) == set()
    assert [one.enabled for one in library.documents.passages(str(note))].count(False) == 1
    assert library.documents.show(str(note)).disabled_passages == 1
    assert library.search("值班电话", kb="值班室").hits
    assert library.documents.switch_passage(str(note), number, enabled=True) == 1
    assert (shown(library), library.documents.show(str(note)).disabled_passages) == (set(ARMS), 0)


def test_it_stays_off_while_its_words_are_there_and_when_they_come_back(library: Library, note: Path) -> None:
    library.documents.switch_passage(str(note), number_of(library, "PPR-9087"), enabled=False)
    for text, expected in (
        (PUBLIC + "# 别的\n\n新的一段。\n\n" + SECRET, 1),
        (SECRET.replace("，每月", "，\n每月") + PUBLIC, 0),
        (PUBLIC, 0),
        (PUBLIC + SECRET, 1),
    ):
        note.write_text(text, "utf-8")
        library.add(note, kb="值班室")
        assert library.documents.show(str(note)).disabled_passages == expected, text
        if expected:
            assert shown(library) == set()


def test_it_stays_off_when_it_is_read_again_by_other_rules(library: Library, note: Path) -> None:
    library.documents.switch_passage(str(note), number_of(library, "PPR-9087"), enabled=False)
    library.knowledge_bases.add_terms("值班室", ["机房口令"])
    library.knowledge_bases.refresh_aliases("值班室", everything=True)
    library.drain()
    assert shown(library) == set()


def test_what_is_switched_while_a_newer_file_is_being_read_holds_for_that_as_well(library: Library, note: Path) -> None:
    long = SECRET + PUBLIC + "".join(f"# 第{number}节\n\n第{number}条规定，人人遵守。\n\n" for number in range(600))
    note.write_text(long, "utf-8")
    library.add(note, kb="值班室", wait=False)
    library.documents.switch_passage(str(note), number_of(library, "PPR-9087"), enabled=False)
    library.drain()
    assert (library.documents.show(str(note)).latest.chunk_count > 500, shown(library)) == (True, set())


def test_passages_with_the_same_words_go_together(library: Library, note: Path) -> None:
    same = "".join(f"# 泵 {number}\n\n按下红色按钮，等待铃响后松开，再看一眼压力表。\n\n" for number in (1, 2, 3))
    note.write_text(same + PUBLIC, "utf-8")
    library.add(note, kb="值班室")
    words = [one.chunk.text for one in library.documents.passages(str(note))]
    text = next(text for text in words if "红色按钮" in text)
    count = library.documents.switch_passage(str(note), words.index(text), enabled=False)
    assert count == words.count(text)
    assert not [hit for hit in library.search("红色按钮", kb="值班室").hits if hit.passage.chunk.text == text]


def test_other_documents_with_the_same_words_are_found(library: Library, note: Path, tmp_path: Path) -> None:
    other = tmp_path / "抄本.md"
    other.write_bytes(note.read_bytes())
    library.add(other, kb="值班室")
    library.documents.switch_passage(str(note), number_of(library, "PPR-9087"), enabled=False)
    hits = library.search("PPR-9087", kb="值班室").hits
    assert {hit.passage.document_name for hit in hits if "PPR-9087" in hit.passage.chunk.text} == {"抄本.md"}


def test_a_passage_that_is_not_there_is_told(library: Library, note: Path) -> None:
    for number in (-1, 2_000, 1 << 40):
        with pytest.raises(PassageNotFound):
            library.documents.switch_passage(str(note), number, enabled=False)
    with pytest.raises(DocumentNotFound):
        library.documents.switch_passage("nothing", 0, enabled=False)
    library.knowledge_bases.archive("值班室")
    with pytest.raises(KnowledgeBaseArchived):
        library.documents.switch_passage(str(note), 0, enabled=False)


def test_nothing_of_it_is_left_when_its_document_is_deleted(library: Library, note: Path) -> None:
    library.documents.switch_passage(str(note), 0, enabled=False)
    library.documents.delete(str(note))
    library.drain()
    with library._database.read() as tx:
        assert tx.first("SELECT count(*) FROM disabled_passages") == (0,)


def test_a_switch_that_does_not_hold_is_found_by_check(library: Library, note: Path) -> None:
    library.documents.switch_passage(str(note), number_of(library, "PPR-9087"), enabled=False)
    with library._database.write() as tx:
        tx.run("UPDATE chunks SET enabled = 1")
    assert [one.code for one in library.check()] == ["passage-switched"]
    library.documents.switch_passage(str(note), number_of(library, "PPR-9087"), enabled=True)
