"""File names: what in a question may be the name of a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.folding import fold
from wenyuan.language.questions.file_names import file_names


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what is in docker-compose.yml?", "docker-compose.yml"),
        ("docker-compose.yml里有哪些服务", "docker-compose.yml"),
        ("config.prod.toml 的端口", "config.prod.toml"),
        ("release-notes-0.1.0.md 里说了什么", "release-notes-0.1.0.md"),
        ("体检通知.txt 里写了什么", "体检通知.txt"),
        ("體檢通知.txt裡寫了什麼", "体检通知.txt"),
        ("打開體檢通知.txt", "体检通知.txt"),
        ("请帮我看一下体检通知.txt", "体检通知.txt"),
        ("在体检通知.txt里找", "体检通知.txt"),
        ("“体检通知.txt”", "体检通知.txt"),
        ("docs/体检通知.txt", "体检通知.txt"),
        ("季度报告_Q1.md 的内容", "季度报告_q1.md"),
        ("报销制度（2025版）.md 有效吗", "报销制度(2025版).md"),
        ("比较体检通知.txt和报销制度.docx", "体检通知.txt"),
        ("比较体检通知.txt和报销制度.docx", "报销制度.docx"),
        ("请假制度.docx", "请假制度.docx"),
        ("Résumé.pdf", "resume.pdf"),
    ],
)
def test_a_file_is_named_in_a_sentence(question: str, name: str) -> None:
    assert name in file_names(fold(question))


@pytest.mark.parametrize("question", ["打开请假制度.docx", "请假制度.docx"])
def test_a_word_is_not_cut_to_make_a_name(question: str) -> None:
    assert "假制度.docx" not in file_names(fold(question))


@pytest.mark.parametrize(
    "question", ["圆周率 3.14", "体检通知。txt", "句号. 然后", "os.path.commonpath", "体检.第二章", ".md"]
)
def test_what_has_no_extension_is_no_file(question: str) -> None:
    assert [*file_names(fold(question))] == []


@given(st.text(st.sampled_from("打开体检a.txt md和-_ /"), max_size=60))
def test_names_stand_in_the_question(question: str) -> None:
    for name in file_names(question):
        assert name in question
