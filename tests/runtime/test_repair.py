"""`check --repair` loses nothing that is still there, and may be interrupted anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

import wenyuan as wy
from tests.program import run_here
from tests.store.processes import answer, doomed_process, repair_until
from wenyuan.runtime.library import Library

_PLAIN = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "heron.md").write_text("# Herons\n\n苍鹭 PPR-9801 winters at the lake.\n", "utf-8")
    (notes / "crane.md").write_text("# Cranes\n\n鹤 PPR-9802 winters at the river.\n", "utf-8")
    with _open(tmp_path / "library") as library:
        library.add(notes)
    return tmp_path / "library"


def _open(home: Path) -> Library:
    return wy.open(home, environment=_PLAIN)


def _sql(home: Path, statement: str) -> None:
    connection = apsw.Connection(str(home / "wenyuan.db"))
    connection.execute(statement)
    connection.close()


def _blob(library: Library, name: str) -> Path:
    sha256 = library.documents.show(name).latest.blob_sha256
    return library.path / "blobs" / sha256[:2] / sha256[2:]


def _mended(library: Library) -> list[str]:
    repaired = library.repair(deep=True)
    assert (repaired.beyond_repair, repaired.left) == ((), ())
    return sorted({finding.code for finding in repaired.mended})


@pytest.mark.parametrize("is_gone", [True, False])
def test_lost_bytes_are_noted_and_come_back_when_the_file_is_added_again(home: Path, is_gone: bool) -> None:
    with _open(home) as library:
        blob = _blob(library, "heron.md")
        content = blob.read_bytes()
        if is_gone:
            blob.unlink()
        else:
            blob.write_bytes(b"x" + content[1:])
        assert _mended(library) == ["blob-missing" if is_gone else "blob-damaged"]
        view = library.documents.show("heron.md")
        assert [notice.code for notice in view.latest.notices] == ["blob-missing"]
        assert view.searchable
        assert library.search("PPR-9801").hits[0].passage.document_name == "heron.md"
        assert (library.path / "damaged" / view.latest.blob_sha256).exists() is not is_gone
        library.add(home.parent / "notes")
        assert blob.read_bytes() == content
        assert _mended(library) == ["blob-returned"]
        assert library.documents.show("heron.md").latest.notices == ()


def test_what_was_to_be_read_from_lost_bytes_fails_with_the_reason_and_goes_on_when_they_are_back(home: Path) -> None:
    with _open(home) as library:
        library.add_text("unread words", "unread.md", wait=False)
        blob = _blob(library, "unread.md")
        content = blob.read_bytes()
        blob.unlink()
        assert _mended(library) == ["blob-missing"]
        latest = library.documents.show("unread.md").latest
        assert (latest.state, latest.problem and latest.problem.code) == ("failed", "blob-missing")
        blob.write_bytes(content)
        assert _mended(library) == ["blob-returned"]
        assert library.search("unread words").hits[0].passage.document_name == "unread.md"


def test_damaged_text_whose_bytes_are_lost_too_is_not_found_any_more(home: Path) -> None:
    """Words that nobody wrote must not be shown; the reason stands at the document."""
    _sql(home, "UPDATE chunks SET text = replace(text, '苍鹭', '白鹭')")
    with _open(home) as library:
        blob = _blob(library, "heron.md")
        content = blob.read_bytes()
        blob.unlink()
        assert _mended(library) == ["blob-missing", "chunk-hash", "chunk-text", "lexical-wrong"]
        found = {hit.passage.document_name for hit in library.search("PPR-9801 鹭").hits}
        assert "heron.md" not in found
        latest = library.documents.show("heron.md").latest
        assert (latest.state, latest.problem and latest.problem.code) == ("failed", "blob-missing")
        blob.write_bytes(content)
        assert _mended(library) == ["blob-returned"]
        assert "苍鹭" in library.search("PPR-9801").hits[0].passage.chunk.text


def test_a_damaged_older_revision_is_let_go_and_the_newer_one_stays(home: Path) -> None:
    with _open(home) as library:
        old = library.documents.show("heron.md").latest.id
        (home.parent / "notes" / "heron.md").write_text("# Herons\n\n苍鹭 PPR-9801 has left.\n", "utf-8")
        library.add(home.parent / "notes")
        _sql(home, f"UPDATE revision_text SET text = 'x' || text WHERE revision_id = '{old}'")
        assert _mended(library) == ["chunk-text", "text-broken"]
        assert library.documents.show("heron.md").latest.number == 2
        assert "has left" in library.search("PPR-9801").hits[0].passage.chunk.text


def test_repairing_again_finds_nothing_more_to_do(home: Path) -> None:
    _sql(home, "DELETE FROM keys; DELETE FROM document_fields; UPDATE counters SET value = 0 WHERE name = 'chunk'")
    with _open(home) as library:
        assert _mended(library) == ["counter-behind", "fields-missing", "keys-wrong"]
        assert _mended(library) == []
        assert library.search("PPR-9801", arms=("structured",)).hits != ()
        assert library.search("winters", filters={"name": "heron.md"}).hits != ()


@pytest.mark.parametrize("code", ["counter-behind", "fields-missing", "lexical-missing", "chunk-text"])
def test_a_killed_repair_is_done_by_the_next_one(home: Path, code: str) -> None:
    connection = apsw.Connection(str(home / "wenyuan.db"))
    number = connection.execute("SELECT number FROM index_generations WHERE kind = 'lexical'").get
    connection.close()
    _sql(
        home,
        "DELETE FROM document_fields; UPDATE counters SET value = 0 WHERE name = 'chunk'; "
        f"DROP TABLE lexical_{number}_terms; DROP TABLE lexical_{number}; "
        "UPDATE chunks SET text = replace(text, '鹤', '鹭')",
    )
    with doomed_process(repair_until, home, code) as pipe:
        assert answer(pipe) == code
    with _open(home) as library:
        _mended(library)
        assert library.search("鹤 PPR-9802").hits[0].passage.document_name == "crane.md"
        assert library.search("苍鹭", arms=("keyword",)).hits[0].passage.document_name == "heron.md"


def test_a_broken_full_text_index_is_no_damaged_database(home: Path) -> None:
    """What SQLite itself finds wrong in a full-text index can be made again from the passages."""
    connection = apsw.Connection(str(home / "wenyuan.db"))
    number = connection.execute("SELECT number FROM index_generations WHERE kind = 'lexical'").get
    connection.execute(f"DELETE FROM lexical_{number}_data WHERE id > 10")
    connection.close()
    with _open(home) as library:
        assert "lexical-missing" in {finding.code for finding in library.check()}
        _mended(library)
        assert library.search("苍鹭", arms=("keyword",)).hits != ()


def test_a_damaged_database_is_left_alone_and_it_is_said_what_to_do(home: Path) -> None:
    content = bytearray((home / "wenyuan.db").read_bytes())
    for start in range(4096, len(content), 4096):
        if b"heron.md" in content[start : start + 4096]:
            content[start : start + 4096] = b"\xa5" * 4096
    (home / "wenyuan.db").write_bytes(content)
    ended = run_here("--library", home, "--json", "check", "--repair")
    told = json.loads(ended.stdout)
    assert ended.returncode == 6
    assert told["mended"] == []
    assert {finding["code"] for finding in told["beyond_repair"]} == {"database-damaged"}
    assert "restore a backup" in told["beyond_repair"][0]["hint"]
    assert "wenyuan kb export" in told["beyond_repair"][0]["hint"]


def test_the_command_mends_and_says_so(home: Path) -> None:
    _sql(home, "DELETE FROM keys; UPDATE chunks SET text = replace(text, '鹤', '鹭')")
    assert run_here("--library", home, "check").returncode == 6
    mended = run_here("--library", home, "check", "--repair", "--deep")
    assert mended.returncode == 0, mended.stderr
    assert "mended: Chunk 0 of crane.md is not what stands at its place in the text." in mended.stdout
    assert "Everything holds now." in mended.stdout
    assert "资料库" in run_here("--library", home, "check", "--repair", LANG="zh_CN.UTF-8").stdout
    assert "鹤" in run_here("--library", home, "search", "PPR-9802").stdout
