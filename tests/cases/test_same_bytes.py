"""The same bytes in different places are different documents, and one of them gone leaves the others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.cases.shelves import SETTINGS, TODAY
from tests.embedding_server import serving
from wenyuan.runtime.library import Library

CONTENTS = {
    "kustomization.yaml": ("resources:\n  - deployment.yaml\n  - service.yaml\n", "deployment.yaml"),
    "制度.md": ("# 考勤制度\n\n迟到三次记旷工半天。\n", "迟到三次"),
    "公告.txt": ("關於食堂停水的公告：週六全天停水。\n", "食堂停水"),
    "policy.md": ("# Leave\n\nUnused leave lapses in March.\n", "unused leave"),
    "table.csv": ("part,price\nflange,12\n", "flange"),
    "data.json": ('{"name": "turbine", "city": "Wuhan"}\n', "turbine Wuhan"),
    "page.html": ("<h1>泵站</h1><p>一号泵大修。</p>\n", "一号泵大修"),
    "script.py": ("def drain_basin(level):\n    return level - 1\n", "drain_basin"),
    "lines.jsonl": ('{"question": "几点开门"}\n{"question": "几点关门"}\n', "几点开门"),
    "config.toml": ('[server]\nlisten_address = "0.0.0.0"\n', "listen_address"),
    "mixed.txt": ("升级redis-cli后3台节点超时\n", "redis-cli节点"),
    "README": ("Run make before you commit.\n", "make commit"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("same")
    with wy.open(folder / "library", environment=SETTINGS, today=lambda: TODAY) as opened:
        yield opened


@pytest.fixture(scope="module")
def places(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three folders with the same files, in one knowledge base."""
    folder = tmp_path_factory.mktemp("places")
    for place in ("a", "b", "c/深"):
        for name, (text, _) in CONTENTS.items():
            path = folder / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    library.add(folder)
    return folder


def sources(library: Library, question: str) -> list[str]:
    """Where each hit comes from, whichever of the same texts is shown."""
    return [hit.passage.source for hit in library.search(question).hits]


@pytest.mark.parametrize("name", CONTENTS)
def test_every_place_is_found_and_what_is_left_when_one_goes(library: Library, places: Path, name: str) -> None:
    question = CONTENTS[name][1]
    paths = [str(places / place / name) for place in ("a", "b", "c/深")]
    left = list(paths)
    for gone in (paths[0], paths[2]):
        assert sources(library, question)[0] in left
        for path in left:
            found = library.search(question, documents=[path]).hits
            assert [hit.passage.source for hit in found] == [path]
        library.documents.delete(gone)
        left.remove(gone)
        found_now = sources(library, question)
        assert found_now[0] in left
        assert gone not in found_now
    library.documents.switch(paths[1], enabled=False)
    assert not {*paths} & {*sources(library, question)}
    library.documents.switch(paths[1], enabled=True)
    assert sources(library, question)[0] == paths[1]


@pytest.mark.usefixtures("places")
def test_all_invariants_hold_after_that(library: Library) -> None:
    library.drain()
    assert library.check() == []


def test_a_file_that_comes_back_is_a_document_again(own_library: Library, tmp_path: Path) -> None:
    a, b = _two(tmp_path, "resources:\n  - deployment.yaml\n", "kustomization.yaml")
    own_library.add(tmp_path / "two")
    again = own_library.add(tmp_path / "two").received
    assert [one.outcome for one in again] == ["unchanged", "unchanged"]
    own_library.documents.delete(str(a))
    own_library.drain()
    assert sources(own_library, "deployment.yaml") == [str(b)]
    assert own_library.add(a).received[0].outcome == "added"
    own_library.documents.delete(str(b))
    assert sources(own_library, "deployment.yaml") == [str(a)]
    assert own_library.check() == []


def test_the_same_bytes_in_two_knowledge_bases_are_apart(own_library: Library, tmp_path: Path) -> None:
    path, _ = _two(tmp_path, "琥珀项目的预算是三十万。", "预算.md")
    for name in ("工程", "财务"):
        own_library.knowledge_bases.create(name, embedding_model="")
        own_library.add(path, kb=name)
    (own,) = own_library.documents.list("工程")
    own_library.documents.delete(own.document.id)
    own_library.drain()
    assert [hit.passage.source for hit in own_library.search("琥珀", kb="财务").hits] == [str(path)]
    assert own_library.search("琥珀", kb="工程").hits == ()
    assert own_library.check() == []


def test_one_of_the_same_that_changes_leaves_the_other_as_it_is(own_library: Library, tmp_path: Path) -> None:
    a, b = _two(tmp_path, "班车早上七点发车。", "班车.md")
    own_library.add(tmp_path / "two")
    a.write_text("班车早上八点发车。", "utf-8")
    assert sorted(str(one.outcome) for one in own_library.add(tmp_path / "two").received) == ["unchanged", "updated"]
    texts = {hit.passage.source: hit.passage.chunk.text for hit in own_library.search("班车发车").hits}
    assert texts == {str(a): "班车早上八点发车。", str(b): "班车早上七点发车。"}


def _two(folder: Path, text: str, name: str) -> tuple[Path, Path]:
    paths = folder / "two" / "a" / name, folder / "two" / "b" / name
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    return paths


def test_the_same_bytes_are_embedded_once_and_the_same_file_not_again(tmp_path: Path) -> None:
    a, b = _two(tmp_path, "琥珀项目的预算是三十万。", "预算.md")
    home = tmp_path / "library"
    home.mkdir()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
        with wy.open(home, environment={"WENYUAN_WORKER_THREADS": "1"}, today=lambda: TODAY) as library:
            library.add(a)
            assert (len(server.inputs), server.calls) == (1, 1)
            library.add(b)
            library.add(tmp_path / "two")
            assert (len(server.inputs), server.calls) == (1, 1)
            library.documents.delete(str(a))
            library.drain()
            found = library.search("预算是多少", arms=("vector",)).hits
            assert [hit.passage.source for hit in found] == [str(b)]
            asked = server.calls
            library.add(a)
            assert server.calls == asked
            assert library.check() == []


SECTIONS = {
    "en": ("# {}\n\nPress the red button and wait for the bell.\n\n", ("Pump one", "Pump two", "Pump three"),
           "red button"),
    "zh": ("## {}\n\n按下红色按钮，等待铃响后松开。\n\n", ("一号泵", "二号泵", "三号泵"), "红色按钮"),
    "zh-hant": ("## {}\n\n按下紅色按鈕，等待鈴響後鬆開。\n\n", ("壹號泵", "貳號泵"), "紅色按鈕"),
    "mixed": ("## {}\n\n运行 `redis-cli ping`，返回 PONG 即正常。\n\n", ("主节点", "Replica"), "redis-cli ping"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SECTIONS)
def test_identical_sections_each_have_their_own_place(own_library: Library, tmp_path: Path, kind: str) -> None:
    section, headings, question = SECTIONS[kind]
    path = tmp_path / "manual.md"
    path.write_text("".join(section.format(heading) for heading in headings), "utf-8")
    own_library.add(path)
    lines = path.read_text("utf-8").split("\n")
    revision = own_library.documents.show("manual.md").latest.id
    chunks = own_library.documents.chunks("manual.md")
    places = [own_library.documents.open(f"{revision}.{chunk.seq}") for chunk in chunks]
    assert [place.heading_path[-1] for place in places] == list(headings)
    assert len({(place.anchor.first, place.anchor.last) for place in places}) == len(headings)
    for place, heading in zip(places, headings, strict=True):
        cited = lines[place.anchor.first - 1 : place.anchor.last]
        assert place.passage.strip().split("\n")[-1] in cited
        assert lines[: place.anchor.last].count(f"# {heading}") + lines[: place.anchor.last].count(f"## {heading}") == 1
    assert own_library.search(question).hits
    for heading in headings:
        hit = own_library.search(f"{heading} {question}").hits[0]
        assert hit.passage.chunk.heading_path[-1] == heading


@pytest.mark.parametrize("way", ["twice", "with its folder", "relative", "with a dot", "with a detour", "folder twice"])
def test_the_same_file_twice_in_one_request_is_one_job(
    own_library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    folder = tmp_path / "notes"
    path = folder / "通知.md"
    folder.mkdir()
    path.write_text("# 通知\n\n周六停电，请提前保存文件。\n", "utf-8")
    monkeypatch.chdir(folder)
    given: dict[str, tuple[Path | str, ...]] = {
        "twice": (path, path),
        "with its folder": (path, folder),
        "relative": (path, "通知.md"),
        "with a dot": (path, f"{folder}/./通知.md"),
        "with a detour": (path, os.path.join(folder, "..", "notes", "通知.md")),
        "folder twice": (folder, folder),
    }
    report = own_library.add(*given[way])
    assert [one.outcome for one in report.received if one.outcome != "unchanged"] == ["added"]
    assert [view.document.source for view in own_library.documents.list()] == [str(path)]
    assert [job.kind for job in own_library.documents.jobs(str(path))] == ["ingest"]
    assert sources(own_library, "周六停电") == [str(path)]
    assert own_library.check() == []
