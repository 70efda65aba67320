"""What a pass over a folder does, and what it refuses to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wenyuan.errors import InvalidValue, KnowledgeBaseArchived, PathNotFound, SourceExists, SourceNotFound
from wenyuan.flows.file_paths import openable, storable
from wenyuan.flows.sync import SyncReport
from wenyuan.runtime.library import Library
from wenyuan.runtime.opening import open_library
from wenyuan.store import rereading, source_files, sources
from wenyuan.types import DocumentPolicy

KEYWORDS_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path / "library", environment=KEYWORDS_ONLY) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.mkdir()
    (path / "quince.txt").write_text("榅桲 quince jelly", "utf-8")
    (path / "medlar.txt").write_text("medlar cheese", "utf-8")
    return path


def synced(library: Library, *references: str, allow_empty: bool = False, read: bool = False) -> SyncReport:
    (report,) = library.sources.sync(*references, allow_empty=allow_empty, wait=read)
    return report


def counted(report: SyncReport) -> dict[str, int]:
    return dict(Counter(change.what for change in report.changes))


def names(library: Library, kb: str | None = None) -> list[str]:
    return sorted(view.document.name for view in library.documents.list(kb))


def jobs_of(library: Library, kind: str) -> int:
    return sum(job.kind == kind for job in library.jobs.list(limit=10_000))


# --- Moves -------------------------------------------------------------------------------------------


def test_a_renamed_file_is_the_same_document_and_is_not_read_again(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library, read=True)
    before = library.documents.show("quince.txt")
    read = jobs_of(library, "ingest")
    (folder / "sub").mkdir()
    (folder / "quince.txt").rename(folder / "sub" / "PPR-9087.txt")
    assert counted(synced(library, read=True)) == {"moved": 1}
    after = library.documents.show(before.document.id)
    assert after.document.source == str(folder / "sub" / "PPR-9087.txt")
    assert after.latest.id == before.latest.id
    assert jobs_of(library, "ingest") == read
    # It is found by its new name, which stands nowhere in its text.
    assert [hit.passage.document_id for hit in library.search("PPR-9087").hits] == [before.document.id]
    assert library.search("榅桲", filters={"path": {"prefix": f"{folder}/sub"}}).hits != ()


def test_a_file_copied_and_deleted_is_moved_by_its_bytes(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library)
    before = library.documents.find("quince.txt").document.id
    (folder / "new.txt").write_bytes((folder / "quince.txt").read_bytes())
    (folder / "quince.txt").unlink()
    assert counted(synced(library)) == {"moved": 1}
    assert library.documents.find("new.txt").document.id == before


def test_a_file_renamed_and_edited_is_the_same_document_with_a_new_revision(library: Library, folder: Path) -> None:
    lines = "\n".join(f"line {number} of the harvest" for number in range(10))
    (folder / "harvest.txt").write_text(lines)
    library.sources.add(folder)
    synced(library, read=True)
    before = library.documents.find("harvest.txt")
    (folder / "harvest.txt").rename(folder / "yield.txt")
    with (folder / "yield.txt").open("a") as file:
        file.write("\nand a late pear")
    assert counted(synced(library, read=True)) == {"moved": 1, "updated": 1}
    after = library.documents.find("yield.txt")
    assert (after.document.id, after.latest.number) == (before.document.id, before.latest.number + 1)


def test_a_document_not_yet_read_is_moved_too(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    library.sources.sync(wait=False)
    before = library.documents.find("quince.txt").document.id
    (folder / "quince.txt").rename(folder / "jelly.txt")
    assert counted(synced(library, read=True)) == {"moved": 1}
    assert library.documents.show("jelly.txt").document.id == before
    assert library.documents.show("jelly.txt").latest.state == "ready"


def test_a_file_renamed_while_its_passages_are_read_again_is_found_by_its_last_name(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.sources.add(folder)
    synced(library, read=True)
    (folder / "quince.txt").rename(folder / "PPR-9087.txt")
    synced(library)
    read_chunks = rereading.chunks_from

    def rename_meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(rereading, "chunks_from", read_chunks)
        (folder / "PPR-9087.txt").rename(folder / "KLM-4411.txt")
        with ThreadPoolExecutor() as threads:
            assert counted(threads.submit(synced, library).result()) == {"moved": 1}
        return read_chunks(*arguments)

    monkeypatch.setattr(rereading, "chunks_from", rename_meanwhile)
    library.drain()
    assert [hit.passage.document_name for hit in library.search("KLM-4411").hits] == ["KLM-4411.txt"]
    assert library.search("PPR-9087").hits == ()


def test_a_disabled_document_stays_so_when_it_moves(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library)
    library.documents.switch("quince.txt", enabled=False)
    (folder / "quince.txt").rename(folder / "secret.txt")
    synced(library)
    assert not library.documents.find("secret.txt").document.enabled


# --- What deletes nothing ----------------------------------------------------------------------------


def test_a_missing_folder_deletes_nothing_and_says_so(library: Library, folder: Path) -> None:
    source = library.sources.add(folder)
    synced(library)
    folder.rename(folder.with_name("elsewhere"))
    report = synced(library)
    assert report.problem is not None
    assert report.problem.code == "source-missing"
    assert names(library) == ["medlar.txt", "quince.txt"]
    shown = library.sources.show(source.id).source.problem
    assert shown is not None
    assert shown.code == "source-missing"
    folder.with_name("elsewhere").rename(folder)
    assert synced(library).problem is None
    assert library.sources.show(source.id).source.problem is None


def test_an_emptied_folder_deletes_nothing_unless_it_is_meant(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library)
    for file in folder.iterdir():
        file.unlink()
    report = synced(library)
    assert report.problem is not None
    assert report.problem.code == "source-emptied"
    assert len(names(library)) == 2
    assert counted(synced(library, allow_empty=True)) == {"deleted": 2}
    assert names(library) == []


def test_the_last_file_but_one_is_deleted_as_any_other(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library, read=True)
    (folder / "quince.txt").unlink()
    assert counted(synced(library, read=True)) == {"deleted": 1}
    assert library.search("榅桲").hits == ()


def test_a_disk_within_a_folder_that_is_gone_deletes_nothing(library: Library, folder: Path) -> None:
    """Its files are noted as those of another device, whose mount point is left empty."""
    (folder / "disk").mkdir()
    (folder / "disk" / "far.txt").write_text("far away pears")
    source = library.sources.add(folder)
    synced(library)
    with library._database.write() as tx:
        (far,) = [one.record for one in source_files.files(tx, source) if one.record.path == "disk/far.txt"]
        source_files.put_files(tx, source.id, [replace(far, device=far.device + 1)])
    (folder / "disk" / "far.txt").unlink()
    report = synced(library)
    assert report.problem is not None
    assert (report.problem.code, str(folder / "disk") in report.problem.message) == ("source-emptied", True)
    assert "far.txt" in names(library)


def test_what_cannot_be_read_now_is_kept_and_named(library: Library, folder: Path) -> None:
    (folder / "sub").mkdir(mode=0)
    if os.access(folder / "sub", os.R_OK):
        pytest.skip("this user may read everything")
    (folder / "sub").chmod(0o700)
    (folder / "sub" / "pear.txt").write_text("pear")
    library.sources.add(folder)
    synced(library)
    (folder / "sub").chmod(0)
    (folder / "quince.txt").write_text("changed, but not to be read")
    (folder / "quince.txt").chmod(0)
    report = synced(library)
    assert {Path(path).name for path, _ in report.problems} == {"sub", "quince.txt"}
    assert names(library) == ["medlar.txt", "pear.txt", "quince.txt"]
    (folder / "sub").chmod(0o700)
    (folder / "quince.txt").chmod(0o600)
    assert counted(synced(library)) == {"updated": 1}


def test_a_file_that_has_grown_too_large_is_kept_named_and_tried_again(tmp_path: Path, folder: Path) -> None:
    environment = {**KEYWORDS_ONLY, "WENYUAN_LIMITS_FILE_BYTES": "100"}
    with open_library(tmp_path / "library", environment=environment) as library:
        source = library.sources.add(folder)
        synced(library, read=True)
        (folder / "quince.txt").write_text("x" * 101)
        for _ in range(2):
            ((path, problem),) = synced(library, read=True).problems
            assert (path, problem.code) == (str(folder / "quince.txt"), "file-too-large")
        assert [problem.code for _, problem in library.sources.show(source.id).file_problems] == ["file-too-large"]
        assert library.search("榅桲").hits != ()
        (folder / "quince.txt").write_text("small again")
        assert counted(synced(library, read=True)) == {"updated": 1}
        assert library.sources.show(source.id).file_problems == ()


def test_documents_added_by_hand_are_not_a_source_s_to_delete(library: Library, folder: Path) -> None:
    library.add(folder / "quince.txt")
    library.sources.add(folder)
    assert counted(synced(library)) == {"added": 1}
    (folder / "quince.txt").unlink()
    report = synced(library)
    assert (counted(report), report.kept) == ({}, 1)
    assert names(library) == ["medlar.txt", "quince.txt"]


def test_documents_added_by_hand_can_be_adopted(library: Library, folder: Path) -> None:
    library.add(folder / "quince.txt")
    library.sources.add(folder, adopt=True)
    synced(library)
    (folder / "quince.txt").unlink()
    assert counted(synced(library)) == {"deleted": 1}


# --- What is looked at -------------------------------------------------------------------------------


def test_a_document_deleted_by_hand_comes_back_while_its_file_is_there(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library)
    library.documents.delete("quince.txt")
    assert counted(synced(library)) == {"added": 1}


def test_names_in_other_encodings_are_taken_in_and_followed(library: Library, folder: Path) -> None:
    odd = os.fsencode(folder) + b"/" + "笔记".encode("gb18030") + b".txt"
    with open(odd, "w") as file:
        file.write("an old archive")
    source = library.sources.add(folder)
    synced(library)
    assert "笔记.txt" in names(library)
    # Another file whose name is the same text, in UTF-8, cannot be a second document of the same name.
    (folder / "笔记.txt").write_text("a newer one")
    report = synced(library)
    assert [problem.code for _, problem in report.problems] == ["names-alike"]
    (folder / "笔记.txt").unlink()
    os.rename(odd, os.fsencode(folder) + b"/\xff\xfe.txt")
    synced(library)
    assert library.sources.show(source.id).counts.files == 3
    os.unlink(os.fsencode(folder) + b"/\xff\xfe.txt")
    assert counted(synced(library)) == {"deleted": 1}


@pytest.mark.parametrize("path", ["a/b.txt", "笔记.txt", "bytes:00", os.fsdecode(b"\xc4\xe3.txt"), "bytes:" + "é"])
def test_a_stored_path_opens_the_same_file(path: str) -> None:
    assert openable(storable(path)) == path
    storable(path).encode("utf-8")


def test_links_in_circles_and_special_files_do_no_harm(library: Library, folder: Path) -> None:
    os.symlink(folder, folder / "circle")
    os.symlink("itself.txt", folder / "itself.txt")
    os.symlink("nowhere", folder / "broken.txt")
    os.symlink(folder / "quince.txt", folder / "link.txt")
    os.mkfifo(folder / "pipe.txt")
    library.sources.add(folder)
    report = synced(library)
    assert sorted(Path(change.path).name for change in report.changes) == ["link.txt", "medlar.txt", "quince.txt"]
    assert ("special", 1) in report.passed_over


def test_a_file_that_comes_to_be_ignored_goes(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    synced(library)
    (folder / ".gitignore").write_text("quince*\n")
    assert counted(synced(library)) == {"deleted": 1}
    (folder / ".gitignore").unlink()
    assert counted(synced(library)) == {"added": 1}


def test_the_library_itself_and_others_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("pear")
    open_library(tmp_path / "other", environment=KEYWORDS_ONLY).close()
    with open_library(tmp_path / "library", environment=KEYWORDS_ONLY) as library:
        library.sources.add(tmp_path)
        assert [Path(change.path).name for change in synced(library).changes] == ["note.txt"]
        with pytest.raises(InvalidValue):
            library.sources.add(tmp_path / "library" / "blobs")


# --- Several sources ---------------------------------------------------------------------------------


def test_a_file_in_two_sources_is_one_document_and_outlives_either(library: Library, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "pear.txt").write_text("pear")
    library.sources.add(folder)
    library.sources.add(folder / "sub")
    library.sources.sync(wait=False)
    assert names(library) == ["medlar.txt", "pear.txt", "quince.txt"]
    assert library.sources.remove(str(folder), keep_documents=False) == 2
    assert names(library) == ["pear.txt"]
    library.sources.sync(wait=False)
    assert names(library) == ["pear.txt"]
    (folder / "sub" / "other.txt").write_text("plum")
    (folder / "sub" / "pear.txt").unlink()
    library.sources.sync(wait=False)
    assert names(library) == ["other.txt"]


def test_two_knowledge_bases_may_follow_one_folder(library: Library, folder: Path) -> None:
    library.knowledge_bases.create("second")
    library.sources.add(folder)
    library.sources.add(folder, kb="second")
    reports = library.sources.sync(str(folder), wait=False)
    assert len(reports) == 2
    assert names(library) == names(library, "second") == ["medlar.txt", "quince.txt"]
    (folder / "quince.txt").unlink()
    library.sources.sync(wait=False)
    assert names(library) == names(library, "second") == ["medlar.txt"]


def test_a_source_is_removed_with_or_without_its_documents(library: Library, folder: Path) -> None:
    library.add_text("by hand", "hand.md")
    library.sources.add(folder)
    synced(library)
    assert library.sources.remove(str(folder), keep_documents=True) == 0
    assert len(names(library)) == 3
    library.sources.add(folder, adopt=True)
    synced(library)
    assert library.sources.remove(str(folder), keep_documents=False) == 2
    assert names(library) == ["hand.md"]
    assert library.sources.list() == []


def test_a_removal_that_was_interrupted_is_ended_by_the_next_pass(library: Library, folder: Path) -> None:
    source = library.sources.add(folder)
    synced(library)
    with library._database.write() as tx:
        sources.begin_removal(tx, source.id)
    assert library.sources.sync() == []
    assert names(library) == []
    assert library.sources.list() == []


def test_a_paused_source_is_left_alone_unless_it_is_named(library: Library, folder: Path) -> None:
    source = library.sources.add(folder)
    library.sources.pause(source.id)
    assert library.sources.sync() == []
    assert counted(synced(library, source.id)) == {"added": 2}
    library.sources.resume(str(folder))
    assert len(library.sources.sync()) == 1


def test_a_folder_that_is_no_source_yet_becomes_one(library: Library, folder: Path) -> None:
    library.knowledge_bases.create("orchard")
    with pytest.raises(SourceNotFound):
        library.sources.sync(str(folder), dry_run=True)
    (report,) = library.sources.sync(str(folder), kb="orchard")
    assert counted(report) == {"added": 2}
    assert [view.knowledge_base for view in library.sources.list()] == ["orchard"]
    (again,) = library.sources.sync(str(folder))
    assert (again.source.id, counted(again)) == (report.source.id, {})


def test_what_cannot_be_a_source_is_refused(library: Library, folder: Path) -> None:
    library.sources.add(folder)
    with pytest.raises(SourceExists):
        library.sources.add(folder)
    with pytest.raises(PathNotFound):
        library.sources.add(folder / "nowhere")
    with pytest.raises(InvalidValue):
        library.sources.add(folder / "quince.txt")
    with pytest.raises(SourceNotFound):
        library.sources.sync("nothing")


def test_an_archived_knowledge_base_takes_nothing_in(library: Library, folder: Path) -> None:
    library.knowledge_bases.create("old")
    source = library.sources.add(folder, kb="old")
    library.knowledge_bases.archive("old")
    assert library.sources.sync() == []
    with pytest.raises(KnowledgeBaseArchived):
        library.sources.add(folder, kb="old")
    library.knowledge_bases.archive("old", undo=True)
    assert counted(synced(library, source.id)) == {"added": 2}


# --- The same bytes again ----------------------------------------------------------------------------


def test_where_duplicates_are_skipped_one_stands_for_all(library: Library, folder: Path) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(duplicates="skip"))
    (folder / "twin.txt").write_bytes((folder / "quince.txt").read_bytes())
    library.sources.add(folder)
    assert counted(synced(library, read=True)) == {"added": 2, "skipped": 1}
    assert counted(synced(library, read=True)) == {}
    # When the one that stood for both goes, the other one takes its place in the same pass.
    stands = Path(library.search("榅桲").hits[0].passage.source)
    stands.unlink()
    synced(library, read=True)
    (hit,) = library.search("榅桲").hits
    assert Path(hit.passage.source).exists()


# --- Crashes -----------------------------------------------------------------------------------------

_SYNC = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], create=False) as library: library.sources.sync(wait=False)
"""


def test_a_pass_that_is_killed_is_ended_by_the_next_one(tmp_path: Path) -> None:
    folder, home = tmp_path / "notes", tmp_path / "library"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number}.txt").write_text(f"number {number}")
    environment = {**os.environ, **KEYWORDS_ONLY}
    with open_library(home, environment=KEYWORDS_ONLY) as library:
        source = library.sources.add(folder)
        kills = 0
        for wanted in (1, 100):
            process = subprocess.Popen([sys.executable, "-c", _SYNC, str(home)], env=environment)
            deadline = time.monotonic() + 60
            while process.poll() is None and library.sources.show(source.id).counts.documents < wanted:
                assert time.monotonic() < deadline
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
            # What was brought in by the killed pass and not noted by it may be gone since.
            for file in sorted(folder.glob("*.txt"))[:20]:
                file.unlink()
        assert kills > 0
        synced(library)
        expected = {str(path) for path in folder.iterdir()}
        assert {view.document.source for view in library.documents.list(limit=10_000)} == expected
        assert library.sources.show(source.id).counts.files == len(expected)
        assert [one for one in library.check() if one.severity != "ok"] == []
