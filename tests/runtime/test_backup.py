"""A backup is of one moment and whole, or is none; and a library comes out of it again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import wenyuan as wy
from tests.program import run_here
from tests.small_disks import disk, fill
from tests.store.old_libraries import SCHEMAS, unpack
from tests.store.processes import (
    answer,
    back_up_until,
    change_until_told,
    doomed_process,
    other_process,
    restore_until,
)
from wenyuan.errors import (
    BackupBusy,
    BackupInvalid,
    DiskFull,
    FolderNotEmpty,
    LibraryDamaged,
    LibraryNewer,
)
from wenyuan.flows.backup import BackingUp, Copying, back_up
from wenyuan.runtime.library import Library
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.sqlite import SqliteDatabase

_PLAIN = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
_FORMS = ["backup", "backup.tar"]


def _open(home: Path) -> Library:
    return wy.open(home, environment=_PLAIN)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small library with several documents, one of them replaced, settings and a trace."""
    home = tmp_path_factory.mktemp("made") / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text("[search]\ntop_k = 5\n", "utf-8")
    with _open(home) as library:
        for number in range(8):
            library.add_text(f"苍鹭 number {number} winters at lake {number}.", f"heron-{number}.md", wait=False)
        library.drain()
        library.add_text("苍鹭 has left.", "heron-0.md")
        library.search("苍鹭")
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to do with as one likes."""
    return shutil.copytree(made, tmp_path / "library")


def _found(home: Path) -> list[tuple[str, str]]:
    with _open(home) as library:
        assert library.check(deep=True) == []
        hits = library.search("苍鹭 lake", top_k=50).hits
    return [(hit.passage.document_name, hit.passage.chunk.text) for hit in hits]


def _back_up(home: Path, target: Path, *, quick: bool = False) -> None:
    with _open(home) as library:
        report = library.backup(target, quick=quick)
    assert (report.missing, report.findings) == ((), ())


def test_a_job_that_was_being_done_is_nobodys_in_the_copy(home: Path, tmp_path: Path) -> None:
    with _open(home) as library:
        library.add_text("苍鹭 came back.", "return.md", wait=False)
        with library._database.write() as tx:
            assert tx.run(
                "UPDATE jobs SET state = 'running', worker = 'w', lease_until = 1, attempts = 1 WHERE kind = 'ingest' "
                "AND state = 'queued'"
            )
        library.backup(tmp_path / "backup", quick=True)
    wy.restore(tmp_path / "backup", tmp_path / "copy")
    with _open(tmp_path / "copy") as copy:
        assert copy.check() == []
        (job,) = [one for one in copy.jobs.list(only_live=True) if one.kind == "ingest"]
        assert (job.state, job.attempts) == ("queued", 0)
        copy.drain()
        assert copy.search("came back").hits


@pytest.mark.parametrize("form", _FORMS)
def test_what_is_restored_is_what_was_there(home: Path, tmp_path: Path, form: str) -> None:
    seen: list[Copying] = []
    with _open(home) as library:
        made = library.backup(tmp_path / form, watch=seen.append)
        known = library.documents.show("heron-3.md")
        traces = library.traces()
    assert (made.documents, made.files, made.copied_files) == (8, 9, 9)
    assert {one.stage for one in seen} == {"database", "files", "verifying"}
    assert all(0 <= one.done <= one.total for one in seen)
    restored = wy.restore(tmp_path / form, tmp_path / "elsewhere")
    assert (restored.documents, restored.files) == (8, 9)
    with _open(tmp_path / "elsewhere") as library:
        assert library.documents.show("heron-3.md") == known
        assert library.documents.original("heron-0.md") == "苍鹭 has left.".encode()
        assert library.traces() == traces
        assert library.settings.search.top_k == 5
    assert _found(tmp_path / "elsewhere") == _found(home)
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} >= {"wenyuan.db", "traces.db", "blobs"}
    assert not (tmp_path / "elsewhere" / "restoring").exists()


def test_nothing_is_left_beside_a_file(home: Path, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    _back_up(home, tmp_path / "place" / "it.tar")
    _back_up(home, tmp_path / "place" / "it.tar")
    assert [path.name for path in (tmp_path / "place").iterdir()] == ["it.tar"]


def test_only_what_is_new_is_copied_and_what_is_gone_goes(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    _back_up(home, target)
    with _open(home) as library:
        library.add_text("苍鹭 came back.", "heron-9.md")
        library.documents.delete("heron-5.md")
        library.drain()
        second = library.backup(target)
        third = library.backup(target, quick=True)
    assert (second.files, second.copied_files, third.copied_files) == (9, 1, 0)
    assert len(list((target / "moments").iterdir())) == 1
    assert len([path for path in (target / "blobs").rglob("*") if path.is_file()]) == 9
    wy.restore(target, tmp_path / "elsewhere")
    assert _found(tmp_path / "elsewhere") == _found(home)


def test_what_went_bad_in_an_earlier_backup_is_copied_anew(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    _back_up(home, target)
    blob = _some_blob(target)
    content = blob.read_bytes()
    blob.write_bytes(b"x" + content[1:])
    _back_up(home, target, quick=True)
    with pytest.raises(BackupInvalid):
        wy.restore(target, tmp_path / "elsewhere")
    _back_up(home, target)
    assert blob.read_bytes() == content
    wy.restore(target, tmp_path / "elsewhere")


@pytest.mark.parametrize("form", _FORMS)
def test_a_backup_is_of_one_moment_while_others_write(home: Path, tmp_path: Path, form: str) -> None:
    with other_process(change_until_told, home) as changing:
        assert answer(changing) == "changing"
        for number in range(4):
            _back_up(home, tmp_path / form)
            wy.restore(tmp_path / form, tmp_path / f"restored-{number}")
        changing.send("stop")
        assert answer(changing) > 0
    for number in range(4):
        with _open(tmp_path / f"restored-{number}") as library:
            assert [one for one in library.check(deep=True) if one.severity == "error"] == []
            library.drain()
            assert library.check(deep=True) == []
            assert len(library.search("苍鹭", top_k=50).hits) >= 8


# --- Interruptions --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("stage", ["files", "verifying"])
def test_a_killed_backup_is_none_and_harms_neither_the_one_before_nor_the_library(
    home: Path, tmp_path: Path, form: str, stage: str
) -> None:
    target = tmp_path / form
    with doomed_process(back_up_until, home, target, stage) as pipe:
        assert answer(pipe) == stage
    with pytest.raises(BackupInvalid):
        wy.restore(target, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    _back_up(home, target)
    before = _found(home)
    with _open(home) as library:
        library.add_text("苍鹭 came back.", "heron-9.md")
    with doomed_process(back_up_until, home, target, stage) as pipe:
        assert answer(pipe) == stage
    wy.restore(target, tmp_path / "of before")
    assert _found(tmp_path / "of before") == before
    _back_up(home, target)
    wy.restore(target, tmp_path / "of now")
    assert _found(tmp_path / "of now") == _found(home) != before


@pytest.mark.parametrize("form", _FORMS)
def test_a_killed_restoring_leaves_no_library_and_can_be_done_again(home: Path, tmp_path: Path, form: str) -> None:
    _back_up(home, tmp_path / form)
    folder = tmp_path / "elsewhere"
    with doomed_process(restore_until, tmp_path / form, folder) as pipe:
        assert answer(pipe) == "begun"
    assert run_here("--library", folder, "docs", "list").returncode == 6
    wy.restore(tmp_path / form, folder)
    assert _found(folder) == _found(home)


@pytest.mark.parametrize("form", _FORMS)
def test_a_full_disk_is_named_and_what_was_there_stays(home: Path, tmp_path: Path, form: str) -> None:
    with _open(home) as library:
        # Several megabytes that cannot be told apart from noise by size.
        for number in range(3):
            library.add_text(f"苍鹭 {number}\n" + "word " * 150_000, f"long-{number}.txt", wait=False)
    with disk(tmp_path / "disk", 12) as small:
        target = small / form
        fill(small / "filler", leaving=1 << 20)
        with pytest.raises(DiskFull), _open(home) as library:
            library.backup(target)
        with pytest.raises(BackupInvalid):
            wy.restore(target, tmp_path / "nothing")
        (small / "filler").unlink()
        _back_up(home, target)
        fill(small / "filler", leaving=100_000)
        with _open(home) as library:
            library.add_text("苍鹭 more\n" + "words " * 150_000, "more.txt", wait=False)
            with pytest.raises(DiskFull):
                library.backup(target)
            assert [one for one in library.check() if one.severity == "error"] == []
        wy.restore(target, tmp_path / "of before")
        with pytest.raises(DiskFull):
            wy.restore(target, small / "library")
        assert not (small / "library").exists()
    with _open(tmp_path / "of before") as library:
        assert len(library.documents.list()) == 11


def test_two_backups_to_one_place_do_not_mix(home: Path, tmp_path: Path) -> None:
    for form in _FORMS:
        with doomed_process(back_up_until, home, tmp_path / form, "files") as pipe:
            assert answer(pipe) == "files"
            with pytest.raises(BackupBusy), _open(home) as library:
                library.backup(tmp_path / form)
        _back_up(home, tmp_path / form)


# --- What is refused ------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_left_alone(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("dear", "utf-8")
    _back_up(home, tmp_path / "backup")
    with pytest.raises(FolderNotEmpty), _open(home) as library:
        library.backup(other)
    with pytest.raises(FolderNotEmpty):
        wy.restore(tmp_path / "backup", other)
    with pytest.raises(FolderNotEmpty):
        wy.restore(tmp_path / "backup", home)
    assert [path.name for path in other.iterdir()] == ["letter.txt"]
    (tmp_path / "empty").mkdir()
    wy.restore(tmp_path / "backup", tmp_path / "empty")


def _some_blob(folder: Path) -> Path:
    return next(path for path in sorted((folder / "blobs").rglob("*")) if path.is_file() and len(path.name) == 62)


def _change(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a file was changed": lambda backup: _change(_some_blob(backup)),
    "a file is missing": lambda backup: _some_blob(backup).unlink(),
    "the database was changed": lambda backup: _change(next(backup.glob("moments/*/wenyuan.db"))),
    "the database is missing": lambda backup: next(backup.glob("moments/*/wenyuan.db")).unlink(),
    "the sums were changed": lambda backup: _change(next(backup.glob("moments/*/SHA256SUMS"))),
    "the manifest was cut": lambda backup: (backup / "manifest.json").write_bytes(b'{"format": "wenyuan-'),
    "the manifest is another's": lambda backup: (backup / "manifest.json").write_bytes(b'{"format": "photos"}'),
    "the manifest leads elsewhere": lambda backup: _replace(backup / "manifest.json", "moments/", "../moments/"),
    "the manifest is of tomorrow": lambda backup: _replace(backup / "manifest.json", '"version": 1', '"version": 2'),
    "the manifest is gone": lambda backup: (backup / "manifest.json").unlink(),
}


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("what", DAMAGES)
def test_what_is_not_whole_is_not_restored(home: Path, tmp_path: Path, what: str) -> None:
    _back_up(home, tmp_path / "backup")
    DAMAGES[what](tmp_path / "backup")
    with pytest.raises(BackupInvalid):
        wy.restore(tmp_path / "backup", tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("place", [0.001, 0.3, 0.6, 0.9])
def test_a_file_that_was_changed_or_cut_is_not_restored(home: Path, tmp_path: Path, place: float) -> None:
    whole = tmp_path / "backup.tar"
    _back_up(home, whole)
    content = bytearray(whole.read_bytes())
    (tmp_path / "cut.tar").write_bytes(content[: int(len(content) * place)])
    content[int(len(content) * place)] ^= 0x55
    (tmp_path / "changed.tar").write_bytes(content)
    for name in ("cut.tar", "changed.tar", "none.tar"):
        with pytest.raises(BackupInvalid):
            wy.restore(tmp_path / name, tmp_path / "elsewhere")
        assert not (tmp_path / "elsewhere").exists()


def test_a_sum_list_may_lead_nowhere_else(home: Path, tmp_path: Path) -> None:
    """Right hashes do not help a list that names files outside of the backup."""
    import hashlib

    _back_up(home, tmp_path / "backup")
    (sums,) = (tmp_path / "backup").glob("moments/*/SHA256SUMS")
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    line = f"{hashlib.sha256(b'secret').hexdigest()}  ../secret\n"
    sums.write_text(line + sums.read_text("utf-8"), "utf-8")
    manifest = json.loads((tmp_path / "backup" / "manifest.json").read_text("utf-8"))
    manifest["sums"] = hashlib.sha256(sums.read_bytes()).hexdigest()
    (tmp_path / "backup" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(BackupInvalid, match="no part of a backup"):
        wy.restore(tmp_path / "backup", tmp_path / "elsewhere")


@pytest.mark.parametrize("form", _FORMS)
def test_a_backup_of_a_newer_program_is_refused(home: Path, tmp_path: Path, form: str) -> None:
    connection = apsw.Connection(str(home / "wenyuan.db"))
    connection.execute("INSERT INTO schema_migrations VALUES (9999, 'of tomorrow', 'ab', 0)")
    connection.close()
    _back_up_as_it_is(home, tmp_path / form)
    with pytest.raises(LibraryNewer):
        wy.restore(tmp_path / form, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("form", _FORMS)
def test_a_backup_of_an_older_program_is_migrated_when_it_is_opened(tmp_path: Path, schema: str, form: str) -> None:
    old, expected = unpack(schema, tmp_path)
    _back_up_as_it_is(old, tmp_path / form)
    restored = wy.restore(tmp_path / form, tmp_path / "elsewhere")
    assert restored.schema == int(schema.removeprefix("schema-"))
    with wy.open(tmp_path / "elsewhere") as library:
        for question, text in expected["answers"].items():
            assert library.ask(question, kb=["default", "handbook"]).text == text
        library.drain()
        assert library.check() == []


def _back_up_as_it_is(home: Path, target: Path) -> None:
    """As the program did whose library it is: without migrating it."""
    database = SqliteDatabase(home / "wenyuan.db", traces=SqliteDatabase(home / "traces.db"))
    tools = BackingUp(home, database, BlobDirectory(home / "blobs"), "wenyuan 0", 0, True, lambda _: None)
    back_up(tools, target, "moment")
    database.close()


# --- A library that is not whole ------------------------------------------------------------------


@pytest.mark.parametrize("form", _FORMS)
def test_what_the_library_has_lost_is_told_and_all_else_is_kept(home: Path, tmp_path: Path, form: str) -> None:
    lost, changed = [path for path in sorted((home / "blobs").rglob("*")) if len(path.name) == 62][:2]
    lost.unlink()
    _change(changed)
    ended = run_here("--library", home, "--json", "backup", tmp_path / form)
    assert ended.returncode == 6
    told = json.loads(ended.stdout)
    assert told["missing"] == sorted(path.parent.name + path.name for path in (lost, changed))
    wy.restore(tmp_path / form, tmp_path / "elsewhere")
    with _open(tmp_path / "elsewhere") as library:
        assert {one.code for one in library.check()} == {"blob-missing"}
        assert len(library.search("苍鹭", top_k=50).hits) == 8


def test_a_damaged_database_does_not_take_the_place_of_a_good_one(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    _back_up(home, target)
    before = _found(home)
    content = bytearray((home / "wenyuan.db").read_bytes())
    for start in range(4096, len(content), 4096):
        if b"text:heron-3.md" in content[start : start + 4096]:
            content[start : start + 4096] = b"\xa5" * 4096
    (home / "wenyuan.db").write_bytes(content)
    with pytest.raises(LibraryDamaged), _open(home) as library:
        library.backup(target)
    shutil.rmtree(home)
    wy.restore(target, home)
    assert _found(home) == before


# --- The command ----------------------------------------------------------------------------------


def test_the_commands_speak_to_people_and_to_programs(home: Path, tmp_path: Path) -> None:
    told = run_here("--library", home, "backup", tmp_path / "backup")
    assert told.returncode == 0
    assert "Backed up 8 documents with 9 files" in told.stdout
    again = run_here("--library", home, "backup", tmp_path / "backup", LANG="zh_CN.UTF-8")
    assert "已备份 8 个文档" in again.stdout
    restored = run_here("--json", "restore", tmp_path / "backup", "--to", tmp_path / "elsewhere")
    assert json.loads(restored.stdout)["documents"] == 8
    refused = run_here("--json", "restore", tmp_path / "backup", "--to", tmp_path / "elsewhere")
    assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (2, "folder-not-empty")
    assert run_here("--library", tmp_path / "elsewhere", "check", "--deep").returncode == 0
