from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import FileMalformed
from wenyuan.parsers.text.json import JsonParser
from wenyuan.parsers.text.json_lines import JsonLinesParser
from wenyuan.parsers.text.json_values import DEEPEST, JsonProblem, flat_values
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list) and value:
        return [leaf for item in value for leaf in leaves(item)]
    return [value if isinstance(value, str) else json.dumps(value)]


def read(folder: Path, text: str, parser: JsonParser | JsonLinesParser) -> list[ReadEvent]:
    path = folder / "data"
    path.write_text(text)
    return list(parser.read(path, "data"))


@pytest.mark.proves("json", "text")
@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans(), st.integers(1, 30))
def test_every_value_is_found_whatever_the_pieces(
    value: Any, indent: int | str | None, ascii_only: bool, size: int
) -> None:
    source = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    pieces = [source[start : start + size] for start in range(0, len(source), size)]
    found = list(flat_values(pieces))
    assert [item.text for item in found] == leaves(value)
    assert found == list(flat_values([source]))
    lines = source.split("\n")
    for item in found:
        assert json.dumps(item.text, ensure_ascii=ascii_only).strip('"')[:5] in lines[item.line - 1]


@given(st.text(st.sampled_from('{}[]",:\\ 1a.-\n'), max_size=12), st.integers(1, 12))
def test_the_same_documents_are_valid_as_for_the_standard_library(source: str, size: int) -> None:
    try:
        json.loads(source)
        valid = True
    except ValueError:
        valid = False
    try:
        list(flat_values([source[start : start + size] for start in range(0, len(source), size)]))
        accepted = True
    except JsonProblem:
        accepted = False
    assert accepted == valid


@pytest.mark.proves("json", "anchors")
def test_paths_lines_and_records(tmp_path: Path) -> None:
    source = (
        '{\n "name": "\\u4e2d\\u6587 \\ud83d\\ude00",\n "a": {"b": [1.50, {"c": null}], "d": {}},\n "e": "x\\ny"\n}'
    )
    assert read(tmp_path, source, JsonParser()) == [
        Facts("application/json", "utf-8"),
        Block("list", "name: 中文 😀", Anchor("lines", 2, 2)),
        Block("list", "a.b[0]: 1.50\na.b[1].c: null\na.d: {}", Anchor("lines", 3, 3)),
        Block("list", "e: x\ny", Anchor("lines", 4, 4)),
    ]


def test_elements_of_the_outermost_array_are_records(tmp_path: Path) -> None:
    blocks = read(tmp_path, '[\n{"id": 1,\n "t": ["a"]},\n{"id": 2}, 3, []]', JsonParser())[1:]
    assert blocks == [
        Block("list", "id: 1\nt[0]: a", Anchor("lines", 2, 3)),
        Block("list", "id: 2", Anchor("lines", 4, 4)),
        Block("list", "3", Anchor("lines", 4, 4)),
        Block("list", "[]", Anchor("lines", 4, 4)),
    ]


def test_lines_that_are_not_the_files_do_not_look_like_it(tmp_path: Path) -> None:
    """Two values on the first line and none on the second: as many lines, but not the same."""
    blocks = read(tmp_path, '[{"a": 1, "b": 2,\n\n"c": 3}]', JsonParser())[1:]
    assert [(block.text, block.anchor.first) for block in blocks if isinstance(block, Block)] == [
        ("a: 1", 1),
        ("b: 2", 1),
        ("c: 3", 3),
    ]


@pytest.mark.parametrize(
    ("source", "line"),
    [('{"a": 1,}', 1), ('{\n"a": nul}', 2), ("[1,\n\n2", 3), ('["x\ny"]', 1), ("[1]]", 1), ("'a'", 1), ('["\\x"]', 1)],
)
def test_what_is_not_json_is_refused_with_its_line(tmp_path: Path, source: str, line: int) -> None:
    with pytest.raises(FileMalformed, match=f"not valid JSON: line {line}: "):
        read(tmp_path, source, JsonParser())


def test_a_wrong_character_is_found_without_reading_on() -> None:
    def pieces() -> Any:
        yield "[1, }" + " " * 1000
        raise AssertionError("no need to read on")

    with pytest.raises(JsonProblem, match="'}' stands where value was expected"):
        list(flat_values(pieces()))


@pytest.mark.proves("json", "limits")
@pytest.mark.parametrize("source", ["[" * 200_000, '{"a":' * 200_000, "[" * DEEPEST + "[" + "]" * (DEEPEST + 1)])
def test_depth_is_limited(source: str) -> None:
    with pytest.raises(JsonProblem, match="more than 1000 levels"):
        list(flat_values([source]))


def test_depth_within_the_limit_and_long_paths() -> None:
    (value,) = flat_values(['{"long key":' * DEEPEST + "1" + "}" * DEEPEST])
    assert value.path.startswith("…")
    assert value.path.endswith(".long key")
    assert len(value.path) < 300


def test_lone_surrogates_become_replacements() -> None:
    assert [value.text for value in flat_values(['["\\ud800", "\\udc00x"]'])] == ["\ufffd", "\ufffdx"]


def test_bad_lines_are_named_and_the_others_read(tmp_path: Path) -> None:
    source = '{"a": "\\u4e2d"}\nnot json\n\n{"a": 2\n{"a": [3, 4]}\n'
    assert read(tmp_path, source, JsonLinesParser()) == [
        Facts("application/x-ndjson", "utf-8"),
        Block("list", "a: 中", Anchor("lines", 1, 1)),
        Block("list", "a[0]: 3\na[1]: 4", Anchor("lines", 5, 5)),
        Notice("malformed-lines", "2 lines are not valid JSON and left out: 2, 4."),
    ]


def test_many_bad_lines_are_not_all_named(tmp_path: Path) -> None:
    notice = read(tmp_path, "1\n" + "bad\n" * 1000, JsonLinesParser())[-1]
    assert isinstance(notice, Notice)
    assert notice.message.startswith("1000 lines are")
    assert notice.message.endswith("10, 11, ….")


def test_nothing_but_bad_lines_is_not_json_lines(tmp_path: Path) -> None:
    with pytest.raises(FileMalformed, match="JSON Lines: line 1 and all others"):
        read(tmp_path, "bad\nworse\n", JsonLinesParser())
