"""Files inside of files are documents of their own, and share the fate of what they lie in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.archive_files import tar_of, written, zip_of
from wenyuan.errors import NothingToRetry, PartOfDocument
from wenyuan.runtime.library import Library
from wenyuan.types import DocumentPolicy

ONE_WORKER = {"WENYUAN_WORKER_THREADS": "1"}
HERON, KINGFISHER, OWL = "苍鹭在湖边过冬，编号 PPR-9087。", "翠鸟在河岸筑巢，编号 PPR-9088。", "仓鸮，编号 PPR-9089。"


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    return written(tmp_path / "birds.zip", {"湖/heron.md": HERON, "kingfisher.txt": KINGFISHER})


def found(library: Library, question: str, kb: str = "default") -> list[str]:
    return sorted({hit.passage.document_name for hit in library.search(question, kb=kb, arms=("structured",)).hits})


def names(library: Library, kb: str | None = None) -> list[str]:
    return sorted(view.document.name for view in library.documents.list(kb))


def test_each_file_of_an_archive_is_found_cited_and_handed_out(library: Library, birds: Path) -> None:
    library.add(birds)
    assert names(library) == ["birds.zip", "birds.zip › kingfisher.txt", "birds.zip › 湖/heron.md"]
    (hit,) = library.search("PPR-9087", arms=("structured",)).hits
    assert (hit.passage.document_name, hit.passage.source) == ("birds.zip › 湖/heron.md", f"{birds}!/湖/heron.md")
    place = library.documents.open(hit.passage.chunk_id)
    assert (place.passage, place.first_line) == (HERON, 1)
    assert library.documents.original(place.document.id) == HERON.encode()
    # The archive is found by the names of what is in it.
    assert "birds.zip" in {one.passage.document_name for one in library.search("kingfisher.txt").hits}
    parent, child = library.documents.show("birds.zip"), library.documents.show("birds.zip › kingfisher.txt")
    assert [name for _, name in parent.holds] == ["birds.zip › kingfisher.txt", "birds.zip › 湖/heron.md"]
    assert child.lies_in == ((parent.document.id, "birds.zip"),)
    assert child.document.parent_id == parent.document.id


def test_the_same_archive_again_is_no_work(library: Library, birds: Path) -> None:
    library.add(birds)
    ids = {view.document.id for view in library.documents.list()}
    assert [one.outcome for one in library.add(birds).received] == ["unchanged"]
    assert {view.document.id for view in library.documents.list()} == ids


def test_a_new_revision_adds_changes_and_deletes_what_is_in_it(library: Library, birds: Path) -> None:
    library.add(birds)
    before = {view.document.name: view for view in library.documents.list()}
    written(birds, {"湖/heron.md": HERON + "改动。", "owl.md": OWL})
    library.add(birds)
    after = {view.document.name: view for view in library.documents.list()}
    assert sorted(after) == ["birds.zip", "birds.zip › owl.md", "birds.zip › 湖/heron.md"]
    heron = "birds.zip › 湖/heron.md"
    assert after[heron].document.id == before[heron].document.id
    assert (before[heron].latest.number, after[heron].latest.number) == (1, 2)
    assert found(library, "PPR-9088") == []
    assert found(library, "PPR-9089") == ["birds.zip › owl.md"]


def test_what_is_the_same_in_a_new_revision_is_not_read_again(library: Library, birds: Path) -> None:
    library.add(birds)
    written(birds, {"湖/heron.md": HERON, "kingfisher.txt": KINGFISHER, "owl.md": OWL})
    library.add(birds)
    assert library.documents.show("birds.zip › 湖/heron.md").latest.number == 1


def test_an_unreadable_new_archive_leaves_the_old_one_and_what_is_in_it(library: Library, birds: Path) -> None:
    library.add(birds)
    birds.write_bytes(birds.read_bytes()[:60])
    library.add(birds)
    assert library.documents.show("birds.zip").latest.state == "failed"
    assert found(library, "PPR-9087") == ["birds.zip › 湖/heron.md"]


def test_deleting_the_archive_takes_everything_in_it_at_once(library: Library, tmp_path: Path) -> None:
    inner = zip_of({"heron.md": HERON})
    library.add(written(tmp_path / "outer.zip", {"inner.zip": inner, "owl.md": OWL}))
    assert found(library, "PPR-9087") == ["outer.zip › inner.zip › heron.md"]
    library.documents.delete("outer.zip")
    assert found(library, "PPR-9087") == found(library, "PPR-9089") == []
    assert library.documents.list() == []
    library.drain()
    with library._database.read() as tx:
        left = {table: tx.all(f"SELECT count(*) FROM {table}")[0][0] for table in ("documents", "blobs", "members")}
    assert left == {"documents": 0, "blobs": 0, "members": 0}


def test_an_archive_that_is_deleted_before_it_is_unpacked_leaves_nothing(library: Library, birds: Path) -> None:
    library.add(birds, wait=False)
    library.drain(max_jobs=1)
    assert [job.kind for job in library.jobs.list(only_live=True) if job.kind == "unpack"] == ["unpack"]
    library.documents.delete("birds.zip")
    library.drain()
    assert library.documents.list() == []
    with library._database.read() as tx:
        assert tx.all("SELECT count(*) FROM blobs")[0][0] == 0


def test_a_cancelled_unpacking_is_taken_up_by_a_retry(library: Library, birds: Path) -> None:
    library.add(birds, wait=False)
    library.drain(max_jobs=1)
    library.documents.cancel("birds.zip")
    library.drain()
    assert names(library) == ["birds.zip"]
    library.documents.retry("birds.zip")
    library.drain()
    assert len(names(library)) == 3
    with pytest.raises(NothingToRetry):
        library.documents.retry("birds.zip")


def test_switching_the_archive_off_switches_what_is_in_it(library: Library, birds: Path) -> None:
    library.add(birds)
    library.documents.switch("birds.zip", enabled=False)
    assert found(library, "PPR-9087") == []
    written(birds, {"owl.md": OWL})
    library.add(birds)
    assert found(library, "PPR-9089") == []
    library.documents.switch("birds.zip", enabled=True)
    assert found(library, "PPR-9089") == ["birds.zip › owl.md"]


def test_what_is_in_an_archive_moves_with_it_and_not_alone(library: Library, birds: Path) -> None:
    library.knowledge_bases.create("鸟类")
    library.add(birds)
    with pytest.raises(PartOfDocument):
        library.documents.move(["birds.zip › kingfisher.txt"], "鸟类")
    library.documents.move(["birds.zip"], "鸟类")
    library.drain()
    assert names(library) == []
    assert len(names(library, "鸟类")) == 3
    assert (found(library, "PPR-9087"), found(library, "PPR-9087", "鸟类")) == ([], ["birds.zip › 湖/heron.md"])
    library.add(birds, kb="鸟类")
    assert len(names(library, "鸟类")) == 3


def test_an_archive_that_moves_before_it_is_unpacked_is_unpacked_where_it_arrives(
    library: Library, birds: Path
) -> None:
    library.knowledge_bases.create("鸟类")
    library.add(birds, wait=False)
    library.drain(max_jobs=1)
    library.documents.move(["birds.zip"], "鸟类")
    library.drain()
    assert (names(library), len(names(library, "鸟类"))) == ([], 3)


def test_a_renamed_archive_keeps_what_is_in_it(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "old.zip", {"heron.md": HERON, "inner.zip": zip_of({"owl.md": OWL})})
    library.sources.sync(str(folder))
    ids = {view.document.id for view in library.documents.list()}
    os.rename(folder / "old.zip", folder / "new.zip")
    library.sources.sync(str(folder))
    assert names(library) == ["new.zip", "new.zip › heron.md", "new.zip › inner.zip", "new.zip › inner.zip › owl.md"]
    assert {view.document.id for view in library.documents.list()} == ids
    (hit,) = library.search("PPR-9089", arms=("structured",)).hits
    assert hit.passage.source == f"{folder / 'new.zip'}!/inner.zip!/owl.md"
    (folder / "new.zip").unlink()
    library.sources.sync(str(folder), allow_empty=True)
    assert library.documents.list() == []


def test_what_is_attached_to_a_session_stays_in_it_with_what_is_inside(library: Library, birds: Path) -> None:
    session = library.sessions.create().id
    library.sessions.attach(session, birds)
    library.drain()
    attached = {one.name for one in library.sessions.attachments(session)}
    assert attached == {"birds.zip", "birds.zip › kingfisher.txt", "birds.zip › 湖/heron.md"}
    assert found(library, "PPR-9087") == []
    hits = library.search("PPR-9087", session=session, arms=("structured",)).hits
    assert [hit.passage.document_name for hit in hits] == ["birds.zip › 湖/heron.md"]
    library.sessions.detach(session, "birds.zip")
    assert library.sessions.attachments(session) == []


def test_a_search_in_an_archive_alone_looks_at_what_is_in_it(library: Library, birds: Path, tmp_path: Path) -> None:
    outer = written(tmp_path / "outer.zip", {"inner.zip": zip_of({"owl.md": OWL})})
    library.add(birds, outer)

    def found_in(*documents: str) -> list[str]:
        hits = library.search("PPR-9087 PPR-9089", documents=documents, arms=("structured",)).hits
        return sorted(hit.passage.document_name for hit in hits)

    assert found_in("birds.zip") == ["birds.zip › 湖/heron.md"]
    assert found_in("outer.zip") == found_in("outer.zip › inner.zip") == ["outer.zip › inner.zip › owl.md"]
    assert found_in("birds.zip › kingfisher.txt") == []
    assert len(found_in("birds.zip", "outer.zip", "birds.zip")) == 2


def test_the_rules_for_files_hold_for_files_inside(library: Library, birds: Path) -> None:
    library.knowledge_bases.create("narrow")
    library.knowledge_bases.set_policy("narrow", DocumentPolicy(forbidden_types=("txt",)))
    library.add(birds, kb="narrow")
    assert library.documents.show("birds.zip › kingfisher.txt").availability == "blocked"
    assert found(library, "PPR-9087", "narrow") == ["birds.zip › 湖/heron.md"]


def test_a_full_knowledge_base_takes_what_it_may_and_says_so(library: Library, birds: Path) -> None:
    library.knowledge_bases.create("small")
    library.knowledge_bases.set_policy("small", DocumentPolicy(max_documents=2))
    library.add(birds, kb="small")
    assert len(names(library, "small")) == 2
    notices = library.documents.show("birds.zip").latest.notices
    assert [one.code for one in notices] == ["members-left-out"]
    assert "湖/heron.md" in notices[0].message


def test_a_file_that_is_in_an_archive_too_stays_its_own_document(library: Library, birds: Path, tmp_path: Path) -> None:
    library.knowledge_bases.create("once")
    library.knowledge_bases.set_policy("once", DocumentPolicy(duplicates="replace"))
    library.add(birds, kb="once")
    (tmp_path / "heron.md").write_text(HERON, "utf-8")
    assert library.add(tmp_path / "heron.md", kb="once").received[0].outcome == "added"
    written(birds, {"湖/heron.md": HERON, "new/heron.md": HERON})
    library.add(birds, kb="once")
    assert [name for name in names(library, "once") if name.endswith("heron.md")] == [
        "birds.zip › new/heron.md",
        "birds.zip › 湖/heron.md",
        "heron.md",
    ]


def test_what_cannot_be_read_is_named_once_and_junk_not_at_all(library: Library, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "film.mp4": b"\0\0\0\x18ftypmp42" + bytes(99),
        "empty.txt": "",
        "__MACOSX/._heron.md": b"\0\5\x16\7",
    }
    library.add(written(tmp_path / "mixed.zip", {"heron.md": HERON, ".DS_Store": b"\0\0\0\1Bud1", **files}))
    assert names(library) == ["mixed.zip", "mixed.zip › heron.md"]
    (notice,) = library.documents.show("mixed.zip").latest.notices
    assert notice.code == "members-not-read"
    assert "film.mp4, empty.txt." in notice.message
    assert "MACOSX" not in library.documents.chunks("mixed.zip")[0].text


def test_an_archive_of_nothing_readable_is_found_by_its_list(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path / "films.zip", {"春节联欢.mp4": b"\0\0\0\x18ftypmp42" + bytes(99)}))
    assert [hit.passage.document_name for hit in library.search("春节联欢").hits] == ["films.zip"]


def test_archives_in_archives_are_opened_to_a_depth(library: Library, tmp_path: Path) -> None:
    content: bytes = HERON.encode()
    for depth in range(8):
        content = zip_of({f"{8 - depth}.zip" if depth else "heron.md": content})
    (tmp_path / "0.zip").write_bytes(content)
    library.add(tmp_path / "0.zip")
    views = library.documents.list()
    assert len(views) == 6
    deepest = max(views, key=lambda view: len(view.lies_in))
    assert len(deepest.lies_in) == 5
    assert [one.code for one in deepest.latest.notices] == ["members-left-out"]


def test_an_archive_that_holds_too_much_is_cut_off(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wenyuan.flows.unpack.MOST_MEMBERS", 3)
    inner = zip_of({f"{number}.md": f"{HERON} {number}" for number in range(5)})
    library.add(written(tmp_path / "outer.zip", {"inner.zip": inner}))
    assert len(names(library)) == 4
    assert "members-left-out" in {one.code for one in library.documents.show("outer.zip › inner.zip").latest.notices}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_archives_are_opened_as_well(library: Library, tmp_path: Path, mode: str) -> None:
    path = tmp_path / f"birds.tar{mode[1:].replace(':', '.')}"
    path.write_bytes(tar_of({"湖/heron.md": HERON.encode(), "owl.md": OWL.encode()}, mode))
    library.add(path)
    assert found(library, "PPR-9087") == [f"{path.name} › 湖/heron.md"]


def test_an_exported_knowledge_base_keeps_what_lies_in_what(library: Library, tmp_path: Path) -> None:
    outer = written(tmp_path / "outer.zip", {"inner.zip": zip_of({"heron.md": HERON}), "owl.md": OWL})
    library.add(outer)
    library.knowledge_bases.export("default", tmp_path / "all.wenyuan")
    library.knowledge_bases.import_(tmp_path / "all.wenyuan", name="again")
    library.drain()
    heron = next(view for view in library.documents.list("again") if view.document.name.endswith("heron.md"))
    assert [name for _, name in heron.lies_in] == ["outer.zip › inner.zip", "outer.zip"]
    (top,) = (view for view in library.documents.list("again") if not view.document.parent_id)
    library.documents.delete(top.document.id)
    assert (found(library, "PPR-9087", "again"), len(names(library))) == ([], 4)


def test_new_indexes_change_nothing_about_what_lies_in_what(library: Library, birds: Path) -> None:
    library.add(birds)
    ids = {view.document.id for view in library.documents.list()}
    library.rebuilds.begin("default", rereads=True)
    library.drain()
    assert {view.document.id for view in library.documents.list()} == ids
    assert found(library, "PPR-9087") == ["birds.zip › 湖/heron.md"]


def test_a_check_finds_orphans_and_repairs_them(library: Library, birds: Path) -> None:
    library.add(birds)
    with library._database.write() as tx:
        tx.run("UPDATE documents SET parent_id = 'doc_gone' WHERE name LIKE '%heron.md'")
    assert [one.code for one in library.check()] == ["parent-gone"]
    library.repair()
    assert found(library, "PPR-9087") == []


def test_a_check_finds_files_that_nobody_will_unpack(library: Library, birds: Path) -> None:
    library.add(birds, wait=False)
    library.drain(max_jobs=1)
    with library._database.write() as tx:
        tx.run("DELETE FROM jobs WHERE kind = 'unpack'")
    assert [one.code for one in library.check() if one.code == "members-lost"] == ["members-lost"]
    library.repair()
    assert len(names(library)) == 3
