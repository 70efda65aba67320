"""The password of a file opens it, now and whenever it is read again, and is found nowhere else."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.archive_files import PASSWORD, locked_zip, written
from wenyuan.errors import InvalidValue, PasswordWrong
from wenyuan.parsers.wire import Request
from wenyuan.runtime.library import Library


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    path = tmp_path / "locked.zip"
    path.write_bytes(locked_zip())
    return path


def code(library: Library) -> str | None:
    problem = library.documents.show("locked.zip").latest.problem
    return problem.code if problem is not None else None


def passwords(library: Library) -> list[str]:
    with library._database.read() as tx:
        return [str(row[0]) for row in tx.all("SELECT password FROM file_passwords")]


def test_a_locked_file_says_so_and_a_password_opens_it(library: Library, locked: Path) -> None:
    library.add(locked)
    assert code(library) == "file-encrypted"
    library.documents.retry("locked.zip", password="something else")
    library.drain()
    assert code(library) == "password-wrong"
    library.documents.retry("locked.zip", password=PASSWORD)
    library.drain()
    assert code(library) is None
    assert next(hit.passage.document_name for hit in library.search("琥珀项目 密钥").hits) == "locked.zip › secret.md"


def test_it_is_given_when_the_file_is_added_and_kept_for_the_next_reading(library: Library, locked: Path) -> None:
    library.add(locked, password=PASSWORD)
    assert code(library) is None
    library.rebuilds.begin("default", rereads=True)
    library.drain()
    assert [one.code for one in library.documents.show("locked.zip").latest.notices] == []
    assert library.check() == []


def test_it_opens_what_is_attached_to_a_session(library: Library, locked: Path) -> None:
    session = library.sessions.create().id
    library.sessions.attach(session, locked, password=PASSWORD)
    library.drain()
    assert {one.name for one in library.sessions.attachments(session)} == {"locked.zip", "locked.zip › secret.md"}
    assert all(one.is_usable for one in library.sessions.attachments(session))


def test_adding_the_file_again_with_its_password_is_a_retry(library: Library, locked: Path) -> None:
    library.add(locked)
    assert [one.outcome for one in library.add(locked, password=PASSWORD).received] == ["retried"]
    assert code(library) is None


def test_what_lies_in_a_file_is_opened_by_its_password_too(library: Library, tmp_path: Path) -> None:
    outer = written(tmp_path / "outer.zip", {"inner/locked.zip": locked_zip()})
    library.add(outer, password=PASSWORD)
    assert "outer.zip › inner/locked.zip › secret.md" in {one.document.name for one in library.documents.list()}


def test_it_is_for_files_named_one_by_one(library: Library, locked: Path) -> None:
    with pytest.raises(InvalidValue):
        library.add(locked.parent, password=PASSWORD)


def test_it_goes_with_the_document(library: Library, locked: Path) -> None:
    library.add(locked, password=PASSWORD)
    assert passwords(library) == [PASSWORD]
    library.documents.delete("locked.zip")
    assert passwords(library) == []


def test_it_stands_in_nothing_that_is_shown_exported_or_traced(
    library: Library, locked: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    library.add(locked, password=f"wrong {PASSWORD}")
    library.documents.retry("locked.zip", password=PASSWORD)
    library.drain()
    library.search("密钥")
    view = library.documents.show("locked.zip")
    told = [view, library.documents.jobs("locked.zip"), library.traces(), library.jobs.list(), caplog.text]
    assert PASSWORD not in repr(told)
    assert PASSWORD not in repr((Request("/a", "a", password=PASSWORD), PasswordWrong(name="a").details))
    library.knowledge_bases.export("default", tmp_path / "all.wenyuan")
    assert PASSWORD.encode() not in (tmp_path / "all.wenyuan").read_bytes()
    library.knowledge_bases.import_(tmp_path / "all.wenyuan", name="again")
    assert passwords(library) == [PASSWORD]


def test_a_backup_has_it_and_says_so(library: Library, locked: Path, tmp_path: Path) -> None:
    library.add(locked, password=PASSWORD)
    assert library.backup(tmp_path / "backup.tar").passwords == 1
    with tarfile.open(tmp_path / "backup.tar") as backup:
        assert any(member.name.endswith("wenyuan.db") for member in backup.getmembers())


def test_a_preview_opens_a_locked_file_too(library: Library, locked: Path) -> None:
    assert library.preview(locked, password=PASSWORD).members == ("secret.md",)
    with pytest.raises(PasswordWrong):
        library.preview(locked, password="no")
