"""A folder of files made to hurt, and good ones beside them: every good one is ready, every other says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

import wenyuan as wy
from tests.hostile_files import HOSTILE

GOOD = 50
ENVIRONMENT = {
    "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "",
    "WENYUAN_LIMITS_PARSE_SECONDS": "10",
    "WENYUAN_WORKER_THREADS": "2",
}
# What is in these can be read, however odd they are, and the word by which they are found.
READABLE = {
    "far-cell.xlsx": "far",
    "deep.html": "deep",
    "deep.xml": "deep",
    "deep.json": "deep",
    "deep.docx": "deep",
    "deep.rtf": "deep",
    "attributes.html": "text",
    "line.txt": "the end of the line",
    "laughs.xml": "laugh",
    "nested.eml": "level",
    "matryoshka.zip": "zip",
}
REFUSALS = {
    *("file-malformed", "file-over-limit", "no-text", "needs-ocr", "parser-memory", "parser-output-too-large"),
    *("parser-crashed", "parser-timeout", "file-too-large"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder")
    for name, make in HOSTILE.items():
        make(folder / name)
    for number in range(GOOD):
        (folder / f"good-{number:02d}.md").write_text(f"# 第 {number} 号\n\n第{number}号泵每两年检修一次。", "utf-8")
    return folder


def test_every_good_file_is_ready_and_every_other_says_why_not(folder: Path, tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=ENVIRONMENT) as library:
        library.add(folder)
        views = {view.document.source: view for view in library.documents.list()}
        states = {Path(source).name: view.latest for source, view in views.items() if "!" not in source}
        for number in range(GOOD):
            assert states[f"good-{number:02d}.md"].state == "ready"
        for name in HOSTILE:
            revision = states[name]
            if revision.state == "ready":
                assert name in READABLE, f"{name} was read as if it were good"
                found = library.search(READABLE[name], documents=[views[str(folder / name)].document.id]).hits
                assert found, f"{name} is not found"
            else:
                assert revision.state == "failed", name
                assert revision.problem is not None
                assert revision.problem.code in REFUSALS, f"{name}: {revision.problem}"
        assert "root:" not in "".join(hit.passage.chunk.text for hit in library.search("root x 0", top_k=50).hits)
        assert library.check(deep=True) == []
    assert not Path("/tmp/wenyuan-was-here.txt").exists()
