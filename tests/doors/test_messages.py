"""Every sentence exists in both languages, says the same things, and is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from wenyuan import errors
from wenyuan.doors.cli.errors_zh import TRANSLATIONS, in_chinese
from wenyuan.doors.cli.messages import CATALOGUE, Messages
from wenyuan.types import Problem

DOOR = Path(__file__).resolve().parents[2] / "src" / "wenyuan" / "doors" / "cli"


def placeholders(template: str) -> set[str]:
    """Names a template asks for, without those that only make a plural's ending."""
    return {name for _, name, form, _ in Formatter().parse(template) if name is not None and form != "s"}


@pytest.mark.parametrize("key", CATALOGUE)
def test_a_message_says_the_same_in_both_languages(key: str) -> None:
    english, chinese = CATALOGUE[key]
    assert english.strip()
    assert chinese.strip()
    counted = {name for _, name, form, _ in Formatter().parse(english) if name is not None and form == "s"}
    assert placeholders(english) <= placeholders(chinese) <= placeholders(english) | counted


def said() -> Iterator[str]:
    """What every `say(...)` in the door is called with, as a pattern where it is put together, and keys handed on."""
    for file in DOOR.glob("*.py"):
        if file.name.startswith("messages"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "say":
                yield from literal(node.args[0])
            elif isinstance(node, ast.Constant) and node.value in CATALOGUE:
                yield str(node.value)


def literal(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from literal(node.body)
        yield from literal(node.orelse)


def test_what_is_said_is_in_the_catalogue_and_nothing_else_is() -> None:
    patterns = set(said())
    plain = {pattern for pattern in patterns if "*" not in pattern}
    openings = tuple(pattern.partition("*")[0] for pattern in patterns if "*" in pattern)
    assert all(openings), "a key is put together from its first letter on, so that nobody can find it"
    assert sorted(plain - CATALOGUE.keys()) == []
    assert sorted(key for key in CATALOGUE if key not in plain and not key.startswith(openings)) == []


@pytest.mark.parametrize(
    ("environment", "chinese"),
    [
        ({}, False),
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "C.UTF-8"}, False),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, True),
        ({"LANG": "zh_CN.UTF-8", "WENYUAN_LANG": "en"}, False),
        ({"LANG": "C", "WENYUAN_LANG": "zh"}, True),
    ],
)
def test_the_language_is_chosen_by_the_environment(environment: dict[str, str], chinese: bool) -> None:
    assert Messages.of_environment(environment).chinese is chinese


def test_a_plural_ends_as_its_number_says() -> None:
    say = Messages(chinese=False)
    assert say("add.failed", n=1) == "1 file failed:"
    assert say("add.failed", n=2) == "2 files failed:"


# --- Errors --------------------------------------------------------------------------------------


def family(kind: type[errors.WenyuanError]) -> Iterator[type[errors.WenyuanError]]:
    if "code" in vars(kind):
        yield kind
    for child in kind.__subclasses__():
        yield from family(child)


KINDS = [kind for kind in family(errors.WenyuanError) if kind.__module__ == "wenyuan.errors"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_every_error_speaks_chinese(kind: type[errors.WenyuanError]) -> None:
    assert kind.code in TRANSLATIONS, f"{kind.__name__} has no Chinese words in errors_zh.py"
    sentence, hint = TRANSLATIONS[kind.code]
    assert placeholders(sentence) == placeholders(kind.sentence)
    assert placeholders(hint) == placeholders(kind.hint)
    assert sentence.endswith("。")
    assert hint.endswith("。")


def test_nothing_is_translated_that_is_not_raised() -> None:
    assert sorted(set(TRANSLATIONS) - {kind.code for kind in KINDS}) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_a_stored_problem_is_retold_with_all_it_told(kind: type[errors.WenyuanError]) -> None:
    names = placeholders(kind.sentence) | placeholders(kind.hint)
    told = kind(**{name: f"«{name} {{value}}»" for name in names}).problem("reading", 2)
    chinese = in_chinese(told)
    sentence, hint = TRANSLATIONS[kind.code]
    assert (chinese.code, chinese.stage, chinese.attempt) == (told.code, "reading", 2)
    assert chinese.message != told.message
    assert all(f"«{name} {{value}}»" in chinese.message for name in placeholders(sentence))
    assert all(f"«{name} {{value}}»" in chinese.hint for name in placeholders(hint))


@pytest.mark.parametrize(
    "problem", [Problem("usage", "No such option.", ""), Problem("file-empty", "Another text", "")]
)
def test_words_that_are_not_of_the_error_are_left_alone(problem: Problem) -> None:
    assert in_chinese(problem) == problem


def test_a_sentence_keeps_its_quotes() -> None:
    problem = errors.KnowledgeBaseNotFound(name="周会").problem()
    assert in_chinese(problem).message == "没有名为 '周会' 的知识库。"
