"""The metadata that a Markdown file may begin with: YAML between `---` lines, TOML between `+++`.

It is data from a stranger: safe types only, no aliases (a few lines of them expand to gigabytes),
and bounds on size and depth.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from wenyuan.parsers.text.lines import LineReader

_MOST_LINES = 1_000
_MOST_CHARACTERS = 65_536
_DEEPEST = 20
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}


class FrontMatter(NamedTuple):
    """What was found: the metadata, or why there is none, and the lines as they stand."""

    metadata: dict[str, Any]
    problem: str
    lines: list[str]


class _SafeLoader(yaml.SafeLoader):
    """YAML's safe types without aliases, dates and times left as they are written."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


_SafeLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def take_front_matter(reader: LineReader) -> FrontMatter | None:
    """Take the front matter off `reader`, if it stands at one; or take nothing and return None."""
    opening = (reader.current or "").rstrip()
    if opening not in _FENCES:
        return None
    taken = [reader.take()]
    size = 0
    while reader.current is not None and len(taken) < _MOST_LINES and size < _MOST_CHARACTERS:
        line = reader.take()
        taken.append(line)
        size += len(line)
        if line.rstrip() in _FENCES[opening]:
            return _parsed(opening, taken)
    reader.put_back(taken)
    return None


def _parsed(opening: str, lines: list[str]) -> FrontMatter:
    source = "\n".join(lines[1:-1])
    try:
        value = tomllib.loads(source) if opening == "+++" else yaml.load(source, _SafeLoader)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        return FrontMatter({}, " ".join(str(error).split())[:200] or type(error).__name__, lines)
    if value is None:
        return FrontMatter({}, "", lines)
    if not isinstance(value, Mapping):
        return FrontMatter({}, "it is not a list of names and values", lines)
    return FrontMatter({str(key): _plain(item, _DEEPEST) for key, item in value.items()}, "", lines)


def _plain(value: Any, depth: int) -> Any:
    """Return `value` as JSON can hold it; what is too deep, or of another type, as its text."""
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if isinstance(value, Mapping) and depth:
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set) and depth:
        return [_plain(item, depth - 1) for item in value]
    return str(value) if depth else "…"
