"""Prompts are read from files: those of the program, or those that a library has in their place.

A file is called `NAME.LANGUAGE.txt`. Its first line is `version: …`; behind an empty line its text begins, in which
`{persona}` stands for a value. A line whose only placeholder has an empty value is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from wenyuan.errors import PromptInvalid

PromptName = Literal["answer-tools", "answer-action", "question", "rewrite", "title", "compaction", "route", "chat"]
PromptLanguage = Literal["en", "zh"]

PLACEHOLDERS: Mapping[PromptName, frozenset[str]] = {
    "answer-tools": frozenset(("persona", "scenario", "knowledge_bases", "today")),
    "answer-action": frozenset(("persona", "scenario", "knowledge_bases", "today", "rounds")),
    "question": frozenset(("documents", "question", "note")),
    "rewrite": frozenset(("history", "question")),
    "title": frozenset(("question", "answer")),
    "compaction": frozenset(("history", "summary")),
    "route": frozenset(("history", "question", "knowledge_bases")),
    "chat": frozenset(("persona", "scenario", "knowledge_bases", "today")),
}
"""What each prompt may name; `question`, `documents` and `history` must be named where they are listed."""

_REQUIRED = frozenset(("question", "documents", "history"))
_LARGEST_BYTES = 64 * 1024
_placeholder = re.compile(r"\{([a-z_]+)\}")
_version_line = re.compile(r"version:[ \t]*([A-Za-z0-9][A-Za-z0-9._-]{0,39})[ \t]*\n(?:[ \t]*\n)?")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; `source` is the file it was read from, or `built-in`."""

    name: PromptName
    language: PromptLanguage
    version: str
    text: str
    source: str

    @property
    def identity(self) -> str:
        """What a trace says of it: name, language, version and the beginning of the text's SHA-256."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return f"{self.name}.{self.language}@{self.version}#{digest}"

    def render(self, values: Mapping[str, str]) -> str:
        """The text with values in place of the placeholders; what is in a value is never read as one.

        A placeholder without a value is one with an empty value.
        """
        lines = (line for line in self.text.split("\n") if not _is_void(line, values))
        filled = (_placeholder.sub(lambda found: values.get(found[1], ""), line) for line in lines)
        return "\n".join(filled).strip()


class Prompts:
    """The prompts of a library; each file is read when it is first asked for.

    `folder` is where a library may have its own.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._read: dict[tuple[PromptName, PromptLanguage], Prompt] = {}

    def get(self, name: PromptName, language: str) -> Prompt:
        """The prompt for a question in that language, which is the English one for all but `zh`.

        Raises `PromptInvalid` where the library's own file is no such prompt.
        """
        key: tuple[PromptName, PromptLanguage] = (name, "zh" if language == "zh" else "en")
        if key not in self._read:
            self._read[key] = self._own(*key) or _built_in(*key)
        return self._read[key]

    def check(self) -> None:
        """Read them all. Raises `PromptInvalid` for the first that cannot be used, and for a file that is no prompt."""
        for name in PLACEHOLDERS:
            for language in ("en", "zh"):
                self.get(name, language)
        if self._folder is not None and self._folder.is_dir():
            known = {_file_name(name, language) for name, language in self._read}
            for path in sorted(self._folder.glob("*.txt")):
                if path.name not in known:
                    raise PromptInvalid(
                        path=path, reason=f"there is no such prompt; there are {', '.join(sorted(known))}"
                    )

    def _own(self, name: PromptName, language: PromptLanguage) -> Prompt | None:
        if self._folder is None:
            return None
        path = self._folder / _file_name(name, language)
        if not path.is_file():
            return None
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST_BYTES + 1)
        except OSError as error:
            raise PromptInvalid(path=path, reason=error.strerror or "it cannot be read") from error
        if len(content) > _LARGEST_BYTES:
            raise PromptInvalid(path=path, reason=f"it is larger than {_LARGEST_BYTES} bytes")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise PromptInvalid(path=path, reason="it is not UTF-8") from error
        return parse_prompt(name, language, text, str(path))


def parse_prompt(name: PromptName, language: PromptLanguage, content: str, source: str) -> Prompt:
    """Read a prompt's file. Raises `PromptInvalid` for a missing version, and for placeholders it cannot have."""
    content = content.replace("\r\n", "\n")
    first = _version_line.match(content)
    if first is None:
        raise PromptInvalid(path=source, reason="its first line is not `version: …`")
    text = content[first.end() :].strip("\n")
    named, known = set(_placeholder.findall(text)), PLACEHOLDERS[name]
    if unknown := sorted(named - known):
        names = ", ".join(f"{{{one}}}" for one in unknown)
        raise PromptInvalid(path=source, reason=f"it names {names}; there are {', '.join(sorted(known))}")
    if missing := sorted((known & _REQUIRED) - named):
        raise PromptInvalid(path=source, reason=f"{', '.join(f'{{{one}}}' for one in missing)} is missing in it")
    if not text.strip():
        raise PromptInvalid(path=source, reason="it has no text")
    return Prompt(name, language, first[1], text, source)


def _built_in(name: PromptName, language: PromptLanguage) -> Prompt:
    file = resources.files("wenyuan.prompts") / _file_name(name, language)
    return parse_prompt(name, language, file.read_text("utf-8"), "built-in")


def _file_name(name: PromptName, language: PromptLanguage) -> str:
    return f"{name}.{language}.txt"


def _is_void(line: str, values: Mapping[str, str]) -> bool:
    """Whether a line names values, and every one of them is empty."""
    named = _placeholder.findall(line)
    return bool(named) and not any(values.get(one, "").strip() for one in named)
