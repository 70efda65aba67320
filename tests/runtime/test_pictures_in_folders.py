"""A folder of photos is no folder of failures: pictures without writing are in, and none is read where that is off."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.parsers.pictures.recognition import is_installed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "holiday"
    made.mkdir()
    Image.new("RGB", (640, 480), (30, 90, 200)).save(made / "sea.png")
    (made / "notes.md").write_text("# Holiday\n\nThe sea was blue.\n", "utf-8")
    return made


def home(tmp_path: Path, server: EmbeddingServer, ocr: str) -> Path:
    made = tmp_path / f"library-{ocr}"
    made.mkdir()
    (made / "wenyuan.toml").write_text(f'{server.settings()}\n[reading]\nocr = "{ocr}"\n', "utf-8")
    return made


@pytest.mark.skipif(not is_installed(), reason="text recognition is not installed")
def test_a_photo_is_ready_with_nothing_to_read(tmp_path: Path, folder: Path, server: EmbeddingServer) -> None:
    with wy.open(home(tmp_path, server, "fast")) as library:
        library.add(folder)
        view = library.documents.show("sea.png")
        assert (view.latest.state, view.latest.problem, view.latest.chunk_count) == ("ready", None, 0)
        assert [notice.code for notice in view.latest.notices] == ["nothing-to-read"]
        assert library.documents.list(doubtful=True) == []
        assert {hit.passage.document_name for hit in library.search("blue sea").hits} == {"notes.md"}
        assert library.check(deep=True) == []


def test_where_recognition_is_off_pictures_are_passed_over(
    tmp_path: Path, folder: Path, server: EmbeddingServer
) -> None:
    with wy.open(home(tmp_path, server, "off")) as library:
        report = library.add(folder)
        assert (len(report.received), dict(report.passed_over)) == (1, {".png": 1})
        library.knowledge_bases.create("followed")
        library.sources.sync(str(folder), kb="followed")
        assert [view.document.name for view in library.documents.list("followed")] == ["notes.md"]
        library.add(folder / "sea.png")
        problem = library.documents.show("sea.png").latest.problem
        assert problem is not None
        assert problem.code == "needs-ocr"


def test_pictures_are_taken_where_a_remote_reader_reads_them(
    tmp_path: Path, folder: Path, server: EmbeddingServer
) -> None:
    path = home(tmp_path, server, "off")
    reader = '[readers.scans]\nkind = "tika"\nbase_url = "http://127.0.0.1:9"\ntypes = ["image/*"]\n'
    with (path / "wenyuan.toml").open("a") as settings:
        settings.write(reader)
    with wy.open(path) as library:
        report = library.add(folder, wait=False)
        assert (len(report.received), dict(report.passed_over)) == (2, {})
