"""Every file format gives the same cases, and a mistake in a file is named with its line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import EvaluationSetInvalid, FileUnreadable, PathNotFound
from wenyuan.flows.evaluate.sets import read_corpus, read_removal, read_set
from wenyuan.rules.evaluation.cases import Case, EvaluationSet, Expected
from wenyuan.rules.evaluation.trec import judgement_lines, read_judgements, run_lines
from wenyuan.rules.evaluation.yaml_sets import read_yaml_set
from wenyuan.types import Anchor

SET = """# What people ask us most.
name: company folder
knowledge_bases: [handbook]
cases:
  - id: meeting
    query: 2026-04-14
    expect: 会议/周会.md   # a plain date stays as it is typed
    tags: [dates, zh]
    filters: {year: 2026, draft: false, author: "12"}
  - query: "What is new in 1.0.10?"
    expect:
      - document: releases/1.0.10.md
        lines: 3-7
        grade: 2
      - {document: v1.0.10, text: 苍鹭 H2}
      - chunk: rev_1.12
      - {document: deck.pptx, slide: 4, part: 附录}
    within: 3
    knowledge_bases: releases
    language: en
    note: changed in May
  - query: 大提琴的琴弦多久换一次？
    expect: nothing
"""
CASES = (
    Case(
        "meeting",
        "2026-04-14",
        (Expected("会议/周会.md"),),
        {"year": 2026, "draft": False, "author": "12"},
        ("dates", "zh"),
        knowledge_bases=("handbook",),
    ),
    Case(
        "f5b7e9a1",
        "What is new in 1.0.10?",
        (
            Expected("releases/1.0.10.md", anchor=Anchor("lines", 3, 7), grade=2),
            Expected("v1.0.10", text="苍鹭 H2"),
            Expected(chunk="rev_1.12"),
            Expected("deck.pptx", anchor=Anchor("slide", 4, 4, "附录")),
        ),
        language="en",
        knowledge_bases=("releases",),
        within=3,
    ),
    Case("", "大提琴的琴弦多久换一次？", knowledge_bases=("handbook",)),
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def but_for_ids(cases: tuple[Case, ...]) -> list[Case]:
    """The cases with the ids they were given and no others."""
    return [case if case.id == "meeting" else dataclasses.replace(case, id="") for case in cases]


def test_a_yaml_set_says_what_is_asked_and_expected(tmp_path: Path) -> None:
    found = read_set(written(tmp_path, "set.yaml", SET))
    assert found.name == "company folder"
    assert but_for_ids(found.cases) == but_for_ids(CASES)
    assert len({case.id for case in found.cases}) == 3


def test_a_list_of_cases_alone_is_a_set_named_after_its_file(tmp_path: Path) -> None:
    found = read_set(written(tmp_path, "quick.yml", "- query: a\n  expect: b.md\n"))
    assert found == EvaluationSet("quick", (Case(found.cases[0].id, "a", (Expected("b.md"),)),))


def test_json_lines_hold_the_same_cases(tmp_path: Path) -> None:
    rows = [
        {
            "id": "meeting",
            "query": "2026-04-14",
            "expect": "会议/周会.md",
            "tags": ["dates", "zh"],
            "filters": {"year": 2026, "draft": False, "author": "12"},
            "knowledge_bases": ["handbook"],
        },
        {
            "query": "What is new in 1.0.10?",
            "expect": [
                {"document": "releases/1.0.10.md", "lines": "3-7", "grade": 2},
                {"document": "v1.0.10", "text": "苍鹭 H2"},
                {"chunk": "rev_1.12"},
                {"document": "deck.pptx", "slide": 4, "part": "附录"},
            ],
            "within": 3,
            "knowledge_bases": "releases",
            "language": "en",
        },
        {"query": "大提琴的琴弦多久换一次？", "expect": "nothing", "knowledge_bases": ["handbook"]},
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in rows)
    found = read_set(written(tmp_path, "set.jsonl", text))
    assert but_for_ids(found.cases) == but_for_ids(CASES)
    assert found.cases == read_set(written(tmp_path, "set.yaml", SET)).cases


def test_a_case_without_an_id_is_known_by_its_question(tmp_path: Path) -> None:
    one = read_set(written(tmp_path, "a.yaml", "- {query: a, expect: b.md}\n- {query: c, expect: d.md}\n"))
    other = read_set(written(tmp_path, "b.yaml", "- {query: c, expect: e.md}\n- {query: a, expect: b.md}\n"))
    assert {case.query: case.id for case in one.cases} == {case.query: case.id for case in other.cases}
    assert one.cases[0].digest == other.cases[1].digest
    assert one.cases[1].digest != other.cases[0].digest


MISTAKES = [
    ("- query: a\n  expct: b.md\n", 2, "'expct' is not a field"),
    ("- query: a\n", 1, "no `expect`"),
    ("cases:\n- expect: b.md\n", 2, "`query`"),
    ("- query: ''\n  expect: b.md\n", 1, "`query`"),
    ("- query: a\n  expect:\n", 2, "`expect` must be a text"),
    ("- query: a\n  expect: []\n", 2, "is empty"),
    ("- query: a\n  expect: [b.md, nothing]\n", 2, "stands alone"),
    ("- query: a\n  expect: [b.md, b.md]\n", 2, "expected twice"),
    ("- query: a\n  expect: {lines: 3}\n", 2, "must name a `document` or a `chunk`"),
    ("- query: a\n  expect: {document: b, page: 0}\n", 2, "number from 1"),
    ("- query: a\n  expect: {document: b, lines: 7-3}\n", 2, "ends before it begins"),
    ("- query: a\n  expect: {document: b, lines: 3, page: 1}\n", 2, "a place is one of"),
    ("- query: a\n  expect: {document: b, grade: 0}\n", 2, "from 1 to"),
    ("- query: a\n  expect: {document: b, grade: 1.5}\n", 2, "whole one"),
    ("- query: a\n  expect: {document: b, colour: red}\n", 2, "'colour'"),
    ("- query: a\n  expect: b\n  within: 0\n", 3, "`within`"),
    ("- query: a\n  expect: b\n  tags: [x, [y]]\n", 3, "`tags`"),
    ("- query: a\n  expect: b\n  filters: [x]\n", 3, "`filters`"),
    ("- query: a\n  query: b\n  expect: c\n", 2, "twice"),
    ("- {query: a, expect: b}\n- {query: a, expect: c}\n", 2, "stands on line 1 already"),
    ("- {id: x, query: a, expect: b}\n-\n  id: x\n  query: c\n  expect: d\n", 3, "'x' stands on line 1"),
    ("- just a text\n", 1, "must have a `query`"),
    ("cases: 3\n", 1, "must be a list"),
    ("cases: []\n", 1, "no cases"),
    ("questions:\n- a\n", 2, "'questions' is not a field"),
    ("", 1, "a set is a list of cases"),
    ("- query: [a\n", 2, "not YAML"),
    ("- query: a\n  expect: b\n---\n- query: c\n", 3, "not YAML"),
    ("- query: \x00\n", 1, "not YAML"),
    ("- query: a\n  expect: &d {document: b}\n- query: c\n  expect: *d\n", 2, "alias"),
    ("&a [*a]", 1, "must have a `query`"),
    ("- query: a\n  expect: " + "[" * 20_000, 2, ""),
]


@pytest.mark.parametrize(("text", "line", "reason"), MISTAKES)
def test_a_mistake_in_yaml_is_named_with_its_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = written(tmp_path, "set.yaml", text)
    with pytest.raises(EvaluationSetInvalid) as caught:
        read_set(path)
    assert caught.value.details["path"] == str(path)
    assert caught.value.details["line"] == line
    assert reason in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"query": "a", "expect": "b"}\n{"query": \n', 2, "not JSON"),
        ("[1]\n", 1, "no JSON object"),
        ('{"query": 7, "expect": "b"}', 1, "`query`"),
        ('{"query": "a", "expect": 7}', 1, "`expect`"),
        ('{"query": "a", "expect": {"document": "b", "grade": true}}', 1, "`expect`"),
        ("[" * 100_000, 1, "not JSON"),
        ("\n\n", 1, "no cases"),
    ],
)
def test_a_mistake_in_json_lines_is_named_with_its_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(EvaluationSetInvalid) as caught:
        read_set(written(tmp_path, "set.jsonl", text))
    assert (caught.value.details["line"], reason in caught.value.message) == (line, True), caught.value.message


@given(st.text(alphabet="-: \n[]{}&*'\"#|>!?%@`ab01\t,", max_size=60))
def test_any_text_is_a_set_or_a_coded_error(text: str) -> None:
    found: int
    try:
        found = len(read_yaml_set(text, "x.yaml", "x").cases)
    except EvaluationSetInvalid as error:
        found = error.details["line"]
    assert found >= 1


# YAML has more line breaks than Python's text files, and folds them.
ONE_LINE = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029")
SIMPLE = st.text(ONE_LINE, min_size=1, max_size=30).map(str.strip).filter(lambda text: text and text != "nothing")


@given(st.lists(st.fixed_dictionaries({"query": SIMPLE, "expect": SIMPLE}), min_size=1, max_size=5, unique_by=str))
def test_what_a_yaml_writer_writes_is_read_back(rows: list[dict[str, str]]) -> None:
    numbered = [{"id": f"case {number}", **row} for number, row in enumerate(rows)]
    printable = yaml.safe_dump(numbered, allow_unicode=True)
    cases = read_yaml_set(printable, "x.yaml", "x").cases
    assert [(case.query, case.expected[0].document) for case in cases] == [
        (row["query"], row["expect"]) for row in rows
    ]


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(PathNotFound):
        read_set(tmp_path / "absent.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"- query: a\n  expect: caf\xe9\n")
    with pytest.raises(EvaluationSetInvalid, match="line 2: it is not UTF-8"):
        read_set(tmp_path / "latin.yaml")
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "a", "expect": "b"}\n\xe9\n')
    with pytest.raises(EvaluationSetInvalid, match="it is not UTF-8"):
        read_set(tmp_path / "latin.jsonl")
    with pytest.raises(PathNotFound):
        read_set(tmp_path)
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(PathNotFound):
        read_set(tmp_path / "folder.yaml")
    with pytest.raises(EvaluationSetInvalid, match="--qrels"):
        read_set(written(tmp_path, "topics.tsv", "1\ta\n"))
    (tmp_path / "qrels.d").mkdir()
    with pytest.raises(FileUnreadable):
        read_set(tmp_path / "topics.tsv", tmp_path / "qrels.d")


# --- TREC ----------------------------------------------------------------------------------------

TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations.
</top>

<top>
<num> Number: 302
<title> Topic: 脊髓灰质炎
</top>
"""
QRELS = "301 0 FBIS3-10082 1\n301 0 FBIS3-10169 0\n302 0 FR940126 2\n303 0 x 1\n304 0 y -2\n"


@pytest.mark.parametrize("topics", [TOPICS, "301\tInternational Organized Crime\n302\t脊髓灰质炎\n304\tno judgement\n"])
def test_trec_topics_go_with_their_judgements(tmp_path: Path, topics: str) -> None:
    found = read_set(written(tmp_path, "robust.topics", topics), written(tmp_path, "qrels.txt", QRELS))
    assert found == EvaluationSet(
        "robust",
        (
            Case("301", "International Organized Crime", (Expected("FBIS3-10082"),)),
            Case("302", "脊髓灰质炎", (Expected("FR940126", grade=2),)),
        ),
    )


@pytest.mark.parametrize(
    ("topics", "qrels", "place"),
    [
        ("<top>\n<num> 1\n</top>\n", QRELS, "topics, line 1"),
        ("<top>\n<num> 301\n<title> a\n</top>\n\n<top>\n<title> b\n</top>\n", QRELS, "topics, line 6"),
        ("301\ta\n\nno tab\n", QRELS, "topics, line 3"),
        ("301\ta\n", "301 0 x 1\n301 0 x 2\n", "qrels, line 2"),
        ("301\ta\n", "301 0 x\n", "qrels, line 1"),
        ("301\ta\n", "301 0 x 1\n301 0 y many\n", "qrels, line 2"),
        ("999\ta\n", QRELS, "topics, line 1"),
    ],
)
def test_a_mistake_in_trec_files_is_named_with_its_line(tmp_path: Path, topics: str, qrels: str, place: str) -> None:
    with pytest.raises(EvaluationSetInvalid, match=place):
        read_set(written(tmp_path, "topics", topics), written(tmp_path, "qrels", qrels))


def test_runs_and_judgements_are_written_as_the_tools_read_them() -> None:
    lines = [*run_lines("q 1", ["a b", "c"], "wen yuan")]
    assert lines == ["q_1 Q0 a_b 1 2 wen_yuan\n", "q_1 Q0 c 2 1 wen_yuan\n"]
    written_lines = list(judgement_lines("q1", {"a": 2, "b": 1}))
    assert read_judgements(written_lines, "x") == {"q1": {"a": 2, "b": 1}}


# --- Packs ---------------------------------------------------------------------------------------


def pack(folder: Path) -> Path:
    queries = [
        {"id": "q1", "text": "谁是县令", "lang": "zh-Hans", "group": "main", "answerable": True, "tags": ["who"]},
        {"id": "q2", "text": "how high", "lang": "en", "group": "main", "answerable": True, "filter": {"lang": "en"}},
        {"id": "q3", "text": "how deep", "lang": "en", "group": "absent", "answerable": False},
        {"id": "q4", "text": "variant", "lang": "en", "group": "variant", "answerable": True},
        {"id": "q5", "text": "not judged", "lang": "en", "group": "main", "answerable": True},
    ]
    corpus = [
        {"id": "d1", "title": "县志", "text": "县令姓王。", "meta": {"lang": "zh-Hans", "year": 1911}},
        {"id": "d2", "title": "Hill", "text": "It is 300 m high."},
    ]
    written(folder, "queries.jsonl", "".join(json.dumps(one) + "\n" for one in queries))
    written(folder, "corpus.jsonl", "".join(json.dumps(one) + "\n" for one in corpus))
    written(folder, "qrels.tsv", "qid\tdocid\trel\nq1\td1\t1\nq2\td2\t2\nq4\td2\t1\n")
    written(folder, "nosource.json", json.dumps({"remove_docs": ["d1"], "unanswerable": ["q1"]}))
    return folder


def test_a_pack_is_a_set_over_a_knowledge_base_of_its_name(tmp_path: Path) -> None:
    found = read_set(pack(tmp_path / "hills"))
    assert found.name == "hills"
    assert [(case.id, case.tags, case.language) for case in found.cases] == [
        ("q1", ("main", "who"), "zh-Hans"),
        ("q2", ("main",), "en"),
        ("q3", ("absent",), "en"),
        ("q4", ("variant",), "en"),
    ]
    assert {case.knowledge_bases for case in found.cases} == {("hills",)}
    assert [case.expected for case in found.cases[:3]] == [(Expected("d1"),), (Expected("d2", grade=2),), ()]
    assert found.cases[1].filters == {"lang": "en"}


def test_a_pack_without_its_sources_is_a_set_of_its_own(tmp_path: Path) -> None:
    found = read_set(pack(tmp_path / "hills") / "nosource.json")
    assert found.name == "hills-nosource"
    assert [(case.id, case.expected, case.tags) for case in found.cases] == [
        ("q1", (), ("no source",)),
        ("q2", (Expected("d2", grade=2),), ("main",)),
    ]
    assert {case.knowledge_bases for case in found.cases} == {("hills-nosource",)}


def test_a_corpus_is_read_one_document_at_a_time(tmp_path: Path) -> None:
    folder = pack(tmp_path / "hills")
    documents = list(read_corpus(folder))
    assert [(one.name, one.title, one.text, one.metadata) for one in documents] == [
        ("d1", "县志", "县令姓王。", {"lang": "zh-Hans", "year": 1911}),
        ("d2", "Hill", "It is 300 m high.", {}),
    ]
    removal = read_removal(folder)
    assert removal is not None
    assert [one.name for one in read_corpus(folder, removal.removed)] == ["d2"]
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"text": "no id"}\n')
    lazily = read_corpus(folder)
    assert next(lazily).name == "d1"
    with pytest.raises(EvaluationSetInvalid, match="line 3: it has no `id`"):
        list(lazily)


def test_the_layout_of_beir_is_a_pack_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "scifact"
    written(folder, "corpus.jsonl", '{"_id": "4983", "title": "t", "text": "x", "metadata": {"url": "u"}}\n')
    written(folder, "queries.jsonl", '{"_id": "1", "text": "a claim", "metadata": {}}\n{"_id": "2", "text": "b"}\n')
    written(folder, "qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\t4983\t1\n")
    case = Case("1", "a claim", (Expected("4983"),), knowledge_bases=("scifact",))
    assert read_set(folder) == EvaluationSet("scifact", (case,))
    assert [one.metadata for one in read_corpus(folder)] == [{"url": "u"}]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("queries.jsonl", '{"id": "q1", "text": "a"}\n{"text": "b"}\n', "queries.jsonl, line 2"),
        ("queries.jsonl", '{"id": "q1", "text": ""}\n', "queries.jsonl, line 1"),
        ("queries.jsonl", '{"id": "q1", "text": "a", "tags": 3}\n', "queries.jsonl, line 1"),
        ("qrels.tsv", "qid\tdocid\trel\nq1\n", "qrels.tsv, line 2"),
    ],
)
def test_a_mistake_in_a_pack_is_named_with_its_line(tmp_path: Path, name: str, text: str, place: str) -> None:
    folder = pack(tmp_path / "hills")
    written(folder, name, text)
    with pytest.raises(EvaluationSetInvalid, match=place):
        read_set(folder)


@pytest.mark.parametrize("text", ["[]", "{", '{"remove_docs": []}', '{"remove_docs": [1], "unanswerable": []}'])
def test_a_mistake_in_what_is_removed_is_told(tmp_path: Path, text: str) -> None:
    folder = pack(tmp_path / "hills")
    written(folder, "nosource.json", text)
    with pytest.raises(EvaluationSetInvalid, match=r"nosource\.json"):
        read_set(folder / "nosource.json")
