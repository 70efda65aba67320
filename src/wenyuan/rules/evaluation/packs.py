"""Packs: a folder with a corpus, queries and judgements, as research publishes them (BEIR, Thakur et al. 2021)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wenyuan.errors import EvaluationSetInvalid
from wenyuan.rules.evaluation.case_rows import NOTHING, Row, SetFile, cases_of
from wenyuan.rules.evaluation.cases import EvaluationSet
from wenyuan.rules.evaluation.json_lines_sets import objects
from wenyuan.rules.evaluation.trec import Judgements, expectation
from wenyuan.types import JsonObject


@dataclass(frozen=True, slots=True)
class PackDocument:
    """One document of a corpus."""

    id: str
    title: str
    text: str
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class WithoutSources:
    """What of a pack is left once some documents are gone: `unanswerable` names the queries that lose their source."""

    removed: frozenset[str]
    unanswerable: frozenset[str]


def read_pack_set(queries: Iterable[str], judged: Judgements, path: str, name: str, kb: str) -> EvaluationSet:
    """A pack's queries as cases in a knowledge base. Raises `EvaluationSetInvalid`.

    `group` and `tags` of a query become tags, `filter` its filters. A query that says it is not
    answerable expects nothing; one without a judgement is left out.
    """
    file = SetFile(path, (kb,))
    return EvaluationSet(name, cases_of(file, _rows(file, queries, judged)))


def read_without_sources(text: str, path: str) -> WithoutSources:
    """From the text of `nosource.json`, an object of the lists `remove_docs` and `unanswerable`.

    Raises `EvaluationSetInvalid`.
    """
    try:
        value = json.loads(text)
        removed, unanswerable = value["remove_docs"], value["unanswerable"]
    except (json.JSONDecodeError, RecursionError, KeyError, TypeError) as error:
        reason = "it must be a JSON object with the lists `remove_docs` and `unanswerable`"
        raise EvaluationSetInvalid(path=path, line=1, reason=reason) from error
    if not all(isinstance(one, list) and all(isinstance(name, str) for name in one) for one in (removed, unanswerable)):
        raise EvaluationSetInvalid(path=path, line=1, reason="both lists must be of names")
    return WithoutSources(frozenset(removed), frozenset(unanswerable))


def without_sources(
    queries: Iterable[str], judged: Judgements, path: str, name: str, kb: str, gone: WithoutSources
) -> EvaluationSet:
    """The queries that keep all their sources, and those that lose them and now expect nothing.

    Only queries of the group `main` are asked, where there is one: the others are variants of them.
    """
    file = SetFile(path, (kb,))
    kept = []
    for row in _rows(file, queries, judged):
        if row.fields["id"] in gone.unanswerable:
            kept.append(Row(row.line, {**row.fields, "expect": NOTHING, "tags": ["no source"]}))
        elif gone.removed.isdisjoint(judged.get(row.fields["id"], {})) and row.fields["expect"] != NOTHING:
            kept.append(row)
    main = [row for row in kept if {"main", "no source"} & set(row.fields["tags"])]
    return EvaluationSet(name, cases_of(file, main or kept))


def corpus_documents(lines: Iterable[str], path: str) -> Iterator[PackDocument]:
    """A pack's documents, one at a time. Raises `EvaluationSetInvalid`."""
    file = SetFile(path)
    for row in objects(file, lines):
        text, title = row.fields.get("text", ""), row.fields.get("title", "")
        metadata = row.fields.get("meta", row.fields.get("metadata")) or {}
        if not isinstance(text, str) or not isinstance(title, str) or not isinstance(metadata, dict):
            file.refuse(row.line, "a document is `id`, `title` and `text`, with an object `meta`")
        yield PackDocument(_known(file, row), title, text, metadata)


def _rows(file: SetFile, queries: Iterable[str], judged: Judgements) -> Iterator[Row]:
    for row in objects(file, queries):
        known = _known(file, row)
        relevant = expectation(judged.get(known, {}))
        answerable = row.fields.get("answerable", True)
        if answerable and not relevant:
            continue
        yield Row(row.line, _fields(file, row, known, relevant if answerable else NOTHING))


def _fields(file: SetFile, row: Row, known: str, expect: object) -> Mapping[str, Any]:
    group, tags = row.fields.get("group"), row.fields.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in [*tags, group or ""]):
        file.refuse(row.line, "`group` must be a word, and `tags` a list of words")
    fields = {
        "id": known,
        "query": row.fields.get("text"),
        "expect": expect,
        "tags": [group, *tags] if group else tags,
        "filters": row.fields.get("filter") or {},
    }
    return {**fields, "language": row.fields["lang"]} if row.fields.get("lang") else fields


def _known(file: SetFile, row: Row) -> str:
    known = row.fields.get("id", row.fields.get("_id"))
    if not isinstance(known, str) or not known.strip():
        file.refuse(row.line, "it has no `id`")
    return known.strip()
