"""Answers: whether a citation check tells supported sentences from others, and what is answered without a model.

Measured on sets in a folder (`--packs FOLDER`), each a folder of its own in the form that `wenyuan eval import` reads.
Without it, the check alone is measured, on the example library.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import ROOT
from benchmarks.perturbations import SUPPORTED_KINDS, UNSUPPORTED_KINDS, Claim, Document, claims, sentences_of
from benchmarks.report import table
from wenyuan.flows.answer import extract
from wenyuan.language.folding import fold
from wenyuan.language.words import index_tokens
from wenyuan.rules.citations.source_reading import SourceReading
from wenyuan.rules.citations.support import judge
from wenyuan.runtime.library import Library, TextToAdd
from wenyuan.runtime.opening import open_library
from wenyuan.types import Answer

_PER_KIND = 300
_CHECKED = ("squad2-en", "cmrc2018-zh")
_ANSWERED = ("squad2-en", "clapnq-en", "cmrc2018-zh")
_PARALLEL = "xquad-en-zh"
_WRITTEN = "clapnq-en"
_QUESTIONS = 300
_SUPPORT = ("supported", "weak", "unsupported")


@dataclass(frozen=True, slots=True)
class _Pack:
    """A set: its documents by id, its questions, and the documents that answer each."""

    name: str
    documents: Mapping[str, Mapping[str, str]]
    queries: Sequence[Mapping[str, object]]
    relevant: Mapping[str, Sequence[str]]
    removed: frozenset[str]
    without_source: frozenset[str]


def measure(packs: Path | None) -> str:
    if packs is None:
        return _checks({"examples": claims(list(_examples()), _PER_KIND)})
    found = {name: _read(packs / name) for name in {*_CHECKED, *_ANSWERED, _PARALLEL} if (packs / name).is_dir()}
    checked = {name: claims(_documents(found[name]), _PER_KIND) for name in _CHECKED if name in found}
    if _WRITTEN in found:
        checked[_WRITTEN] = list(_written_answers(found[_WRITTEN]))
    if _PARALLEL in found:
        checked[_PARALLEL] = list(_translations(found[_PARALLEL]))
    parts = [_checks(checked)]
    parts += [_answers([_Asked(found[name]) for name in _ANSWERED if name in found])]
    return "\n".join(parts)


# --- The check of citations ------------------------------------------------------------------------


def _checks(sets: Mapping[str, Sequence[Claim]]) -> str:
    rows: list[tuple[object, ...]] = []
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    began = time.process_time()
    for name, made in sets.items():
        for kind, found in _judged(made).items():
            total = sum(found.values())
            rows.append((name, kind, total, *(f"{found[support] / total:.3f}" for support in _SUPPORT)))
            verdicts[kind] += found
    milliseconds = (time.process_time() - began) * 1000 / max(1, sum(len(made) for made in sets.values()))
    shown = table("Sentences beside their source", ("set", "made by", "sentences", *_SUPPORT), rows)
    wrong = sum((verdicts[kind] for kind in UNSUPPORTED_KINDS), Counter[str]())
    right = sum((verdicts[kind] for kind in SUPPORTED_KINDS), Counter[str]())
    precision = wrong["unsupported"] / max(1, wrong["unsupported"] + right["unsupported"])
    recall = wrong["unsupported"] / max(1, wrong.total())
    return (
        f"{shown}\n`unsupported`: precision {precision:.3f}, recall {recall:.3f} over {wrong.total()} changed and "
        f"{right.total()} unchanged sentences; {milliseconds:.2f} ms a sentence with its source.\n"
    )


def _judged(made: Iterable[Claim]) -> dict[str, Counter[str]]:
    readings: dict[tuple[str, str], SourceReading] = {}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for claim in made:
        place = claim.source, claim.about
        if place not in readings:
            readings[place] = SourceReading(*place)
        found[claim.kind][judge(claim.sentence, [readings[place]]).support] += 1
    return found


def _examples() -> Iterator[Document]:
    for path in sorted((ROOT / "examples" / "library").rglob("*.md")):
        yield Document(path.stem, path.read_text("utf-8"))


def _documents(pack: _Pack) -> list[Document]:
    names: dict[str, list[str]] = defaultdict(list)
    for query in pack.queries:
        for document in pack.relevant.get(str(query["id"]), ())[:1]:
            names[document] += _gold(query)
    return [Document(one["title"], one["text"], tuple(names[key])) for key, one in pack.documents.items()]


def _written_answers(pack: _Pack) -> Iterator[Claim]:
    """The sentences of answers that people wrote from a passage."""
    for query in pack.queries:
        for key in pack.relevant.get(str(query["id"]), ())[:1]:
            document = pack.documents[key]
            for sentence in sentences_of(_gold(query)[0]):
                yield Claim("written by people from it", sentence, document["text"], document["title"])


def _translations(pack: _Pack) -> Iterator[Claim]:
    """Sentences beside the translation of their paragraph, and beside that of another one."""
    randomness = random.Random(3)
    english = [key for key in pack.documents if key.startswith("xqe") and f"xqz{key[3:]}" in pack.documents]
    for key in english:
        other = randomness.choice(english)
        for language, own, theirs in (("Chinese", "xqz", "xqe"), ("English", "xqe", "xqz")):
            for sentence in sentences_of(pack.documents[own + key[3:]]["text"])[:3]:
                source = pack.documents[theirs + key[3:]]["text"]
                yield Claim(f"{language}, beside its translation", sentence, source, "")
                if other != key:
                    source = pack.documents[theirs + other[3:]]["text"]
                    yield Claim(f"{language}, beside another's translation", sentence, source, "")


# --- Answers without a language model --------------------------------------------------------------


class _Asked:
    """What became of the questions of one set: some with an answer in the documents, some without."""

    def __init__(self, pack: _Pack) -> None:
        self.name = pack.name
        self.with_answer: list[tuple[float, bool, bool, float]] = []
        self.without: list[tuple[float, bool]] = []
        texts = [
            TextToAdd(one["text"], key, one["title"]) for key, one in pack.documents.items() if key not in pack.removed
        ]
        with tempfile.TemporaryDirectory() as folder, open_library(folder) as library:
            library.add_texts(texts, wait=False)
            library.drain()
            for query in _sampled(pack, answerable=True):
                self.with_answer.append(_asked(library, pack, query))
            for query in _sampled(pack, answerable=False):
                made = _extracted(library, query)
                self.without.append((made.search.grounding.value, made.finish_reason == "extractive"))


def _asked(library: Library, pack: _Pack, query: Mapping[str, object]) -> tuple[float, bool, bool, float]:
    """The estimate, whether it was answered, whether a gold answer was quoted, and F1 against its sentence."""
    made = _extracted(library, query)
    quotes = [citation.quote for citation in made.citations]
    gold = [fold(one) for one in _gold(query)]
    holds = any(one in fold(quote) for quote in quotes for one in gold)
    sentences = [
        sentence
        for key in pack.relevant[str(query["id"])]
        for sentence in sentences_of(pack.documents[key]["text"])
        if any(one in fold(sentence) for one in gold)
    ] or _gold(query)
    best = max((_f1(quote, sentence) for quote in quotes[:1] for sentence in sentences), default=0.0)
    return made.search.grounding.value, made.finish_reason == "extractive", holds, best


def _extracted(library: Library, query: Mapping[str, object]) -> Answer:
    # Asked for an answer, a library tells of the estimate before its sentences were known.
    return extract(library._retrieving, library.search(str(query["text"])))


def _sampled(pack: _Pack, *, answerable: bool) -> list[Mapping[str, object]]:
    def is_meant(query: Mapping[str, object]) -> bool:
        if pack.without_source:
            absent = str(query["id"]) in pack.without_source
            kept = not pack.removed.intersection(pack.relevant.get(str(query["id"]), ()))
            return kept and query["group"] == "main" if answerable else absent
        return query["answerable"] is answerable

    chosen = [query for query in pack.queries if is_meant(query)]
    random.Random(5).shuffle(chosen)
    return chosen[:_QUESTIONS]


def _answers(asked: Sequence[_Asked]) -> str:
    rows = []
    for one in asked:
        answered = [row for row in one.with_answer if row[1]]
        rows.append(
            (
                one.name,
                len(one.with_answer),
                f"{len(answered) / len(one.with_answer):.3f}",
                f"{sum(row[2] for row in answered) / max(1, len(answered)):.3f}",
                f"{sum(row[3] for row in answered) / max(1, len(answered)):.3f}",
                len(one.without),
                f"{sum(row[1] for row in one.without) / max(1, len(one.without)):.3f}",
                f"{_auroc([row[0] for row in one.with_answer], [row[0] for row in one.without]):.3f}",
            )
        )
    header = ("set", "with an answer", "answered", "answer quoted", "F1", "without", "answered all the same", "AUROC")
    return table("Answers without a language model", header, rows)


def _f1(one: str, other: str) -> float:
    first, second = Counter(index_tokens(one)), Counter(index_tokens(other))
    shared = (first & second).total()
    return 2 * shared / (first.total() + second.total()) if shared else 0.0


def _auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The share of pairs that are in the right order, ties counting half."""
    pairs = [(a > b) + 0.5 * (a == b) for a in positive for b in negative]
    return sum(pairs) / max(1, len(pairs))


# --- Sets ------------------------------------------------------------------------------------------


def _read(folder: Path) -> _Pack:
    relevant: dict[str, list[str]] = defaultdict(list)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, _ = line.split("\t")
        relevant[query].append(document)
    absent = folder / "nosource.json"
    without = json.loads(absent.read_text("utf-8")) if absent.is_file() else {}
    return _Pack(
        folder.name,
        {one["id"]: one for one in _lines(folder / "corpus.jsonl")},
        list(_lines(folder / "queries.jsonl")),
        relevant,
        frozenset(without.get("remove_docs", ())),
        frozenset(without.get("unanswerable", ())),
    )


def _lines(path: Path) -> Iterator[dict[str, str]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def _gold(query: Mapping[str, object]) -> list[str]:
    answers = query.get("answer")
    return [str(one) for one in answers] if isinstance(answers, list) else []
