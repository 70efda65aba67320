"""The bytes of files: once, whole, and never a name without them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.library_builder import LibraryBuilder
from wenyuan.errors import DiskFull, FileTooLarge, FileUnreadable, FileVanished, LibraryReadOnly, WenyuanError
from wenyuan.store import blobs, purging
from wenyuan.store.blobs import BlobDirectory, StagedBlob

_LIMIT = 1 << 20
_MANY_BYTES = bytes(range(256)) * 12_000


def _files(library: LibraryBuilder) -> list[Path]:
    return [path for path in (library.folder / "blobs").rglob("*") if path.is_file()]


def _keep(library: LibraryBuilder, staged: StagedBlob) -> None:
    with library.database.write() as tx:
        library.blobs.keep(tx, [staged])


def _rows(library: LibraryBuilder) -> list[tuple[str, int]]:
    with library.database.read() as tx:
        return [(row[0], row[1]) for row in tx.all("SELECT sha256, size FROM blobs ORDER BY sha256")]


@given(content=st.binary(max_size=300))
def test_bytes_are_kept_as_they_are(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    directory = BlobDirectory(tmp_path_factory.getbasetemp() / "any-bytes")
    (tmp_path_factory.getbasetemp() / "any-bytes").mkdir(exist_ok=True)
    directory.create()
    staged = directory.stage_bytes(content, "any", _LIMIT)
    assert (staged.sha256, staged.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert staged.path.read_bytes() == content
    directory.discard(staged)
    assert list(directory.incoming()) == []


def test_a_file_is_copied_whole_and_named(library: LibraryBuilder, tmp_path: Path) -> None:
    source = tmp_path / "large.bin"
    source.write_bytes(_MANY_BYTES)
    staged = library.blobs.stage(source, len(_MANY_BYTES))
    assert _rows(library) == []
    _keep(library, staged)
    assert _rows(library) == [(hashlib.sha256(_MANY_BYTES).hexdigest(), len(_MANY_BYTES))]
    assert library.blobs.path(staged.sha256).read_bytes() == _MANY_BYTES
    assert list(library.blobs.stored()) == [staged.sha256]
    source.unlink()
    assert library.blobs.path(staged.sha256).read_bytes() == _MANY_BYTES


def test_the_same_bytes_are_stored_once(library: LibraryBuilder) -> None:
    for name in ("a.md", "b.md"):
        _keep(library, library.blobs.stage_bytes(b"the same", name, _LIMIT))
    assert len(_rows(library)) == len(_files(library)) == 1


# --- Files at fault ------------------------------------------------------------------------------


def _vanished(folder: Path) -> Path:
    return folder / "gone.md"


def _folder(folder: Path) -> Path:
    (folder / "folder").mkdir()
    return folder / "folder"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def _dangling(folder: Path) -> Path:
    (folder / "link").symlink_to(folder / "nowhere")
    return folder / "link"


def _long_name(folder: Path) -> Path:
    return folder / ("x" * 300)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (_vanished, FileVanished),
        (_dangling, FileVanished),
        (_folder, FileUnreadable),
        (_pipe, FileUnreadable),
        (_long_name, FileUnreadable),
    ],
)
def test_a_file_that_cannot_be_read_leaves_nothing(
    library: LibraryBuilder, tmp_path: Path, make: Callable[[Path], Path], error: type[WenyuanError]
) -> None:
    with pytest.raises(error):
        library.blobs.stage(make(tmp_path), _LIMIT)
    assert _files(library) == []


@pytest.mark.parametrize("size", [101, len(_MANY_BYTES)])
def test_a_file_over_the_limit_leaves_nothing(library: LibraryBuilder, tmp_path: Path, size: int) -> None:
    source = tmp_path / "large.bin"
    source.write_bytes(_MANY_BYTES[:size])
    with pytest.raises(FileTooLarge, match=r"large\.bin"):
        library.blobs.stage(source, 100)
    with pytest.raises(FileTooLarge):
        library.blobs.stage_bytes(_MANY_BYTES[:size], "large.bin", 100)
    assert _files(library) == []


def test_an_endless_file_is_given_up(library: LibraryBuilder, tmp_path: Path) -> None:
    # It is sparse: it says that it has eight gigabytes, and costs nothing.
    source = tmp_path / "endless"
    with source.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(FileTooLarge):
        library.blobs.stage(source, 4 << 20)
    assert _files(library) == []


# --- A library at fault --------------------------------------------------------------------------


def test_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    directory = BlobDirectory(small_disk)
    directory.create()
    with pytest.raises(DiskFull):
        directory.stage_bytes(_MANY_BYTES, "large.bin", 1 << 30)
    assert list(directory.incoming()) == []
    directory.stage_bytes(b"small", "small.bin", 1 << 30)


def test_a_folder_that_is_gone_is_the_librarys_fault(tmp_path: Path) -> None:
    with pytest.raises(LibraryReadOnly):
        BlobDirectory(tmp_path / "none").stage_bytes(b"x", "x", _LIMIT)


# --- Crashes -------------------------------------------------------------------------------------


def test_a_crash_between_staging_and_keeping_leaves_no_name(library: LibraryBuilder) -> None:
    staged = library.blobs.stage_bytes(b"words", "a.md", _LIMIT)
    assert _rows(library) == []
    assert list(library.blobs.stored()) == []
    assert list(library.blobs.incoming()) == [staged.path]


def test_a_crash_after_moving_leaves_a_file_without_a_name_and_never_the_reverse(library: LibraryBuilder) -> None:
    staged = library.blobs.stage_bytes(b"words", "a.md", _LIMIT)
    with pytest.raises(KeyboardInterrupt), library.database.write() as tx:  # noqa: PT012
        library.blobs.keep(tx, [staged])
        raise KeyboardInterrupt
    assert _rows(library) == []
    with library.database.read() as tx:
        assert blobs.unnamed(tx, list(library.blobs.stored())) == [staged.sha256]
    _keep(library, library.blobs.stage_bytes(b"words", "a.md", _LIMIT))
    with library.database.read() as tx:
        assert blobs.unnamed(tx, list(library.blobs.stored())) == []
    assert library.blobs.path(staged.sha256).read_bytes() == b"words"


def test_no_name_is_written_when_the_file_cannot_be_moved(library: LibraryBuilder) -> None:
    staged = library.blobs.stage_bytes(b"words", "a.md", _LIMIT)
    library.blobs.discard(staged)
    with pytest.raises(LibraryReadOnly), library.database.write() as tx:
        library.blobs.keep(tx, [staged])
    assert _rows(library) == []


# --- Forgetting ----------------------------------------------------------------------------------


def test_bytes_are_forgotten_with_the_last_revision_that_names_them(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    first = library.add(knowledge_base, "/a.md", b"shared")
    second = library.add(knowledge_base, "/b.md", b"shared")
    sha256 = hashlib.sha256(b"shared").hexdigest()
    with library.database.write() as tx:
        assert not library.blobs.forget_unused(tx, sha256)
        assert purging.delete_revision(tx, first.revision_id) == (first.document.id, sha256)
        assert not library.blobs.forget_unused(tx, sha256)
    assert library.blobs.path(sha256).exists()
    with library.database.write() as tx:
        assert purging.delete_revision(tx, second.revision_id) == (second.document.id, sha256)
        assert library.blobs.forget_unused(tx, sha256)
    assert (_rows(library), _files(library)) == ([], [])
    with library.database.write() as tx:
        assert not library.blobs.forget_unused(tx, sha256)


def test_files_that_do_not_belong_are_not_taken_for_stored_ones(library: LibraryBuilder) -> None:
    root = library.folder / "blobs"
    (root / "ab").write_bytes(b"a file where a folder should be")
    (root / "README").write_bytes(b"notes")
    assert list(library.blobs.stored()) == []


def test_only_old_leftovers_are_forgotten(library: LibraryBuilder) -> None:
    old, new = (library.blobs.stage_bytes(content, "x", _LIMIT) for content in (b"old", b"new"))
    os.utime(old.path, (0, 0))
    assert library.blobs.forget_incoming(3600) == 1
    assert list(library.blobs.incoming()) == [new.path]


def test_many_files_are_synced_and_kept_at_once(library: LibraryBuilder) -> None:
    contents = [str(number % 30).encode() for number in range(40)]
    staged = [library.blobs.stage_bytes(content, "x", _LIMIT) for content in contents]
    library.blobs.sync(staged)
    with library.database.write() as tx:
        library.blobs.keep(tx, staged)
    assert {library.blobs.path(one.sha256).read_bytes() for one in staged} == set(contents)
    assert len(_rows(library)) == 30
    assert list(library.blobs.incoming()) == []


def test_what_cannot_be_synced_is_an_error_of_the_library(library: LibraryBuilder) -> None:
    staged = [library.blobs.stage_bytes(content, "x", _LIMIT) for content in (b"1", b"2")]
    staged[1].path.unlink()
    with pytest.raises(LibraryReadOnly):
        library.blobs.sync(staged)
