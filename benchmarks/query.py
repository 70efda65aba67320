"""Queries at several sizes: the whole retrieval without embedding the question, each list, and two peers."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

import wenyuan as wy
from benchmarks.corpus import Corpus, perturbed
from benchmarks.report import median_and_p95, milliseconds, table
from wenyuan.flows.embed import fingerprint
from wenyuan.flows.rerank import Reranking
from wenyuan.flows.retrieve import SearchOptions, retrieve
from wenyuan.identifiers import new_id
from wenyuan.language import RULE_SET_VERSION
from wenyuan.language.postings import read_chunk
from wenyuan.rules.embedding_input import input_hash
from wenyuan.runtime.library import Library
from wenyuan.store import chunks, documents, fields, indexes, sentence_codes, vectors
from wenyuan.store.rows import to_json
from wenyuan.types import (
    LOCAL_PRINCIPAL,
    Anchor,
    ArmName,
    Chunk,
    Document,
    Facts,
    IndexGeneration,
    ModelIdentity,
    RerankerProfile,
    Scope,
    Side,
)

_CHUNKS_PER_DOCUMENT = 20
_SENTENCES_PER_CHUNK = 6
_DOCUMENTS_PER_TRANSACTION = 50
_QUERIES = 60
_HALF = {"part": {"from": 0, "to": 49}}
_COLD_STARTS = 5
MODEL = "benchmark/real-vectors"


class StoredVectors:
    """Answers each question with a vector made beforehand, so that no model is timed."""

    similarity_floor = None
    embeds_sentences = True
    max_batch_texts = 32
    max_batch_characters = 60_000

    def __init__(self, questions: Sequence[str], made: NDArray[np.float32]) -> None:
        self._vectors = dict(zip(questions, made, strict=True))
        self.identity = ModelIdentity("benchmark", "real-vectors", made.shape[1])

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> NDArray[np.float32]:
        del side, timeout
        return np.stack([self._vectors[text] for text in texts])


class GivenScores:
    """Reranks in no time, so that what stands around the model is timed."""

    profile = RerankerProfile("benchmark", "benchmark", "none", "", "none", max_passages=32, max_characters=60_000)

    def rerank(self, question: str, passages: Sequence[str], timeout: float) -> Sequence[float]:
        del question, timeout
        return [1.0 / (1 + len(passage)) for passage in passages]


def measure(corpus: Corpus, real: NDArray[np.float32], sizes: Sequence[int]) -> str:
    """Measure every size and return the table."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows += _measure_size(Path(folder), corpus, real, size)
    header = ("chunks", "what", "p50 ms", "p95 ms", "peer p50 ms", "peer ÷ ours", "note")
    return table("Queries", header, rows)


def _measure_size(folder: Path, corpus: Corpus, real: NDArray[np.float32], size: int) -> list[tuple[object, ...]]:
    passages = list(corpus.passages(size, seed=size))
    made = perturbed(real, size, seed=1)
    questions = questions_of(passages)
    asked = perturbed(real, len(questions), seed=2)
    environment = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
    with wy.open(folder / "library", environment=environment) as library:
        generation = fill(library, passages, made)
    gc.collect()
    cold, resident = _cold(folder, questions[0], asked[0])
    with wy.open(folder / "library", environment=environment) as library:
        library.models.register(MODEL, StoredVectors(questions, asked))
        judging = Reranking("benchmark", lambda _: GivenScores())
        tools = replace(library._retrieving, reranking=lambda: judging)
        # Each in a loop of its own, as the peers are: what another leaves in the processor's caches is not its doing.
        # And warm: the cold first query is measured apart.
        ask = library.search
        for question in questions:
            ask(question)
        whole = [milliseconds(partial(ask, question)) for question in questions]
        keyword = [_taken_by(library, question, "keyword") for question in questions]
        vector = [_taken_by(library, question, "vector") for question in questions]
        broad = [milliseconds(partial(ask, question, filters=_HALF)) for question in questions]
        filtered = [milliseconds(partial(ask, question, filters={"part": 7})) for question in questions]
        scope, options = Scope(LOCAL_PRINCIPAL), SearchOptions()
        reranked = [milliseconds(partial(retrieve, tools, question, scope, options)) for question in questions]
        changed = []
        for number, question in enumerate(questions):
            library.documents.switch(f"/{number // 2 * _CHUNKS_PER_DOCUMENT}", enabled=number % 2 == 1)
            changed.append(milliseconds(partial(ask, question)))
        # The last change may have switched a document off.
        library.documents.switch(f"/{(len(questions) - 1) // 2 * _CHUNKS_PER_DOCUMENT}", enabled=True)
        found = recall(library, generation, made, asked)
    exact = [milliseconds(partial(_exact, made, one)) for one in asked]
    trigram = _trigram(folder / "trigram.db", passages, questions)
    return [
        (
            size,
            "whole retrieval",
            *median_and_p95(whole),
            "",
            "",
            f"cold first query {cold:.0f} ms, {resident:.0f} MB resident",
        ),
        (
            size,
            "the same with the best 30 reranked",
            *median_and_p95(reranked),
            "",
            "",
            "by a model that takes no time",
        ),
        (size, "the same within 1 document in 100", *median_and_p95(filtered), "", "", "a filter on metadata"),
        (size, "the same within 1 document in 2", *median_and_p95(broad), "", "", "a filter on metadata"),
        (size, "the same after each change of a document", *median_and_p95(changed), "", "", "caches catch up"),
        (size, "keyword list", *median_and_p95(keyword), *_peer(trigram, keyword), "peer: SQLite FTS5 trigram"),
        (
            size,
            "vector list",
            *median_and_p95(vector),
            *_peer(exact, vector),
            f"recall@10 {found:.3f}; peer: exact float32 with numpy",
        ),
    ]


def _taken_by(library: Library, question: str, arm: ArmName) -> float:
    """Milliseconds that one list takes, asked alone."""
    library.search(question, arms=(arm,))
    return next(float(stage["ms"]) for stage in library.traces(1)[0]["stages"] if stage["name"] == arm)


def _exact(made: NDArray[np.float32], one: NDArray[np.float32]) -> NDArray[np.intp]:
    nearest: NDArray[np.intp] = np.argpartition(made @ one, -10)[-10:]
    return nearest


def _peer(peer: Sequence[float], ours: Sequence[float]) -> tuple[float, float]:
    theirs = median_and_p95(peer)[0]
    return theirs, theirs / median_and_p95(ours)[0]


def questions_of(passages: Sequence[str]) -> list[str]:
    """Questions of a few words that stand together in a passage, as people ask them."""
    step = max(1, len(passages) // _QUERIES)
    questions = []
    for passage in passages[::step][:_QUERIES]:
        words = passage.split()
        questions.append(" ".join(words[3:9]) if len(words) > 12 else passage[10:26].strip())
    return list(dict.fromkeys(questions))


def fill(library: Library, passages: Sequence[str], made: NDArray[np.float32]) -> IndexGeneration:
    """Store passages with their vectors as ingestion would, without reading files or calling a model."""
    base = library.knowledge_bases.find(None)
    identity = ModelIdentity("benchmark", "real-vectors", made.shape[1])
    print_of = fingerprint(identity)
    with library._database.write() as tx:
        tx.run("UPDATE knowledge_bases SET embedding_model = :model", {"model": MODEL})
        lexical = indexes.ensure_active(tx, new_id("gen"), base.id, "lexical", str(RULE_SET_VERSION), {})
        vector = indexes.ensure_active(tx, new_id("gen"), base.id, "vector", print_of, {"model": MODEL}, made.shape[1])
        model = vectors.model_key(tx, print_of, identity, to_json(identity))
        tx.run("INSERT INTO blobs (sha256, size, created_at) VALUES ('00', 0, 0)")
    starts = range(0, len(passages), _CHUNKS_PER_DOCUMENT)
    for group in (
        starts[at : at + _DOCUMENTS_PER_TRANSACTION] for at in range(0, len(starts), _DOCUMENTS_PER_TRANSACTION)
    ):
        with library._database.write() as tx:
            for start in group:
                document = Document(new_id("doc"), base.id, base.owner, f"/{start}", f"{start}.txt", True, None, 0, 0)
                revision = new_id("rev")
                documents.add_document(tx, document)
                documents.add_revision(tx, revision, document, "00", 0, base.chunking)
                texts = passages[start : start + _CHUNKS_PER_DOCUMENT]
                hashes = [input_hash(f"{start + seq}") for seq in range(len(texts))]
                made_chunks = [Chunk(seq, text, 0, len(text), Anchor("lines", 1, 1)) for seq, text in enumerate(texts)]
                keys = chunks.stage_chunks(tx, revision, list(zip(made_chunks, hashes, strict=True)))
                tx.lexical.add(
                    tx,
                    lexical.number,
                    [(key, read_chunk(document.name, chunk)[0]) for key, chunk in zip(keys, made_chunks, strict=True)],
                )
                rows = made[start : start + len(texts)]
                vectors.save(tx, model, hashes, rows)
                codes = (_sentences(row, start + seq) for seq, row in enumerate(rows))
                vectors.save_sentences(tx, model, dict(zip(hashes, codes, strict=True)))
                facts = Facts("text/plain", language="en", metadata={"part": start // _CHUNKS_PER_DOCUMENT % 100})
                fields.stage(tx, document, revision, facts, ())
                documents.publish(tx, revision, facts, (), len(texts), 0)
                vectors.pack(tx, vector.id, model, revision, vector.dimensions)
                indexes.record_progress(tx, vector.id, revision, "ready", len(texts), len(texts))
    return vector


def _sentences(vector: NDArray[np.float32], seed: int) -> bytes:
    """Codes of sentences about what a passage is about."""
    return sentence_codes.encode(perturbed(vector.reshape(1, -1), _SENTENCES_PER_CHUNK, seed))


def recall(
    library: Library, generation: IndexGeneration, made: NDArray[np.float32], asked: NDArray[np.float32]
) -> float:
    """recall@10 of the vector list against exact float32 search. Chunk keys count the passages from 1."""
    cache = library._retrieving.vectors
    found = 0
    with library._database.read() as tx:
        model = vectors.known_model_key(tx, generation.fingerprint) or 0
        for one in asked:
            exact = set((np.argpartition(made @ one, -10)[-10:] + 1).tolist())
            found += len(exact & {key for key, _ in cache.search(tx, generation, model, one, None, 10)})
    return found / (10 * len(asked))


def _cold(folder: Path, question: str, vector: NDArray[np.float32]) -> tuple[float, float]:
    """Median first query of some fresh processes, in milliseconds, and the memory of such a process in megabytes."""
    np.save(folder / "question.npy", vector)
    taken = []
    for _ in range(_COLD_STARTS):
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks.cold", str(folder), question],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""},
        )
        milliseconds_taken, megabytes = map(float, result.stdout.split())
        taken.append(milliseconds_taken)
    return statistics.median(taken), megabytes


def _trigram(path: Path, passages: Sequence[str], questions: Sequence[str]) -> list[float]:
    """The usual way to search Chinese in SQLite: FTS5's own trigram tokenizer."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize='trigram')")
    with connection:
        connection.executemany("INSERT INTO passages (text) VALUES (?)", ((passage,) for passage in passages))
    sql = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT 10"

    def ask(question: str) -> list[object]:
        words = [word for word in question.split() if len(word) > 2] or [question]
        return list(connection.execute(sql, (" OR ".join(f'"{word}"' for word in words),)))

    times = [milliseconds(partial(ask, question.replace('"', " "))) for question in questions]
    connection.close()
    return times
