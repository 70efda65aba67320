"""Prompts: the program's own are complete in both languages, a library's are checked before they are used."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import PromptInvalid
from wenyuan.prompts.loading import PLACEHOLDERS, Prompt, PromptLanguage, PromptName, Prompts, parse_prompt

NAMES: tuple[PromptName, ...] = get_args(PromptName)
LANGUAGES: tuple[PromptLanguage, ...] = get_args(PromptLanguage)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_the_programs_own_prompts(name: PromptName, language: PromptLanguage) -> None:
    prompt = Prompts().get(name, language)
    assert (prompt.name, prompt.language, prompt.source) == (name, language, "built-in")
    shown = prompt.render({placeholder: f"<{placeholder}>" for placeholder in PLACEHOLDERS[name]})
    assert all(f"<{placeholder}>" in shown for placeholder in PLACEHOLDERS[name])


@pytest.mark.parametrize("language", ["en", "fr", "other", ""])
def test_every_language_but_chinese_gets_the_english_one(language: str) -> None:
    assert Prompts().get("chat", language).language == "en"


def test_a_prompt_is_known_by_its_words() -> None:
    one, other = Prompts().get("answer-tools", "en"), parse_prompt("answer-tools", "en", "version: 1\n\nAnswer.", "a")
    assert one.identity.startswith("answer-tools.en@1#")
    assert one.identity != other.identity
    assert one.identity == Prompts().get("answer-tools", "en").identity


def test_the_examples_of_actions_in_a_prompt_are_no_placeholders() -> None:
    assert '{"action": "search", "query": ' in Prompts().get("answer-action", "zh").render({"rounds": "3"})


def test_a_line_about_nothing_is_left_out() -> None:
    prompt = Prompt("chat", "en", "1", "Begin.\n{persona}\nFor: {scenario}\nEnd {today}, {persona}.", "a")
    assert prompt.render({"today": "Monday"}) == "Begin.\nEnd Monday, ."


@given(st.text(max_size=60).map(lambda text: text + "{question}{documents}"))
def test_what_is_in_a_value_is_never_a_placeholder(value: str) -> None:
    prompt = Prompt("question", "en", "1", "{documents}|{question}", "a")
    assert prompt.render({"documents": value, "question": "q"}) == f"{value}|q".strip()


def test_a_library_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "chat.zh.txt").write_text("version: shop-2\n\n{persona}\n你好！\n", "utf-8")
    prompts = Prompts(tmp_path)
    assert prompts.get("chat", "zh").render({"persona": "小文"}) == "小文\n你好！"
    assert prompts.get("chat", "zh").version == "shop-2"
    assert prompts.get("chat", "en").source == "built-in"
    prompts.check()


def test_windows_line_ends_and_a_mark_at_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "chat.en.txt").write_bytes(b"\xef\xbb\xbfversion: 1\r\n\r\nHi.\r\nYou.\r\n")
    assert Prompts(tmp_path).get("chat", "en").text == "Hi.\nYou."


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"Hello.", "first line"),
        (b"version: 1\n\nHello {persona} and {person}, {secret}.", "{person}, {secret}"),
        (b"version: 1\n\n   \n", "no text"),
        (b"version: 1\n\n\xff\xfe", "UTF-8"),
        (b"version: 1\n\n" + b"a" * 70_000, "larger"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "chat.en.txt").write_bytes(content)
    with pytest.raises(PromptInvalid) as raised:
        Prompts(tmp_path).get("chat", "en")
    assert complaint in raised.value.message
    assert "chat.en.txt" in raised.value.message


@pytest.mark.parametrize(
    ("name", "missing"), [("question", "documents"), ("rewrite", "history"), ("title", "question")]
)
def test_what_a_prompt_cannot_do_without_is_asked_for(name: PromptName, missing: str) -> None:
    with pytest.raises(PromptInvalid, match=f"{{{missing}}}"):
        parse_prompt(name, "en", "version: 1\n\nSay something.", "a")


def test_a_misspelt_name_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "anwser.en.txt").write_text("version: 1\n\nHi.", "utf-8")
    with pytest.raises(PromptInvalid, match="there is no such prompt"):
        Prompts(tmp_path).check()
