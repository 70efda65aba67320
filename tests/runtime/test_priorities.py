"""A person who waits comes before a bulk import, from the reading of a file to its last vector."""

from __future__ import annotations

from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import serving
from wenyuan.flows.priorities import PRIORITY_EMBED, PRIORITY_EMBED_NOW, PRIORITY_INGEST, PRIORITY_INGEST_NOW


def _files(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{folder.name}-{number:03d}.md").write_text(f"{folder.name}第{number}份记录。", "utf-8")
    return folder


@pytest.mark.parametrize("count", [1, 31])
def test_a_few_files_are_done_before_a_folder_of_many(tmp_path: Path, count: int) -> None:
    with serving() as server:
        home = tmp_path / "library"
        home.mkdir()
        (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
        with wy.open(home, environment={"WENYUAN_WORKER_THREADS": "1"}) as library:
            library.add(_files(tmp_path / "bulk", 40), wait=False)
            library.add(_files(tmp_path / "few", count), wait=False)
            library.drain()
            ended = sorted(library.jobs.list(limit=1000), key=lambda job: job.change_number)
    order = [(job.kind, job.priority) for job in ended]
    few = [("ingest", PRIORITY_INGEST_NOW)] * count
    assert order == [
        *few,
        *[("ingest", PRIORITY_INGEST)] * 40,
        *[("embed", PRIORITY_EMBED_NOW)] * count,
        *[("embed", PRIORITY_EMBED)] * 40,
    ]


def test_a_text_that_is_added_by_itself_is_waited_for(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as library:
        library.add_texts((wy.TextToAdd(f"第{n}份", f"{n}") for n in range(3)), wait=False)
        library.add_text("现在", "now", wait=False)
        assert [job.priority for job in library.jobs.list()] == [PRIORITY_INGEST_NOW, *[PRIORITY_INGEST] * 3]
