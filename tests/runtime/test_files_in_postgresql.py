"""A library whose files are in the database too: machines share nothing but that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.object_server import object_server
from tests.postgres_server import empty_database, library_database
from tests.program import run_here
from wenyuan.errors import InvalidValue
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig

_PLAIN = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
_PAGE = "<html><head><title>苍鹭</title></head><body><p>苍鹭 at post PPR-9803</p></body></html>"


@pytest.fixture
def address() -> Iterator[str]:
    with library_database() as address:
        yield address


def _machine(address: str, home: Path) -> Library:
    return wy.open(address, blobs="database", home=home, environment=_PLAIN)


def _sound(library: Library) -> bool:
    return [one for one in library.check(deep=True) if one.severity != "ok"] == []


def test_one_machine_adds_and_another_reads(address: str, tmp_path: Path) -> None:
    (tmp_path / "heron.html").write_text(_PAGE, "utf-8")
    with _machine(address, tmp_path / "one") as one, _machine(address, tmp_path / "other") as other:
        one.add(tmp_path / "heron.html", wait=False)
        one.add_text("翠鸟 by the stream", "kingfisher.md", wait=False)
        other.drain()
        assert other.search("PPR-9803").hits[0].passage.document_name == "heron.html"
        assert one.documents.original("heron.html") == _PAGE.encode()
        assert other.contents.original(other.documents.find("heron.html")).path.read_bytes() == _PAGE.encode()
        assert other.chunk_previews.preview("heron.html", ChunkingConfig(400, 0)).chunk_count == 1
        assert _sound(one)
        # An archive and a backup have the files in them, and a backup goes on where it goes.
        other.knowledge_bases.export("default", tmp_path / "out.tar")
        made = one.backup(tmp_path / "backup")
        assert (made.files, made.missing) == (2, ())
        assert one.backup(tmp_path / "backup").copied_files == 0
        one.documents.delete("heron.html")
        one.drain()
        other.drain()
        assert _sound(other)
        with other._database.read() as tx:
            assert tx.all("SELECT count(*) FROM blob_pieces") == [(1,)]
    wy.restore(tmp_path / "backup", tmp_path / "folder")
    with wy.open(tmp_path / "folder", environment=_PLAIN) as library:
        assert library.documents.original("heron.html") == _PAGE.encode()
        assert _sound(library)
    with empty_database() as again:
        wy.restore(tmp_path / "backup", again, blobs="database", home=tmp_path / "home")
        with _machine(again, tmp_path / "third") as library:
            library.knowledge_bases.import_(tmp_path / "out.tar", name="brought")
            library.drain()
            (hit,) = library.search("PPR-9803", kb="brought").hits
            assert library.documents.original(hit.passage.document_id) == _PAGE.encode()
            assert _sound(library)


def test_files_in_a_bucket(address: str, tmp_path: Path) -> None:
    (tmp_path / "heron.html").write_text(_PAGE, "utf-8")
    with object_server() as bucket:
        with (
            wy.open(address, blobs=bucket, home=tmp_path / "one", environment=_PLAIN) as one,
            wy.open(address, blobs=f"{bucket}/", home=tmp_path / "other", environment=_PLAIN) as other,
        ):
            one.add(tmp_path / "heron.html", wait=False)
            one.add_text("翠鸟 by the stream", "kingfisher.md", wait=False)
            other.drain()
            assert other.documents.original("heron.html") == _PAGE.encode()
            assert one.backup(tmp_path / "backup").missing == ()
            one.documents.delete("heron.html")
            one.drain()
            assert _sound(other)
        with empty_database() as again:
            wy.restore(tmp_path / "backup", again, blobs=bucket, home=tmp_path / "home")
            with wy.open(again, blobs=bucket, home=tmp_path / "third", environment=_PLAIN) as library:
                assert library.documents.original("heron.html") == _PAGE.encode()
                assert _sound(library)


def test_bytes_that_are_lost_are_told_of_and_come_back(address: str, tmp_path: Path) -> None:
    with _machine(address, tmp_path / "one") as one, _machine(address, tmp_path / "other") as other:
        one.add_text("苍鹭 one", "one.md")
        with one._database.write() as tx:
            tx.run("DELETE FROM blob_pieces")
        assert "blob-missing" in [finding.code for finding in other.check()]
        other.repair()
        one.add_text("苍鹭 one", "one.md")
        other.repair()
        assert _sound(one)
        assert other.documents.original("one.md") == "苍鹭 one".encode()


def test_files_are_where_they_were_put(address: str, tmp_path: Path) -> None:
    with wy.open(address, blobs=tmp_path / "files", environment=_PLAIN) as library:
        library.add_text("苍鹭 one", "one.md")
    with pytest.raises(InvalidValue, match="has them in a folder"):
        _machine(address, tmp_path / "one")
    with library_database() as other:
        _machine(other, tmp_path / "one").close()
        with pytest.raises(InvalidValue, match="has them in 'database'"):
            wy.open(other, blobs=tmp_path / "files", environment=_PLAIN)
        with pytest.raises(InvalidValue, match="folder"):
            wy.open(other, blobs="ftp://host/path", environment=_PLAIN)


def test_a_library_from_before_that_was_remembered_has_its_files_in_a_folder(address: str, tmp_path: Path) -> None:
    with wy.open(address, blobs=tmp_path / "files", environment=_PLAIN) as library:
        library.add_text("苍鹭 one", "one.md")
        with library._database.write() as tx:
            tx.run("DELETE FROM blob_storage")
    with pytest.raises(InvalidValue, match="has them in a folder"):
        _machine(address, tmp_path / "one")
    wy.open(address, blobs=tmp_path / "files", environment=_PLAIN).close()


def test_the_program_has_its_files_in_the_database(address: str, tmp_path: Path) -> None:
    (tmp_path / "heron.html").write_text(_PAGE, "utf-8")
    one, other = (
        {**_PLAIN, "WENYUAN_BLOBS": "database", "WENYUAN_HOME": str(tmp_path / name)} for name in ("one", "other")
    )
    assert run_here("--library", address, "add", tmp_path / "heron.html", "--no-wait", **one).returncode == 0
    assert run_here("--library", address, "worker", "--drain", **other).returncode == 0
    assert "PPR-9803" in run_here("--library", address, "search", "PPR-9803", **one).stdout
    told = run_here("--library", address, "doctor", **other).stdout
    assert str(tmp_path / "other") in told
