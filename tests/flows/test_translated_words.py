"""Of passages that are equally near in meaning, the one that says the question in the other language comes first."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import wenyuan as wy
from tests.embedding_server import DIMENSIONS, serving
from wenyuan.runtime.library import Library

TEXTS = {
    "新增.txt": "新增目录，并设置权限。",
    "删除.txt": "删除文件之前先备份。",
    "重命名.txt": "重命名用户的主目录。",
    "create.txt": "Creates directories and sets permissions.",
    "delete.txt": "Deletes files after a backup.",
    "rename.txt": "Renames the home directory of a user.",
}


def _all_alike(texts: list[str]) -> tuple[int, dict[str, str], bytes]:
    data = [{"object": "embedding", "index": number, "embedding": [1.0] * DIMENSIONS} for number, _ in enumerate(texts)]
    return 200, {"Content-Type": "application/json"}, json.dumps({"object": "list", "data": data}).encode()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("library")
    with serving() as server:
        server.before_answer = _all_alike
        (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
        with wy.open(home, environment={}) as made:
            for name, text in TEXTS.items():
                language = "en" if name.isascii() else "zh"
                made.add_text(text, name, metadata={"language": language}, wait=False)
            made.drain()
            yield made


def _names(library: Library, question: str, language: str) -> list[str]:
    hits = library.search(question, filters={"language": language}).hits
    return [hit.passage.document_name for hit in hits]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How to delete a file?", "删除.txt"),
        ("create a new directory", "新增.txt"),
        ("rename a home directory", "重命名.txt"),
        ("怎么删除文件？", "delete.txt"),
        ("建立目錄並設定權限", "create.txt"),
        ("如何重命名用户", "rename.txt"),
    ],
)
def test_what_says_the_question_comes_first(library: Library, question: str, first: str) -> None:
    language = "en" if first.isascii() else "zh"
    assert _names(library, question, language)[0] == first


def test_beside_a_passage_in_its_own_language_it_comes_second(library: Library) -> None:
    hits = library.search("delete files after a backup").hits
    assert [hit.passage.document_name for hit in hits][:2] == ["delete.txt", "删除.txt"]


def test_around_a_name_words_tell_nothing(library: Library) -> None:
    scores = {hit.score for hit in library.search("delete 在 os.deletex 里", filters={"language": "zh"}).hits}
    assert len(scores) == 1
