"""What a newer revision replaced is kept for a while, and what a crash left behind not even that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.errors import CitationNotFound
from wenyuan.runtime.library import Library

DAY_MS = 86_400_000


def opened(folder: Path, days: str) -> Library:
    environment = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_RETENTION_SUPERSEDED_DAYS": days}
    return wy.open(folder / "library", environment=environment)


def replaced(library: Library) -> str:
    """Replace a text, and return the citation of what it said before."""
    library.add_text("差旅每天补贴八十元。", "手册")
    cited = library.search("差旅补贴").hits[0].passage.chunk_id
    library.add_text("差旅每天补贴一百元。", "手册")
    return cited


def counts(library: Library) -> list[int]:
    with library._database.read() as tx:
        tables = ("revisions", "chunks", "revision_text", "blobs")
        return [tx.all(f"SELECT count(*) FROM {table}")[0][0] for table in tables]


def test_a_replaced_revision_goes_when_it_was_kept_long_enough(tmp_path: Path) -> None:
    with opened(tmp_path, "30") as library:
        cited = replaced(library)
        library.drain()
        assert "八十" in library.documents.open(cited).passage
        with library._database.write() as tx:
            tx.run(f"UPDATE revisions SET superseded_at = superseded_at - {29 * DAY_MS} WHERE superseded_at > 0")
        assert library.drain() == 0
        assert "八十" in library.documents.open(cited).passage
        with library._database.write() as tx:
            tx.run(f"UPDATE revisions SET superseded_at = superseded_at - {2 * DAY_MS} WHERE superseded_at > 0")
        assert library.drain() == 1
        with pytest.raises(CitationNotFound):
            library.documents.open(cited)
        assert counts(library) == [1, 1, 1, 1]
        assert library.documents.show("手册").latest.state == "ready"
        assert "一百" in library.search("差旅补贴").hits[0].passage.chunk.text
        assert library.check() == []
        assert len(list((library.path / "blobs").glob("??/*"))) == 1


def test_where_nothing_is_kept_it_goes_at_once(tmp_path: Path) -> None:
    with opened(tmp_path, "0") as library:
        cited = replaced(library)
        with pytest.raises(CitationNotFound):
            library.documents.open(cited)
        assert counts(library) == [1, 1, 1, 1]
        assert library.check() == []


def test_a_worker_removes_what_a_crash_left_half_taken_in(tmp_path: Path) -> None:
    with opened(tmp_path, "30") as library:
        left, new = (library.path / "blobs" / "incoming" / name for name in ("left", "new"))
        for path in (left, new):
            path.write_bytes(b"half a file")
        os.utime(left, (0, 0))
        assert [finding.code for finding in library.check()] == ["blob-unfinished"]
        library.drain()
        assert (left.exists(), new.exists()) == (False, True)
        assert library.check() == []
