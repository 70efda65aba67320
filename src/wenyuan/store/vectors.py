"""Vectors: one float16 row per model and embedded text, with its sentences; one packed row of int8 codes per revision.

A vector is addressed by its model's fingerprint and the hash of the text that was embedded, so the
same text is embedded once per model, wherever and however often it stands, and work interrupted in
the middle knows what is missing. The codes of a revision are written in one transaction when its
last vector is there; the vector list sees the revision from then on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import LibraryDamaged
from wenyuan.store import sentence_codes
from wenyuan.store.database import Reading, Writing
from wenyuan.types import IndexGeneration, ModelIdentity, Nearness

SEGMENT_CHUNKS = 4096
"""How many chunks share one packed row of codes."""

_READ_AT_ONCE = 256

PackedCodes = tuple[str, bytes, bytes]
"""A revision, some of its chunk keys as int64, and their codes as int8, one row after the other."""

_PACKED = (
    "LEFT JOIN revision_indexes AS x ON x.revision_id = d.serving_revision_id "
    "AND x.generation_id = :generation_id AND x.state = 'ready'"
)
_LIVE = (
    "d.knowledge_base_id = :knowledge_base_id AND d.serving_revision_id IS NOT NULL AND d.enabled = 1 "
    "AND d.blocked_reason = '' AND d.deleted_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class MissingInput:
    """A text that has no vector yet, or whose sentences have none."""

    input_hash: bytes
    heading_path: tuple[str, ...]
    context: str
    text: str
    has_vector: bool = False


@dataclass(frozen=True, slots=True)
class LiveDocument:
    """A document that is searched; `packed` is how many of its chunks an index sees, None before it sees any."""

    document_id: str
    revision_id: str
    packed: int | None


def model_key(tx: Writing, fingerprint: str, identity: ModelIdentity, identity_json: str) -> int:
    """The small number under which a model's vectors are stored; made at the first call."""
    tx.run(
        "INSERT INTO model_fingerprints (key, fingerprint, identity, created_at) "
        "VALUES ((SELECT coalesce(max(key), 0) + 1 FROM model_fingerprints), :fingerprint, :identity, :now) "
        "ON CONFLICT (fingerprint) DO NOTHING",
        {"fingerprint": fingerprint, "identity": identity_json, "now": tx.now},
    )
    key = known_model_key(tx, fingerprint)
    if key is None:
        raise LookupError(f"{identity.model} was not registered")
    return key


def known_model_key(tx: Reading, fingerprint: str) -> int | None:
    row = tx.first("SELECT key FROM model_fingerprints WHERE fingerprint = :fingerprint", {"fingerprint": fingerprint})
    return int(row[0]) if row is not None else None


def missing(
    tx: Reading, model: int, revision_id: str, after_seq: int, limit: int, *, sentences: bool
) -> list[tuple[int, MissingInput]]:
    """Chunks of a revision that have no vector yet, as (sequence number, input), in order.

    Where `sentences` are wanted, those whose sentences have none are among them.
    """
    rows = tx.all(
        "SELECT c.seq, c.input_hash, c.heading_path, c.context, c.text, v.input_hash IS NOT NULL FROM chunks AS c "
        "LEFT JOIN vectors AS v ON v.model_key = :model AND v.input_hash = c.input_hash "
        "WHERE c.revision_id = :revision_id AND c.seq > :after "
        "AND (v.input_hash IS NULL OR (:sentences = 1 AND v.sentences IS NULL)) ORDER BY c.seq LIMIT :limit",
        {
            "model": model,
            "revision_id": revision_id,
            "after": after_seq,
            "limit": limit,
            "sentences": int(sentences),
        },
    )
    return [
        (int(seq), MissingInput(bytes(h), tuple(json.loads(path)), context, text, bool(has_vector)))
        for seq, h, path, context, text, has_vector in rows
    ]


def count_missing(tx: Reading, model: int, revision_id: str) -> int:
    row = tx.first(
        "SELECT count(*) FROM chunks AS c LEFT JOIN vectors AS v ON v.model_key = :model "
        "AND v.input_hash = c.input_hash WHERE c.revision_id = :revision_id AND v.input_hash IS NULL",
        {"model": model, "revision_id": revision_id},
    )
    return int(row[0]) if row is not None else 0


def lack_sentences(tx: Reading, knowledge_base_id: str, generation: IndexGeneration | None) -> bool:
    """Whether a chunk that is found by its vector in an index has none for its sentences."""
    row = tx.first(
        "SELECT 1 FROM documents AS d JOIN chunks AS c ON c.revision_id = d.serving_revision_id "
        "JOIN model_fingerprints AS m ON m.fingerprint = :fingerprint "
        "JOIN vectors AS v ON v.model_key = m.key AND v.input_hash = c.input_hash "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL AND v.sentences IS NULL LIMIT 1",
        {
            "fingerprint": generation.fingerprint if generation is not None else "",
            "knowledge_base_id": knowledge_base_id,
        },
    )
    return row is not None


def save(tx: Writing, model: int, hashes: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Store one batch; a vector that another worker stored meanwhile stays as it is."""
    halves = np.ascontiguousarray(vectors, dtype=np.float16)
    tx.run_many(
        "INSERT INTO vectors (model_key, input_hash, vector) VALUES (:model, :hash, :vector) ON CONFLICT DO NOTHING",
        (
            {"model": model, "hash": input_hash, "vector": half.tobytes()}
            for input_hash, half in zip(hashes, halves, strict=True)
        ),
    )


def save_sentences(tx: Writing, model: int, codes: Mapping[bytes, bytes]) -> None:
    """Store the codes of the sentences of texts that have a vector; those that have some keep them."""
    tx.run_many(
        "UPDATE vectors SET sentences = :codes WHERE model_key = :model AND input_hash = :hash AND sentences IS NULL",
        ({"model": model, "hash": input_hash, "codes": one} for input_hash, one in codes.items()),
    )


def used(tx: Reading, hashes: Sequence[bytes]) -> list[bool]:
    """Of each text, whether a chunk still has it: a vector of any other would never be taken away again."""
    return [
        tx.first("SELECT 1 FROM chunks WHERE input_hash = :hash LIMIT 1", {"hash": input_hash}) is not None
        for input_hash in hashes
    ]


def pack(tx: Writing, generation_id: str, model: int, revision_id: str, dimensions: int) -> int:
    """Write a revision's codes from its stored vectors and return how many chunks they hold."""
    tx.run(
        "DELETE FROM vector_codes WHERE generation_id = :generation_id AND revision_id = :revision_id",
        {"generation_id": generation_id, "revision_id": revision_id},
    )
    packed = 0
    for segment, (keys, halves) in enumerate(_stored(tx, model, revision_id, dimensions)):
        tx.run(
            "INSERT INTO vector_codes (generation_id, revision_id, segment, chunk_keys, codes) "
            "VALUES (:generation_id, :revision_id, :segment, :chunk_keys, :codes)",
            {
                "generation_id": generation_id,
                "revision_id": revision_id,
                "segment": segment,
                "chunk_keys": keys.tobytes(),
                "codes": quantize(halves.astype(np.float32)).tobytes(),
            },
        )
        packed += len(keys)
    return packed


def _stored(
    tx: Reading, model: int, revision_id: str, dimensions: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float16]]]:
    after = -1
    while rows := tx.all(
        "SELECT c.seq, c.key, v.vector FROM chunks AS c JOIN vectors AS v ON v.model_key = :model "
        "AND v.input_hash = c.input_hash WHERE c.revision_id = :revision_id AND c.seq > :after "
        "ORDER BY c.seq LIMIT :limit",
        {"model": model, "revision_id": revision_id, "after": after, "limit": SEGMENT_CHUNKS},
    ):
        after = rows[-1][0]
        keys = np.fromiter((row[1] for row in rows), dtype=np.int64, count=len(rows))
        joined = b"".join(row[2] for row in rows)
        yield keys, np.frombuffer(joined, dtype=np.float16).reshape(len(rows), dimensions)


def quantize(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Scale each vector so that its largest component becomes 127, and round.

    The scale is not kept: cosine similarity does not depend on it.
    """
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    codes: NDArray[np.int8] = np.rint(vectors * (127.0 / np.maximum(peak, 1e-12))).astype(np.int8)
    return codes


def live_documents(
    tx: Reading, generation_id: str, knowledge_base_id: str, document_ids: Sequence[str] | None
) -> list[LiveDocument]:
    """The live documents, or those of the given documents that are live, in no order."""
    parameters = {"generation_id": generation_id, "knowledge_base_id": knowledge_base_id}
    if document_ids is None:
        rows = tx.all(
            f"SELECT d.id, d.serving_revision_id, x.done FROM documents AS d {_PACKED} WHERE {_LIVE}", parameters
        )
    else:
        rows = tx.all(
            "SELECT d.id, d.serving_revision_id, x.done FROM json_each(:documents) AS j CROSS JOIN documents AS d "
            f"{_PACKED} WHERE d.id = j.value AND {_LIVE}",
            {**parameters, "documents": json.dumps(document_ids)},
        )
    return [LiveDocument(*row) for row in rows]


def packed_codes(tx: Reading, generation_id: str, revision_ids: Sequence[str]) -> list[PackedCodes]:
    """What is packed of revisions, in no order."""
    return tx.all(
        "SELECT v.revision_id, v.chunk_keys, v.codes FROM json_each(:revisions) AS j CROSS JOIN vector_codes AS v "
        "WHERE v.generation_id = :generation_id AND v.revision_id = j.value",
        {"generation_id": generation_id, "revisions": json.dumps(revision_ids)},
    )


def all_packed_codes(tx: Reading, generation_id: str) -> Iterator[list[PackedCodes]]:
    """What is packed of every revision, live or not, some at a time: it is megabytes, and read to be copied."""
    last: tuple[str, int] = ("", 0)
    while rows := tx.all(
        "SELECT revision_id, chunk_keys, codes, segment FROM vector_codes WHERE generation_id = :generation_id "
        "AND (revision_id, segment) > (:revision_id, :segment) ORDER BY revision_id, segment LIMIT :limit",
        {"generation_id": generation_id, "revision_id": last[0], "segment": last[1], "limit": _READ_AT_ONCE},
    ):
        yield [row[:3] for row in rows]
        last = (rows[-1][0], rows[-1][3])


def nearness(
    tx: Reading, model: int, chunk_keys: Sequence[int], query: NDArray[np.float32]
) -> list[tuple[int, Nearness]]:
    """How near those of the given chunks that are enabled are to a unit query, the nearest as a whole first.

    It is computed from the stored vectors.
    """
    rows = tx.all(
        "SELECT c.key, v.vector, v.sentences FROM json_each(:keys) AS j CROSS JOIN chunks AS c CROSS JOIN vectors AS v "
        "WHERE c.key = CAST(j.value AS BIGINT) AND c.enabled = 1 "
        "AND v.model_key = :model AND v.input_hash = c.input_hash",
        {"keys": json.dumps([int(key) for key in chunk_keys]), "model": model},
    )
    coded = {int(row[0]): row[2] for row in rows if row[2] and sentence_codes.are_possible(row[2], len(query))}
    best = dict(zip(coded, sentence_codes.best_similarities(list(coded.values()), query), strict=True))
    scores = zip(rows, _similarities([row[1] for row in rows], query), strict=True)
    found = [
        (int(key), Nearness(score, score if sentences == b"" else best.get(int(key))))
        for (key, _, sentences), score in scores
    ]
    return sorted(found, key=_best_first)


def sentences_of(tx: Reading, model: int, chunk_keys: Sequence[int], dimensions: int) -> dict[int, bytes]:
    """The codes of the sentences of those of the given chunks that have been embedded, by their keys."""
    rows = tx.all(
        "SELECT c.key, v.sentences FROM json_each(:keys) AS j CROSS JOIN chunks AS c CROSS JOIN vectors AS v "
        "WHERE c.key = CAST(j.value AS BIGINT) AND v.model_key = :model AND v.input_hash = c.input_hash "
        "AND v.sentences IS NOT NULL",
        {"keys": json.dumps(list(chunk_keys)), "model": model},
    )
    return {int(key): bytes(codes) for key, codes in rows if sentence_codes.are_possible(codes, dimensions)}


def _similarities(stored: Sequence[bytes], query: NDArray[np.float32]) -> list[float]:
    if not stored:
        return []
    if any(len(one) != 2 * len(query) for one in stored):
        raise LibraryDamaged(
            path="of this library", reason="some vectors are incomplete; `wenyuan check --repair` mends it"
        )
    halves = np.frombuffer(b"".join(stored), dtype=np.float16).reshape(len(stored), -1)
    vectors = halves.astype(np.float32)
    norms = np.maximum(np.linalg.norm(vectors, axis=1), 1e-12)
    # Row by row, so that equal vectors have equal scores: a product of matrices treats the last rows otherwise.
    scores: list[float] = (np.einsum("ij,j->i", vectors, query) / norms).tolist()
    return scores


def _best_first(found: tuple[int, Nearness]) -> tuple[float, int]:
    return (-found[1].passage, found[0])
