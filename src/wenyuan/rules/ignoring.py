"""Which files a `.gitignore` means, by the rules of gitignore(5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST_PATTERN = 1000
_ANY_NUMBER = None
"""Stands for `**` among the parts of a pattern."""

_CLASSES = {
    "alnum": "^\\W_",
    "alpha": "^\\W\\d_",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class _InvalidPattern(Exception):
    """A pattern that can match nothing, such as an open bracket that is never closed."""


@dataclass(frozen=True, slots=True)
class _Rule:
    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    folders_only: bool

    def matches(self, path: Sequence[str]) -> bool:
        """Whether the parts of a pattern match the parts of a path, in time proportional to their product."""
        part = name = 0
        resume: tuple[int, int] | None = None
        while name < len(path):
            if part < len(self.parts):
                pattern = self.parts[part]
                if pattern is None:
                    resume = (part + 1, name)
                    part += 1
                    continue
                if pattern.match(path[name]):
                    part, name = part + 1, name + 1
                    continue
            if resume is None:
                return False
            # Only the last `**` needs to take more: what came before it matches as it is.
            resume = (resume[0], resume[1] + 1)
            part, name = resume
        return part == len(self.parts)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one `.gitignore`; of several that match, the last one holds."""

    rules: tuple[_Rule, ...]

    def ignores(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path below the file's folder is ignored; None where no rule speaks of it."""
        parts = path.split("/")
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.matches(parts):
                return not rule.negated
        return None


def ignore_rules(text: str) -> IgnoreRules:
    """Read a `.gitignore`. A line that git could make nothing of is passed over."""
    rules = (_rule(line.removesuffix("\r")) for line in text.removeprefix("\ufeff").split("\n"))
    return IgnoreRules(tuple(rule for rule in rules if rule is not None))


def _rule(line: str) -> _Rule | None:
    pattern = _without_trailing_spaces(line)
    if not pattern or pattern.startswith("#") or len(pattern) > _LONGEST_PATTERN:
        return None
    negated = pattern.startswith("!")
    pattern = pattern[negated:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    try:
        parts = [_ANY_NUMBER if part == "**" and anchored else _compiled(part) for part in pattern.split("/")]
    except _InvalidPattern:
        return None
    if not anchored:
        parts = [_ANY_NUMBER, *parts]
    elif parts[-1] is _ANY_NUMBER:
        # Everything inside of a folder, but not the folder itself.
        parts.append(_compiled("*"))
    return _Rule(tuple(parts), negated, folders_only)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # A backslash keeps the space after it.
    return stripped + " " if backslashes % 2 and len(stripped) < len(line) else stripped


def _compiled(part: str) -> re.Pattern[str]:
    """One part of a pattern as a regular expression that never has to go back over what it matched."""
    pieces: list[str] = [""]
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "[":
            expression, at = _bracket(part, at)
            pieces[-1] += expression
        elif character == "\\":
            if at == len(part):
                raise _InvalidPattern
            pieces[-1] += re.escape(part[at])
            at += 1
        else:
            pieces[-1] += re.escape(character)
    first, *others = pieces
    if not others:
        return re.compile(f"{first}\\Z", re.DOTALL)
    *middle, last = others
    # The first place where a piece between two stars fits is as good as any other.
    between = "".join(f"(?>.*?{piece})" for piece in middle)
    return re.compile(f"{first}{between}.*{last}\\Z", re.DOTALL)


def _bracket(part: str, at: int) -> tuple[str, int]:
    """The set of characters that begins behind a bracket, as a regular expression, and where it ends."""
    negated = part[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    first = True
    while True:
        character = part[at : at + 1]
        if not character:
            raise _InvalidPattern
        if character == "]" and not first:
            return _character_set(members, negated), at + 1
        first = False
        if part.startswith("[:", at):
            name, closed, _ = part[at + 2 :].partition(":]")
            if not closed or name not in _CLASSES:
                raise _InvalidPattern
            members.append(f"[{_CLASSES[name]}]")
            at += len(name) + 4
            continue
        low, at = _member(part, at)
        if part[at : at + 1] == "-" and part[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(part, at + 1)
            if low <= high:
                members.append(f"[{re.escape(low)}-{re.escape(high)}]")
        else:
            members.append(f"[{re.escape(low)}]" if low != "^" else r"\^")


def _member(part: str, at: int) -> tuple[str, int]:
    at += part[at] == "\\"
    if at >= len(part):
        raise _InvalidPattern
    return part[at], at + 1


def _character_set(members: list[str], negated: bool) -> str:
    alternatives = "|".join(members) or "(?!)"
    return f"(?!{alternatives})." if negated else f"(?:{alternatives})"
