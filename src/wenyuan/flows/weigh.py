"""From lists to evidence: the fused lists choose candidates, and their own words and meaning rank them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from wenyuan.flows.recall import Asked, Recall
from wenyuan.language.coverage import Coverage, CoverageReader
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import stands_in
from wenyuan.language.questions.asked_names import asked_names
from wenyuan.language.questions.phrases import holds_phrase
from wenyuan.language.scripts import language_of
from wenyuan.language.translation import Translation
from wenyuan.rules.ranking.fusion import reciprocal_rank_fusion
from wenyuan.rules.ranking.selection import asks_exactly, long_dates, precise_dates, tier_of
from wenyuan.rules.ranking.weighing import Evidence, weigh
from wenyuan.store import chunks, vectors
from wenyuan.store.database import Reading
from wenyuan.types import Nearness, Passage, Plan, Scope

_LEAST_POOL = 24
_SPARE_POOL = 8
_LANGUAGE_SAMPLE = 240
_PHRASE = "phrase"
_IN_THE_TEXT = 3


@dataclass(slots=True)
class Weighed:
    """The candidates that may be shown, by chunk key."""

    passages: dict[int, Passage] = field(default_factory=dict)
    evidence: dict[int, Evidence] = field(default_factory=dict)
    coverage: dict[int, Coverage] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    tiers: dict[int, int] = field(default_factory=dict)
    folded: dict[int, str] = field(default_factory=dict)
    """The words of each, folded."""


def fused(found: Recall, wanted: int) -> list[int]:
    """The candidates of one knowledge base: the lexical lists fused into one, then that with the vector list.

    The best that hold an asked key exactly are candidates however the lists rank them.
    """
    pool = max(_LEAST_POOL, wanted + _SPARE_POOL)
    lists = found.lists()
    lexical = reciprocal_rank_fusion((1.0, lists[arm]) for arm in ("structured", "keyword", "keyword_rewrite"))
    both = reciprocal_rank_fusion((1.0, keys) for keys in ([key for key, _ in lexical], lists["vector"]))
    chosen = [key for key, _ in both[:pool]]
    exact = dict.fromkeys(match.chunk_key for match in found.structured if match.exact)
    return list(dict.fromkeys([*chosen, *islice(exact, pool)]))


def weighed(tx: Reading, asked: Asked, scope: Scope, found: Sequence[Recall], wanted: int) -> Weighed:
    """Read the candidates' words in one transaction, which has the last say on what may be shown, and weigh them.

    Scores of knowledge bases with the same model are compared; those of different models mean
    different things, so there the orders are fused by rank.
    """
    result = Weighed()
    plan = asked.whole
    tokens = (*plan.tokens, *(character for one in found for character in one.lonely))
    summed = sum(_weights((*tokens, *plan.aliases), found).values()) or 1.0
    weights = _weights(tokens, found)
    reader = CoverageReader(weights, plan.aliases, _named(plan, found), (*plan.versions, *plan.codes))
    reading = _Reading(plan, reader, _translation(plan, weights), summed, scope, wanted)
    by_model: dict[str, list[Evidence]] = {}
    for one in found:
        model = one.query.fingerprint if one.query is not None else ""
        by_model.setdefault(model, []).extend(_weigh_one(tx, reading, one, result))
    result.scores = _scores(list(by_model.values()))
    return result


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the candidates are read: `summed` is the weight of all tokens together."""

    plan: Plan
    coverage: CoverageReader
    translation: Translation | None
    summed: float
    scope: Scope
    wanted: int


def _weigh_one(tx: Reading, reading: _Reading, found: Recall, result: Weighed) -> list[Evidence]:
    """Read the candidates of one knowledge base, and return what speaks for each."""
    passages = chunks.passages(tx, found.knowledge_base.id, reading.scope, fused(found, reading.wanted))
    nearness = _nearness(tx, found, list(passages))
    stretches = long_dates(reading.plan)
    dated = chunks.dated_within(tx, list(passages), stretches) if stretches else set()
    bm25 = dict((*found.keyword_rewrite, *found.keyword))
    folded = {key: fold(passage.chunk.text) for key, passage in passages.items()}
    held = _held(reading.plan, found, passages, folded)
    for key, passage in passages.items():
        chunk = passage.chunk
        above = fold("\n".join((passage.document_name, *chunk.heading_path, chunk.context)))
        coverage = reading.coverage.read(above, folded[key], held.get(key, ()))
        result.coverage[key] = coverage
        language = language_of(chunk.text[:_LANGUAGE_SAMPLE])
        result.evidence[key] = Evidence(
            chunk_key=key,
            language=language,
            covered=coverage.whole,
            sentence=coverage.sentence,
            bm25=bm25.get(key, 0.0) / reading.summed,
            is_across=language not in (reading.plan.language, "other"),
            nearness=_as_asked(reading.plan, nearness.get(key)),
            dated=(key in dated) if stretches else None,
            translated=_translated(reading.translation, language, f"{above}\n{folded[key]}"),
        )
    result.passages.update(passages)
    result.folded.update(folded)
    result.tiers.update(_tiers(reading.plan, held))
    return [result.evidence[key] for key in passages]


def _translation(plan: Plan, weights: Mapping[str, float]) -> Translation | None:
    """The question in the other language. Where a name is asked for, the words around it say nothing of what it is."""
    if asks_exactly(plan) or asked_names(plan.asked):
        return None
    return Translation(fold(plan.asked), plan.language, weights)


def _translated(translation: Translation | None, language: str, folded: str) -> float:
    if translation is None or translation.language != language:
        return 0.0
    return translation.covered(folded)


def _weights(tokens: Iterable[str], found: Sequence[Recall]) -> dict[str, float]:
    """The inverse document frequency of each token over all that is searched, as BM25 has it."""
    frequency: Counter[str] = sum((one.frequency for one in found), Counter())
    size = sum(one.size for one in found)
    return {token: math.log(1 + (size - frequency[token] + 0.5) / (frequency[token] + 0.5)) for token in tokens}


def _scores(groups: Sequence[Sequence[Evidence]]) -> dict[int, float]:
    weighings = [weigh(group) for group in groups if group]
    if len(weighings) <= 1:
        return weighings[0] if weighings else {}
    orders = [sorted(scores, key=lambda key: (-scores[key], key)) for scores in weighings]
    return dict(reciprocal_rank_fusion((1.0, order) for order in orders))


def _nearness(tx: Reading, found: Recall, keys: list[int]) -> dict[int, Nearness]:
    """How near every candidate is, whichever list found it."""
    if found.query is None or found.model_key is None:
        return {}
    known = dict(found.vector)
    rest = [key for key in keys if key not in known]
    known.update(vectors.nearness(tx, found.model_key, rest, found.query.vector))
    return known


def _as_asked(plan: Plan, nearness: Nearness | None) -> Nearness | None:
    """Where a name is asked for, every sentence about such things is near, and only the whole tells them apart."""
    if nearness is None or not asks_exactly(plan):
        return nearness
    return Nearness(nearness.passage)


def _named(plan: Plan, found: Sequence[Recall]) -> dict[str, float]:
    """What each kind of exact thing that is asked for is worth: as much as two words that stand nowhere."""
    kinds = {"date": precise_dates(plan), "version": plan.versions, "code": plan.codes}
    size = sum(one.size for one in found)
    worth = 2 * math.log(1 + (size + 0.5) / 0.5)
    return {kind: worth for kind, asked in kinds.items() if asked}


def _held(
    plan: Plan, found: Recall, passages: Mapping[int, Passage], folded: Mapping[int, str]
) -> dict[int, dict[str, int]]:
    """For each candidate the kinds of exact things it holds, and where: 0 metadata or file name … 3 body."""
    held: dict[int, dict[str, int]] = {}
    for match in found.structured:
        if match.exact:
            kinds = held.setdefault(match.chunk_key, {})
            kinds[match.kind] = min(match.strength, kinds.get(match.kind, match.strength))
    written = {"version": plan.versions, "code": plan.codes}
    for key, passage in passages.items():
        for kind, values in written.items():
            if kind not in held.get(key, ()) and any(stands_in(value, folded[key]) for value in values):
                held.setdefault(key, {})[kind] = _IN_THE_TEXT
        strength = _phrase_strength(plan, passage, folded[key])
        if strength is not None:
            held.setdefault(key, {})[_PHRASE] = strength
    return held


def _tiers(plan: Plan, held: Mapping[int, Mapping[str, int]]) -> dict[int, int]:
    asked = sum(map(bool, (precise_dates(plan), plan.versions, plan.codes, plan.phrases)))
    return {
        key: tier_of(list(kinds.values()), complete=sum(kind != "name" for kind in kinds) >= asked)
        for key, kinds in held.items()
    }


def _phrase_strength(plan: Plan, passage: Passage, text: str) -> int | None:
    """Where the phrases in quotation marks stand: 2 in headings or the name, 3 in the text, None if one is missing."""
    if not plan.phrases:
        return None
    above = fold("\n".join((passage.document_name, *passage.chunk.heading_path)))
    if all(holds_phrase(above, phrase) for phrase in plan.phrases):
        return 2
    return (
        _IN_THE_TEXT
        if all(holds_phrase(above, phrase) or holds_phrase(text, phrase) for phrase in plan.phrases)
        else None
    )
