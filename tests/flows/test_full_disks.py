"""A disk that fills up, and many that write at once: nothing is lost, and what can go on goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import wenyuan as wy
from tests.archive_files import written
from tests.embedding_server import EmbeddingServer, serving
from tests.small_disks import disk, fill
from wenyuan.errors import DiskFull
from wenyuan.runtime.library import Library

_PARAGRAPHS = 120


def _library(home: Path, server: EmbeddingServer) -> Library:
    home.mkdir()
    (home / "wenyuan.toml").write_text(server.settings() + "max_batch_texts = 8\n", "utf-8")
    return wy.open(home, environment={"WENYUAN_WORKER_THREADS": "1"})


def _add(library: Library) -> None:
    text = "\n\n".join(f"第{part}段。" + f"第{part}次观测，水位正常。" * 60 for part in range(_PARAGRAPHS))
    library.add_text(text, "水位", wait=False)


@pytest.mark.parametrize("call", [1, 2, 9])
def test_a_disk_that_fills_while_vectors_are_written(tmp_path: Path, call: int) -> None:
    with serving() as server, disk(tmp_path / "disk", megabytes=16) as folder:
        filler = folder / "filler"

        def fill_at_that_call(texts: list[str]) -> None:
            del texts
            if server.calls == call:
                fill(filler)

        with _library(folder / "library", server) as library:
            _add(library)
            library.drain(max_jobs=1)
            server.before_answer = fill_at_that_call
            with pytest.raises(DiskFull):
                library.drain()
            assert library.documents.show("水位").searchable
            hits = library.search("第7次观测", arms=("keyword",)).hits
            assert hits[0].passage.document_name == "水位"
            filler.unlink()
            sent = len(server.inputs)
            library.drain()
            view = library.documents.show("水位")
            assert (view.semantic.state, view.semantic.done) == ("ready", view.semantic.total)
            # What was committed before is not sent again, but for the batches of the transaction that failed.
            assert len(server.inputs) - sent <= view.semantic.total - 8 * (call - 1) + 8
            assert library.check() == []


def test_a_worker_waits_until_there_is_room_again(tmp_path: Path) -> None:
    with serving() as server, disk(tmp_path / "disk", megabytes=16) as folder:
        filler = folder / "filler"
        with _library(folder / "library", server) as library:
            _add(library)
            fill(filler)
            environment = {**os.environ, "WENYUAN_WORKER_LEASE_SECONDS": "0.3", "WENYUAN_WORKER_LOCK_SECONDS": "5"}
            program = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library:\n library.work()"
            worker = subprocess.Popen(
                [sys.executable, "-c", program, str(library.path)],
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                assert worker.stderr is not None
                assert "full" in worker.stderr.readline()
                assert worker.poll() is None
                filler.unlink()
                for event in library.jobs.watch(after=0):
                    if (event.job.kind, event.kind) == ("embed", "done"):
                        break
            finally:
                worker.kill()
                worker.communicate()
            assert library.check() == []


_WRITE = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], create=False) as library:
    for number in range(40):
        library.add_text(f"{sys.argv[2]}号程序第{number}份记录", f"{sys.argv[2]}-{number}", wait=False)
    library.drain()
"""


def test_many_processes_that_write_at_once_wait_for_each_other(tmp_path: Path) -> None:
    environment = {**os.environ, "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
    with wy.open(tmp_path / "library", environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as library:
        writers = [
            subprocess.Popen([sys.executable, "-c", _WRITE, str(library.path), str(number)], env=environment)
            for number in range(4)
        ]
        assert [writer.wait(300) for writer in writers] == [0] * 4
        library.drain()
        assert {view.latest.state for view in library.documents.list(limit=1000)} == {"ready"}
        assert len(library.documents.list(limit=1000)) == 160
        assert library.check() == []


def test_a_disk_that_fills_while_an_archive_is_taken_apart(tmp_path: Path) -> None:
    files = {f"{number}.txt": f"第{number}号湖。" + "鹭在湖边越冬。" * 15_000 for number in range(8)}
    archive = written(tmp_path / "湖.zip", files)
    with serving() as server, disk(tmp_path / "disk", megabytes=64) as folder:
        filler = folder / "filler"
        with _library(folder / "library", server) as library:
            library.knowledge_bases.create("湖", embedding_model="")
            library.add(archive, kb="湖", wait=False)
            fill(filler, leaving=1 << 20)
            library.drain()
            assert library.documents.show("湖.zip").latest.state in ("pending", "processing")
            (job,) = library.jobs.list(only_live=True)
            assert (job.state, job.problem and job.problem.code) == ("waiting", "disk-full")
            filler.unlink()
            with library._database.write() as tx:
                tx.run("UPDATE jobs SET run_after = 0 WHERE state = 'waiting'")
            library.drain()
            states = {view.document.name: view.latest.state for view in library.documents.list("湖")}
            assert set(states.values()) == {"ready"}
            assert len(states) == 1 + len(files)
            assert library.check() == []
