"""Remote readers through the real worker: which files they get, and what becomes of those while a service fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdfium2
import pytest

import wenyuan as wy
from tests.program import run_here
from tests.reader_server import ReaderServer, reading_server, status
from tests.waiting import until
from tests.web_server import Answer, WebServer
from wenyuan.errors import WorkerStopping
from wenyuan.flows.prepared import Prepared
from wenyuan.flows.stage import StagedFile, stage_early
from wenyuan.providers.readers.settings import READER_KINDS
from wenyuan.runtime.documents import DocumentView
from wenyuan.runtime.library import Library
from wenyuan.store.database import Writing
from wenyuan.types import ChunkingConfig

_HEAD = '[defaults]\nembedding_model = ""\n[worker]\nthreads = 1\n'
_DEADLINE_SECONDS = 30.0
_WORK = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], create=False) as library:
    library.work()
"""

Opened = Callable[..., Library]


@pytest.fixture
def server() -> Iterator[ReaderServer]:
    with reading_server() as serving:
        yield serving


@pytest.fixture
def opened(tmp_path: Path, server: ReaderServer) -> Iterator[Opened]:
    """Opens the library with the server as a reader of some kind; again with other settings, if called again."""
    libraries: list[Library] = []

    def opening(kind: str = "unstructured", more: str = "", types: str = '["application/pdf"]') -> Library:
        for library in libraries:
            library.close()
        home = tmp_path / "library"
        home.mkdir(exist_ok=True)
        (home / "wenyuan.toml").write_text(_HEAD + server.settings(kind, more, types), "utf-8")
        libraries.append(wy.open(home))
        return libraries[-1]

    yield opening
    for library in libraries:
        library.close()


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """A PDF of two empty pages."""
    document = pypdfium2.PdfDocument.new()
    document.new_page(600, 800)
    document.new_page(600, 800)
    path = tmp_path / "scan.pdf"
    document.save(path)
    return path


def only(library: Library) -> DocumentView:
    (view,) = library.documents.list()
    return view


def text_of(library: Library) -> str:
    return "\n".join(chunk.text for chunk in library.documents.chunks(only(library).document.id))


def left_behind(library: Library) -> list[str]:
    return [path.name for path in (library.path / "blobs" / "incoming").iterdir()]


def draining(library: Library) -> threading.Thread:
    thread = threading.Thread(target=library.drain)
    thread.start()
    return thread


# --- Which reader reads what ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", READER_KINDS)
def test_a_file_is_found_by_what_the_service_read_in_it(kind: str, opened: Opened, scan: Path) -> None:
    library = opened(kind)
    library.add(scan)
    view = only(library)
    assert (view.latest.state, view.latest.media_type) == ("ready", "application/pdf")
    assert view.latest.quality["reader"] == f"scans ({kind})"
    assert view.latest.quality["pages"] == 2
    (hit,) = library.search("which gate is at level 41?").hits
    assert hit.passage.document_name == "scan.pdf"
    assert hit.passage.chunk.anchor.kind == "page"
    assert left_behind(library) == []
    assert library.check(deep=True) == []


def test_files_of_other_types_never_leave_the_machine(opened: Opened, server: ReaderServer, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Note\n\nnothing for others", "utf-8")
    library = opened()
    library.add(note)
    assert only(library).latest.state == "ready"
    assert "reader" not in only(library).latest.quality
    assert server.requests == []


def test_the_content_decides_and_not_the_name(opened: Opened, server: ReaderServer, scan: Path) -> None:
    library = opened()
    library.add(scan.rename(scan.with_suffix(".dat")))
    assert only(library).latest.quality["reader"] == "scans (unstructured)"
    assert len(server.requests) == 1


def test_a_file_of_no_known_type_fails_as_it_would_without_a_remote_reader(
    opened: Opened, server: ReaderServer, tmp_path: Path
) -> None:
    noise = tmp_path / "noise.pdf"
    noise.write_bytes(bytes(range(256)) * 64)
    library = opened(types='["*/*"]')
    library.add(noise)
    problem = only(library).latest.problem
    assert problem is not None
    assert problem.code == "file-binary"
    assert server.requests == []


def test_a_rebuild_asks_the_service_again(opened: Opened, server: ReaderServer, scan: Path) -> None:
    library = opened()
    library.add(scan)
    server.results = {"POST /general/v0/general": json.dumps([{"type": "Title", "text": "Read better"}]).encode()}
    library.rebuilds.begin("default", chunking=ChunkingConfig(400))
    library.drain()
    assert len(server.requests) == 2
    assert text_of(library) == "Read better"
    assert library.check(deep=True) == []


def test_a_page_that_claims_to_be_an_answer_is_not_taken_for_one(opened: Opened, server: ReaderServer) -> None:
    library = opened()
    with WebServer().running() as web:
        body = json.dumps(["/etc/hostname", "application/pdf", "x"]).encode() + b"\n[]"
        kind = "application/vnd.wenyuan.converted.unstructured"
        web.pages["/claim"] = Answer(body, headers={"Content-Type": kind})
        library.add(web.url("/claim"), allow_private=True)
    states = [(view.latest.state, view.latest.problem) for view in library.documents.list()]
    assert all(state != "ready" for state, _ in states)
    assert server.requests == []


# --- Failures -------------------------------------------------------------------------------------


def test_a_service_that_is_down_is_waited_for(opened: Opened, server: ReaderServer, scan: Path, tmp_path: Path) -> None:
    server.faults = [status(503, b'{"detail": "starting"}')] * 1000
    note = tmp_path / "note.md"
    note.write_text("Other work goes on.", "utf-8")
    library = opened()
    library.add(scan, note)
    views = {view.document.name: view for view in library.documents.list()}
    assert views["note.md"].latest.state == "ready"
    waiting = views["scan.pdf"]
    assert waiting.latest.state in ("pending", "processing")
    (job,) = library.documents.jobs(waiting.document.id)
    assert job.state == "waiting"
    assert job.problem is not None
    assert job.problem.code == "provider-unavailable"
    assert "starting" in job.problem.message
    server.faults = []
    until(lambda: bool(library.drain()) and library.documents.show(waiting.document.id).latest.state == "ready")


def test_a_service_that_asks_for_patience_gets_it(opened: Opened, server: ReaderServer, scan: Path) -> None:
    server.faults = [status(429, b"", {"Retry-After": "0.3"})] * 3
    library = opened()
    library.add(scan)
    assert only(library).latest.state == "ready"
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("kind", "answer", "code"),
    [
        ("tika", status(422), "reader-refused"),
        ("mineru", status(409, b'{"message": "Task execution failed", "error": "bad page"}'), "reader-refused"),
        ("unstructured", status(200, b'[{"type"'), "reader-answer-invalid"),
        ("unstructured", status(200, b"[]"), "no-text"),
        ("unstructured", status(401, b'{"detail": "who are you?"}'), "provider-refused"),
    ],
)
def test_a_file_that_is_refused_fails_with_the_reason_and_can_be_retried(
    kind: str, answer: Callable[..., None], code: str, opened: Opened, server: ReaderServer, scan: Path
) -> None:
    server.faults = [answer]
    library = opened(kind)
    library.add(scan)
    view = only(library)
    assert view.latest.state == "failed"
    assert view.latest.problem is not None
    assert view.latest.problem.code == code
    assert left_behind(library) == []
    library.documents.retry(view.document.id)
    library.drain()
    assert only(library).latest.state == "ready"


def test_nothing_falls_back_unless_that_is_configured(opened: Opened, server: ReaderServer, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><p>read by whom?</p></body></html>", "utf-8")
    server.faults = [status(422)]
    library = opened("tika", types='["text/html"]')
    library.add(page)
    assert only(library).latest.state == "failed"


@pytest.mark.parametrize(
    "fault", [status(422), status(503), status(401), status(200, b"{}"), lambda exchange: exchange.cut(200, b"[")]
)
def test_a_fallback_is_told_by_name(
    fault: Callable[..., None], opened: Opened, server: ReaderServer, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><p>read here after all</p></body></html>", "utf-8")
    server.faults = [fault]
    library = opened("unstructured", 'fallback = "local"', '["text/*"]')
    library.add(page)
    latest = only(library).latest
    assert (latest.state, text_of(library)) == ("ready", "read here after all")
    (notice,) = latest.notices
    assert notice.code == "remote-reader-failed"
    assert "scans (unstructured)" in notice.message
    assert "reader" not in latest.quality


# --- Stopping -------------------------------------------------------------------------------------


def test_a_cancelled_document_is_let_go_of_while_the_service_is_silent(
    opened: Opened, server: ReaderServer, scan: Path
) -> None:
    server.faults = [lambda exchange: exchange.hang()]
    library = opened(more="")
    library.add(scan, wait=False)
    worker = draining(library)
    assert server.arrived.wait(_DEADLINE_SECONDS)
    library.documents.cancel(only(library).document.id)
    worker.join(_DEADLINE_SECONDS)
    assert not worker.is_alive()
    assert only(library).latest.state == "cancelled"
    assert left_behind(library) == []


def test_a_worker_that_is_stopped_hands_the_job_back(opened: Opened, server: ReaderServer, scan: Path) -> None:
    server.faults = [lambda exchange: exchange.hang()]
    library = opened()
    library.add(scan, wait=False)
    worker = draining(library)
    assert server.arrived.wait(_DEADLINE_SECONDS)
    library.stop_working()
    worker.join(_DEADLINE_SECONDS)
    assert not worker.is_alive()
    (job,) = library.documents.jobs(only(library).document.id)
    assert job.state == "queued"
    library.drain()
    assert only(library).latest.state == "ready"


def test_a_worker_that_is_killed_leaves_the_work_to_the_next(opened: Opened, server: ReaderServer, scan: Path) -> None:
    server.faults = [lambda exchange: exchange.hang()]
    library = opened()
    library.add(scan, wait=False)
    worker = subprocess.Popen([sys.executable, "-c", _WORK, str(library.path)])
    try:
        assert server.arrived.wait(_DEADLINE_SECONDS)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    library.drain()
    assert only(library).latest.state == "ready"
    assert library.check(deep=True) == []


def test_what_was_staged_of_another_answer_is_not_continued(
    opened: Opened, server: ReaderServer, scan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(word: str) -> bytes:
        texts = (f"{word} {number} {'…' * 400}" for number in range(1100))
        return json.dumps([{"type": "NarrativeText", "text": text} for text in texts]).encode()

    staged: list[int] = []

    def interrupted(tx: Writing, file: StagedFile, batch: Prepared) -> None:
        staged.append(1)
        if len(staged) == 2:
            server.results = {"POST /general/v0/general": answer("a rather longer second")}
            raise WorkerStopping
        stage_early(tx, file, batch)

    monkeypatch.setattr("wenyuan.flows.ingest.stage_early", interrupted)
    server.results = {"POST /general/v0/general": answer("first")}
    library = opened()
    library.add(scan)
    assert only(library).latest.state == "ready"
    assert len(server.requests) == 2
    passages = library.documents.chunks(only(library).document.id, 0, 10_000)
    assert len(passages) == 1100
    assert all(passage.text.startswith(f"a rather longer second {passage.seq} ") for passage in passages)
    assert library.check(deep=True) == []


# --- Keys -----------------------------------------------------------------------------------------


def test_the_key_is_sent_and_neither_stored_nor_told_to_the_child(
    opened: Opened, server: ReaderServer, scan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCANS_KEY", "sesame-4711")
    server.faults = [status(400, b"sesame-4711 is wrong")]
    library = opened(more='key = "env:SCANS_KEY"')
    library.add(scan)
    assert server.requests[0].headers["unstructured-api-key"] == "sesame-4711"
    library.documents.retry(only(library).document.id)
    library.drain()
    assert only(library).latest.state == "ready"
    library.close()
    stored = [path for path in library.path.rglob("*") if path.is_file()]
    assert not [path for path in stored if b"sesame-4711" in path.read_bytes()]


def test_a_key_that_is_missing_fails_the_document(opened: Opened, server: ReaderServer, scan: Path) -> None:
    library = opened(more='key = "env:NO_SUCH_KEY_4711"')
    library.add(scan)
    problem = only(library).latest.problem
    assert problem is not None
    assert problem.code == "key-missing"
    assert server.requests == []


# --- What people see ------------------------------------------------------------------------------


def test_a_preview_asks_the_same_reader(opened: Opened, server: ReaderServer, scan: Path) -> None:
    library = opened()
    shown = library.preview(scan)
    assert (shown.facts.media_type, shown.facts.quality["reader"]) == ("application/pdf", "scans (unstructured)")
    assert shown.blocks["table"] == 2
    assert len(server.requests) == 1
    assert left_behind(library) == []


def test_a_preview_tells_of_a_fallback(opened: Opened, server: ReaderServer, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><p>read here after all</p></body></html>", "utf-8")
    server.faults = [status(422)]
    shown = opened("tika", 'fallback = "local"', '["text/html"]').preview(page)
    assert [notice.code for notice in shown.notices] == ["remote-reader-failed"]
    assert shown.facts.media_type == "text/html"


def test_the_doctor_tells_of_remote_readers_and_calls_none(opened: Opened, server: ReaderServer) -> None:
    (finding,) = (one for one in opened().doctor() if one.code == "remote-reader")
    assert "scans is unstructured at" in finding.message
    assert "for application/pdf" in finding.message
    assert server.requests == []


def test_the_command_line_says_who_read_a_file(opened: Opened, server: ReaderServer, scan: Path) -> None:
    library = opened()
    library.close()

    def said(*arguments: str, language: str = "en") -> str:
        done = run_here("--library", library.path, *arguments, WENYUAN_LANG=language, COLUMNS="300")
        return done.stdout + done.stderr

    said("add", str(scan))
    assert "by the remote reader scans (unstructured)" in said("docs", "show", "scan.pdf")
    assert "由远程阅读器 scans (unstructured) 转换" in said("docs", "show", "scan.pdf", language="zh")
    server.faults = [status(422, b'{"detail": "too blurred"}')] * 2
    said("kb", "create", "other")
    refused = said("add", "--kb", "other", str(scan))
    assert "too blurred" in refused
    assert "reader-refused" in refused
