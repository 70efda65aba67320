"""TREC files: topics and judgements in, the run of a system out, for the tools that read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wenyuan.rules.evaluation.case_rows import Row, SetFile, cases_of
from wenyuan.rules.evaluation.cases import EvaluationSet

Judgements = Mapping[str, Mapping[str, int]]

_NUMBER = re.compile(r"<num>[ \t]*(?:Number:)?[ \t]*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*([^<]*)", re.IGNORECASE)
_HEADERS = ({"qid", "docid", "rel"}, {"query-id", "corpus-id", "score"})


def read_trec_set(topics: str, qrels: Iterable[str], topics_path: str, qrels_path: str, name: str) -> EvaluationSet:
    """A set from topics, as `<top>` records or lines of `ID<tab>TEXT`, and judgements.

    Topics with nothing relevant are left out, as trec_eval does. Raises `EvaluationSetInvalid`.
    """
    judged = read_judgements(qrels, qrels_path)
    file = SetFile(topics_path)
    found = _records(file, topics) if re.search(r"(?i)^\s*<top>", topics) else _tabbed(file, topics)
    rows = (
        Row(line, {"id": topic, "query": query, "expect": expectation(judged[topic])})
        for line, topic, query in found
        if any(grade > 0 for grade in judged.get(topic, {}).values())
    )
    return EvaluationSet(name, cases_of(file, rows))


def read_judgements(lines: Iterable[str], path: str) -> Judgements:
    """Grades by query and document, from `QUERY 0 DOCUMENT GRADE`, or three columns below their names.

    A negative grade means not relevant. Raises `EvaluationSetInvalid`.
    """
    file = SetFile(path)
    judged: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, start=1):
        # Names may hold spaces where tabs divide the columns.
        columns = line.rstrip("\r\n").split("\t") if line.count("\t") in (2, 3) else line.split()
        if not columns or (number == 1 and set(columns) in _HEADERS):
            continue
        if len(columns) not in (3, 4) or not re.fullmatch(r"\s*-?\d{1,9}\s*", columns[-1]):
            file.refuse(number, "a judgement is a query, 0, a document and a whole number")
        query, document = columns[0].strip(), columns[-2].strip()
        if document in judged.setdefault(query, {}):
            file.refuse(number, f"{document!r} is judged twice for {query!r}")
        judged[query][document] = max(0, int(columns[-1]))
    return judged


def expectation(grades: Mapping[str, int]) -> list[dict[str, object]]:
    """What is relevant, as the field `expect` of a case."""
    return [{"document": document, "grade": grade} for document, grade in grades.items() if grade > 0]


def run_lines(query: str, ranked: Sequence[str], tag: str) -> Iterator[str]:
    """One query's part of a run file: `QUERY Q0 DOCUMENT RANK SCORE TAG`, the score falling with the rank."""
    for rank, name in enumerate(ranked, start=1):
        yield f"{_one_word(query)} Q0 {_one_word(name)} {rank} {len(ranked) - rank + 1} {_one_word(tag)}\n"


def judgement_lines(query: str, grades: Mapping[str, int]) -> Iterator[str]:
    """One query's part of a qrels file that goes with `run_lines`."""
    for name, grade in grades.items():
        yield f"{_one_word(query)} 0 {_one_word(name)} {grade}\n"


def _one_word(name: str) -> str:
    """Columns are divided by white space, so a name may hold none."""
    return re.sub(r"\s", "_", name)


def _records(file: SetFile, text: str) -> Iterator[tuple[int, str, str]]:
    line = 1
    for piece in re.split(r"(?i)(?=<top>)", text):
        number, title = _NUMBER.search(piece), _TITLE.search(piece)
        if number is not None and title is not None:
            yield line, number[1], " ".join(title[1].split())
        elif piece.strip():
            file.refuse(line, "a topic must have a <num> and a <title>")
        line += piece.count("\n")


def _tabbed(file: SetFile, text: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            topic, tab, query = line.strip().partition("\t")
            if not tab:
                file.refuse(number, "a topic is an id, a tab and a question, or a <top> record")
            yield number, topic.strip(), query
