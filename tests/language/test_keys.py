"""Keys: what of a document can be looked up rather than guessed."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.keys import document_keys, slug
from wenyuan.language.postings import read_chunk
from wenyuan.language.questions.reading import read_question
from wenyuan.types import Anchor, Chunk, Key, KeyKind, KeySource

NOW = datetime.date(2026, 4, 20)


def chunk(text: str, *headings: str, seq: int = 0, context: str = "") -> Chunk:
    return Chunk(seq, text, 0, len(text), Anchor("lines", 1, 1), headings, context)


def keys_of(name: str, title: str, metadata: Mapping[str, object], chunks: Sequence[Chunk]) -> tuple[Key, ...]:
    """The keys of a document and of its chunks."""
    of_chunks = (key for one in chunks for key in read_chunk(name, one)[1])
    return (*document_keys(name, title, metadata), *of_chunks)


def found(keys: tuple[Key, ...], kind: KeyKind) -> set[tuple[str, KeySource, int | None]]:
    return {(key.value, key.source, key.seq) for key in keys if key.kind == kind}


def test_every_source_is_told() -> None:
    keys = keys_of(
        "2026-04-14 release v1.2.3.md",
        "PPR-9087 说明",
        {"date": "2026-04-15", "version": 2.5, "tags": ["2020-01-01"], "title": "Pump Manual"},
        [chunk("于2026年4月16日 修复 CVE-2023-0464", "发布 1.2.4", seq=7)],
    )
    assert found(keys, "date") == {
        ("2026-04-14", "filename", None),
        ("2026-04-15", "metadata", None),
        ("2026-04-16", "body", 7),
    }
    assert found(keys, "version") == {
        ("1.2.3", "filename", None),
        ("2.5", "metadata", None),
        ("1.2.4", "heading", 7),
    }
    assert found(keys, "code") == {("ppr9087", "title", None), ("cve2023-0464", "body", 7)}
    assert found(keys, "name") == {
        ("2026-04-14-release-v1-2-3-md", "filename", None),
        ("2026-04-14-release-v1-2-3", "filename", None),
        ("ppr-9087-说明", "title", None),
        ("pump-manual", "metadata", None),
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime.date(2026, 4, 14), {"2026-04-14"}),
        (datetime.datetime(2026, 4, 14, 10, 30), {"2026-04-14"}),
        ("Tue, 14 Apr 2026 10:00:00 +0800", {"2026-04-14"}),
        ("2026-04-14T10:00:00Z", {"2026-04-14"}),
        (20260414, {"2026-04-14"}),
        (2026, {"2026"}),
        (["2026-04-14", datetime.date(2026, 4, 15)], {"2026-04-14", "2026-04-15"}),
        ({"nested": "2026-04-14"}, set()),
        (None, set()),
        (True, set()),
    ],
)
@pytest.mark.parametrize("field", ["date", "Sent", "dcterms:modified", "发布日期"])
def test_dates_in_metadata(field: str, value: object, expected: set[str]) -> None:
    keys = keys_of("", "", {field: value}, ())
    assert {key.value for key in keys} == expected
    assert {key.source for key in keys} <= {"metadata"}


def test_a_number_in_the_body_is_no_version_but_one_in_a_heading_is() -> None:
    keys = keys_of("", "", {}, [chunk("It grew by 3.11 percent.", "Python 3.12")])
    assert found(keys, "version") == {("3.12", "heading", 0)}


def test_ranges_months_years_and_open_days_have_iso_values_and_bounds() -> None:
    keys = keys_of("", "", {}, [chunk("2026年4月3日到5日，2027年2月，1998年，四月十四号")])
    bounds = {
        key.value: (
            str(datetime.date.fromordinal(key.first_day)),
            str(datetime.date.fromordinal(key.last_day)),
        )
        for key in keys
    }
    assert bounds == {
        "2026-04-03/2026-04-05": ("2026-04-03", "2026-04-05"),
        "2027-02": ("2027-02-01", "2027-02-28"),
        "1998": ("1998-01-01", "1998-12-31"),
        "--04-14": ("0004-04-14", "0004-04-14"),
    }


@pytest.mark.parametrize("document", ["2026-03-08", "三月八日", "3月8号", "二〇二六年三月八日"])
@pytest.mark.parametrize("question", ["2026-03-08", "三月八日", "3月8号", "二〇二六年三月八日"])
def test_any_question_for_a_day_overlaps_any_key_for_it(question: str, document: str) -> None:
    keys = keys_of(f"{document}.md", "", {}, ())
    asked = read_question(question, NOW).dates
    assert any(
        key.first_day <= date.last_day and date.first_day <= key.last_day
        for key in keys
        if key.kind == "date"
        for date in asked
    )


def test_the_context_of_a_chunk_is_read_with_it() -> None:
    keys = keys_of("", "", {}, [chunk("| 14 |", context="PPR-9087 于2026年4月")])
    assert {key.value for key in keys} == {"ppr9087", "2026-04"}


def test_the_keys_of_one_chunk_are_capped_and_unique() -> None:
    text = " ".join(f"PPR-{n}" for n in range(1000, 2000)) * 2
    keys = keys_of("", "", {}, [chunk(text), chunk("PPR-1 v1.2.3", seq=1)])
    assert len([key for key in keys if key.seq == 0]) == 128
    assert len(set(keys)) == len(keys)
    assert found(keys, "version") == {("1.2.3", "body", 1)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Release Notes (v2).md", "release-notes-v2-md"),
        ("會議紀要 2026.docx", "会议纪要-2026-docx"),
        ("__init__.py", "init-py"),
        ("…", ""),
        ("", ""),
    ],
)
def test_slugs(text: str, value: str) -> None:
    assert slug(text) == value


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=10), st.text(max_size=20), max_size=3))
def test_no_name_or_metadata_is_refused(text: str, metadata: dict[str, str]) -> None:
    for key in keys_of(text, text, {"date": text, **metadata}, [chunk(text, text)]):
        assert key.value
        assert key.first_day <= key.last_day
