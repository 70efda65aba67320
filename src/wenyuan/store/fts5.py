"""The lexical index on SQLite: one contentless FTS5 table per generation.

FTS5 sees only our own tokens, so its tokenizer is `ascii`, which keeps every non-ASCII character;
told to keep punctuation too, it splits at spaces alone. `detail=full` is needed: with `column` or
`none`, bm25() silently returns 0. A table of its own per generation makes building aside, switching
and dropping cheap, and keeps document frequencies those of one knowledge base.

What a search reads comes as one row of JSON, whose numbers are exact. Each further row would give the
interpreter's lock away and take it back, which threads that search side by side pay for by waiting.
"""

from __future__ import annotations

import json
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wenyuan.store.database import Parameters, Reading, Writing
from wenyuan.types import Posting

# A name outranks a heading, a heading the body; aliases are canonical, rare and exact.
_WEIGHTS = "5.0, 4.0, 1.0, 1.5"

_POSTINGS_SCORED = 5000
_RESCORED = 100
_WORTH_REMEMBERING = 500
_MOST_REMEMBERED = 20_000
_LONGEST_MASK = 1 << 24

_TOKENIZER = "ascii tokenchars '" + string.punctuation.replace("'", "''").replace('"', '""') + "'"


class Fts5Index:
    """The indexes of one library; threads may share it."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[bytes, dict[str, int]]] = {}

    def create(self, tx: Writing, number: int) -> None:
        tx.run(
            f"CREATE VIRTUAL TABLE {_table(number)} USING fts5(name, heading, body, alias, "
            f"content='', contentless_delete=1, tokenize=\"{_TOKENIZER}\", detail=full)"
        )
        tx.run(f"CREATE VIRTUAL TABLE {_table(number)}_terms USING fts5vocab({_table(number)}, 'row')")

    def drop(self, tx: Writing, number: int) -> None:
        tx.run(f"DROP TABLE IF EXISTS {_table(number)}_terms")
        tx.run(f"DROP TABLE IF EXISTS {_table(number)}")

    def add(self, tx: Writing, number: int, postings: Iterable[tuple[int, Posting]]) -> None:
        # OR REPLACE, so that staging that is taken up again after a crash may repeat a batch.
        tx.run_many(
            f"INSERT OR REPLACE INTO {_table(number)} (rowid, name, heading, body, alias) "
            "VALUES (:key, :name, :heading, :body, :alias)",
            (
                {"key": key, "name": p.name, "heading": p.heading, "body": p.body, "alias": p.alias}
                for key, p in postings
            ),
        )

    def remove(self, tx: Writing, number: int, chunk_keys: Iterable[int]) -> None:
        tx.run_many(f"DELETE FROM {_table(number)} WHERE rowid = :key", ({"key": key} for key in chunk_keys))

    def search(
        self,
        tx: Reading,
        number: int,
        tokens: Sequence[str],
        excluded: Sequence[str],
        limit: int,
        frequency: Mapping[str, int] | None = None,
        among: NDArray[np.int64] | None = None,
    ) -> list[tuple[int, float]]:
        if frequency is None:
            frequency = self.document_frequency(tx, number, tokens)
        share = 1.0 if among is None else min(1.0, len(among) / max(1, self.size(tx, number)))
        rare, frequent = _split({token: frequency[token] for token in tokens}, limit, share)
        if not rare:
            return []
        scores = self._scored(tx, number, rare, excluded, max(limit, _RESCORED) if frequent else limit, among)
        if frequent and len(scores) < limit:
            # The rare ones stand together, outside of what is looked among, or beside what is excluded.
            scores = self._scored(tx, number, [*rare, *frequent], excluded, limit, among)
        elif frequent:
            self._add_frequent(tx, number, scores, {token: frequency[token] for token in frequent})
        return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))[:limit]

    def _scored(
        self,
        tx: Reading,
        number: int,
        tokens: Sequence[str],
        excluded: Sequence[str],
        limit: int,
        among: NDArray[np.int64] | None,
    ) -> dict[int, float]:
        match = " OR ".join(_quoted(token) for token in tokens)
        if excluded:
            match = f"({match}) NOT ({' OR '.join(_quoted(token) for token in excluded)})"
        within, only = _within(among)
        found = _json(
            tx,
            "SELECT json_group_array(json_array(key, score)) FROM "
            f"(SELECT rowid AS key, bm25({_table(number)}, {_WEIGHTS}) AS score FROM {_table(number)} "
            f"WHERE {_table(number)} MATCH :match {within} ORDER BY score, rowid LIMIT :limit)",
            {"match": match, "limit": limit, **only},
        )
        return {key: -float(score) for key, score in found}

    def _add_frequent(self, tx: Reading, number: int, scores: dict[int, float], frequency: Mapping[str, int]) -> None:
        """Add what frequent tokens say of the candidates: their IDF, as in a chunk of average length."""
        size = self.size(tx, number)
        candidates = json.dumps(list(scores))
        for token, count in frequency.items():
            idf = math.log((size - count + 0.5) / (count + 0.5))
            if idf <= 0:
                continue
            holding = _json(
                tx,
                f"SELECT json_group_array(rowid) FROM {_table(number)} WHERE {_table(number)} MATCH :token "
                "AND +rowid IN (SELECT value FROM json_each(:candidates))",
                {"token": _quoted(token), "candidates": candidates},
            )
            for key in holding:
                scores[key] += idf

    def document_frequency(self, tx: Reading, number: int, tokens: Sequence[str]) -> dict[str, int]:
        known = self._known_counts(tx, number)
        counted = {token: known[token] for token in tokens if token in known}
        unknown = [token for token in dict.fromkeys(tokens) if token not in counted]
        if not unknown:
            return {token: counted[token] for token in tokens}
        found = _json(
            tx,
            "SELECT json_group_array(json_array(t.term, t.doc)) "
            f"FROM json_each(:terms) AS j JOIN {_table(number)}_terms AS t ON t.term = j.value",
            {"terms": json.dumps(unknown)},
        )
        for term, count in found:
            counted[term] = count
            if count >= _WORTH_REMEMBERING and len(known) < _MOST_REMEMBERED:
                known[term] = count
        return {token: counted.get(token, 0) for token in tokens}

    def _known_counts(self, tx: Reading, number: int) -> dict[str, int]:
        """Counts of frequent tokens, kept for as long as nothing is written to the index.

        To count the chunks of a token, FTS5 reads all its postings. Each write to an index changes the
        records of its averages and of its segments.
        """
        rows = tx.all(f"SELECT block FROM {_table(number)}_data WHERE id IN (1, 10) ORDER BY id")
        stamp = b"".join(row[0] for row in rows)
        kept = self._counts.get(number)
        if kept is None or kept[0] != stamp:
            kept = self._counts[number] = (stamp, {})
        return kept[1]

    def size(self, tx: Reading, number: int) -> int:
        # The averages record begins with the number of rows, as a varint; counting them reads them all.
        row = tx.first(f"SELECT block FROM {_table(number)}_data WHERE id = 1")
        size = 0
        for byte in row[0] if row else b"":
            size = size << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return size

    def keys(self, tx: Reading, number: int, after: int, limit: int) -> list[int]:
        rows = tx.all(
            f"SELECT id FROM {_table(number)}_docsize WHERE id > :after ORDER BY id LIMIT :limit",
            {"after": after, "limit": limit},
        )
        return [int(row[0]) for row in rows]


def _split(frequency: Mapping[str, int], limit: int, share: float) -> tuple[list[str], list[str]]:
    """The tokens that choose the candidates, rarest first, and those that only help to rank them.

    Scoring costs microseconds per chunk that holds any token, and in a large index a frequent token
    is in thousands that a rare one then outranks. So the rare ones choose, as far as a budget of
    postings goes, and at least as many candidates as are wanted twice over. Only a `share` of the
    chunks that hold a token is scored.
    """
    known = sorted((token for token, count in frequency.items() if count), key=lambda token: (frequency[token], token))
    postings = 0.0
    for position, token in enumerate(known):
        scored = frequency[token] * share
        if postings >= 2 * limit and postings + scored > _POSTINGS_SCORED:
            return known[:position], known[position:]
        postings += scored
    return known, []


def _within(among: NDArray[np.int64] | None) -> tuple[str, Parameters]:
    """A condition that holds for the given chunks alone, and its parameters.

    A byte for each key from the first to the last is looked up a few times as fast as a set, which SQLite would build
    anew for each search.
    """
    if among is None:
        return "", {}
    if not len(among):
        return "AND 0", {}
    first, last = int(among[0]), int(among[-1])
    if last - first >= _LONGEST_MASK:
        return "AND +rowid IN (SELECT value FROM json_each(:among))", {"among": json.dumps(among.tolist())}
    mask = np.zeros(last - first + 1, dtype=np.uint8)
    mask[among - first] = 1
    return (
        "AND rowid BETWEEN :first AND :last AND substr(:mask, rowid - :first + 1, 1) = x'01'",
        {"mask": mask.tobytes(), "first": first, "last": last},
    )


def _json(tx: Reading, sql: str, parameters: Parameters) -> list[Any]:
    row = tx.first(sql, parameters)
    values: list[Any] = json.loads(row[0]) if row is not None else []
    return values


def _table(number: int) -> str:
    return f"lexical_{int(number)}"


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'
