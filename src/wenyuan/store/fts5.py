"""The lexical index on SQLite: one contentless FTS5 table per generation.

FTS5 sees only our own tokens, so its tokenizer is `ascii`, which keeps every non-ASCII character;
told to keep punctuation too, it splits at spaces alone. `detail=full` is needed: with `column` or
`none`, bm25() silently returns 0. A table of its own per generation makes building aside, switching
and dropping cheap, and keeps document frequencies those of one knowledge base.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Sequence

from wenyuan.store.database import Reading, Writing
from wenyuan.types import Posting

# A name outranks a heading, a heading the body; aliases are canonical, rare and exact.
_WEIGHTS = "5.0, 4.0, 1.0, 1.5"

_TOKENIZER = "ascii tokenchars '" + string.punctuation.replace("'", "''").replace('"', '""') + "'"


class Fts5Index:
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
        self, tx: Reading, number: int, tokens: Sequence[str], excluded: Sequence[str], limit: int
    ) -> list[tuple[int, float]]:
        if not tokens:
            return []
        match = " OR ".join(_quoted(token) for token in tokens)
        if excluded:
            match = f"({match}) NOT ({' OR '.join(_quoted(token) for token in excluded)})"
        rows = tx.all(
            f"SELECT rowid, rank FROM {_table(number)} WHERE {_table(number)} MATCH :match "
            f"AND rank MATCH 'bm25({_WEIGHTS})' ORDER BY rank, rowid LIMIT :limit",
            {"match": match, "limit": limit},
        )
        return [(int(key), -float(score)) for key, score in rows]

    def document_frequency(self, tx: Reading, number: int, tokens: Sequence[str]) -> dict[str, int]:
        rows = tx.all(
            f"SELECT t.term, t.doc FROM json_each(:terms) AS j JOIN {_table(number)}_terms AS t ON t.term = j.value",
            {"terms": json.dumps(list(dict.fromkeys(tokens)))},
        )
        counted = {str(term): int(count) for term, count in rows}
        return {token: counted.get(token, 0) for token in tokens}

    def size(self, tx: Reading, number: int) -> int:
        row = tx.first(f"SELECT count(*) FROM {_table(number)}_docsize")
        return int(row[0]) if row else 0

    def keys(self, tx: Reading, number: int, after: int, limit: int) -> list[int]:
        rows = tx.all(
            f"SELECT id FROM {_table(number)}_docsize WHERE id > :after ORDER BY id LIMIT :limit",
            {"after": after, "limit": limit},
        )
        return [int(row[0]) for row in rows]


def _table(number: int) -> str:
    return f"lexical_{int(number)}"


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'
