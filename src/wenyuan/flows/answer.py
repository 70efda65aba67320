"""Answering without a language model: the best sentences, verbatim, each with its citation."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import ConfigurationError, ProviderError
from wenyuan.flows.embed import fingerprint
from wenyuan.flows.evidence import citation_of_passage
from wenyuan.flows.retrieve import Retrieving
from wenyuan.language.aliases import aliases
from wenyuan.language.folding import fold
from wenyuan.language.questions.asked_values import asked_value, values_stated
from wenyuan.language.questions.named_things import names_others, only_repeats, said_besides
from wenyuan.language.words import index_tokens
from wenyuan.ports import Embedder
from wenyuan.rules.embedding_input import batches, embedding_input
from wenyuan.rules.explanations import explain_unanswered
from wenyuan.rules.extraction import Sentence, choose, led_to, opening, score, sentences_of
from wenyuan.rules.ranking.grounding import refined
from wenyuan.rules.ranking.question_fit import question_fit
from wenyuan.rules.sentences import telling_sentences
from wenyuan.store import indexes, sentence_codes, vectors
from wenyuan.types import Anchor, Answer, Citation, Exactness, Hit, Plan, SearchResult

_PASSAGES = 5
_SENTENCES = 24
_CITED = 3
_PLACES_TOLD = 3
_SAID = 0.5
"""The share of a question's words from which on a sentence answers it rather than the passage as a whole."""
_LABEL_LETTERS = 12
_LED_TO_COLUMNS = 480
_label = re.compile(r"(?:[-*+•]\s+)?(?:\*\*)?([^\s:：*][^:：\n*]{1,23})(?:\*\*)?\s*[:：]\s*(?:\*\*)?\s*\S")
_OPENINGS = 2
_OPENING_COLUMNS = 700
_LIKELY_ABOVE_FLOOR = 0.15
_REWRITTEN = frozenset({"text/html", "text/csv", "text/tab-separated-values"})
_EXACTNESS_WORTH: Mapping[Exactness, float] = {"about": 1.0, "mentions": 0.7, "none": 0.3}


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Sentences of the best passages, with how well each matches by words and by meaning."""

    sentences: Sequence[Sentence]
    matched: Sequence[float]
    similarities: Sequence[float] | None
    similarity_floor: float | None


def extract(tools: Retrieving, found: SearchResult) -> Answer:
    """Answer a question from what a search has found, or say that this does not answer it and why.

    What fails is named in the search's `degraded`.
    """
    if not found.hits:
        return Answer(found.question, found.explanation, (), "none", "fallback", found)
    hits = found.hits[:_PASSAGES]
    evidence, found = _evidence(tools, found, hits)
    chosen = _chosen(found.plan, evidence, hits) if evidence.sentences else []
    found = _refined(found, hits, chosen)
    if found.grounding.verdict == "unlikely" or not chosen:
        closest = list(dict.fromkeys(_place(hit) for hit in hits))[:_PLACES_TOLD]
        reason = explain_unanswered(found.grounding.missing, closest, found.plan.language)
        return Answer(found.question, reason, (), "unlikely", "fallback", found)
    citations = tuple(_citation(number, hits[one.passage], one) for number, one in enumerate(chosen, start=1))
    text = "\n".join(f"{citation.quote} [{citation.number}]" for citation in citations)
    return Answer(found.question, text, citations, "likely", "extractive", found)


def _place(hit: Hit) -> str:
    """The document of a passage and the heading it stands under, as people are told."""
    path = hit.passage.chunk.heading_path
    return " › ".join((hit.passage.document_name, *path[-1:]))


def _refined(found: SearchResult, hits: Sequence[Hit], chosen: Sequence[Sentence]) -> SearchResult:
    """The estimate once the sentences are known; what the question asks for exactly needs no other fit."""
    if not chosen or hits[chosen[0].passage].exactness == "about":
        return found
    passage = hits[chosen[0].passage].passage
    about = "\n".join((passage.document_name, *passage.chunk.heading_path, passage.chunk.context))
    fit = question_fit(found.plan.asked, [one.text for one in chosen], passage.chunk.text, about)
    grounding = refined(found.grounding, is_missing=bool(fit.missing), is_denied=fit.is_denied)
    return replace(found, grounding=grounding)


def _chosen(plan: Plan, evidence: _Evidence, hits: Sequence[Hit]) -> list[Sentence]:
    """The sentences that answer best; or the passage as a whole, where it is what was asked for.

    To "what was decided on 14 April" the notes of that day are the answer, though none of their
    sentences says so.
    """
    about = [number for number, hit in enumerate(hits) if hit.exactness == "about"]
    is_said = max(evidence.matched, default=0.0) >= _SAID
    if about and not is_said and not _is_close(evidence, evidence.similarities or ()):
        document = hits[about[0]].passage.document_id
        same = [number for number in about if hits[number].passage.document_id == document]
        return [opening(number, hits[number].passage.chunk.text, _OPENING_COLUMNS) for number in same[:_OPENINGS]]
    scored = score(
        evidence.sentences,
        evidence.matched,
        evidence.similarities,
        _passage_scores(hits),
        _stated(plan.asked, evidence.sentences),
        [only_repeats(one.text, plan, _LABEL_LETTERS) for one in evidence.sentences],
    )
    return _with_what_they_lead_to([one.sentence for one in choose(scored, _CITED)], hits)


def _with_what_they_lead_to(chosen: Sequence[Sentence], hits: Sequence[Hit]) -> list[Sentence]:
    """The sentences, one that leads to others with those. Where the first does, it is the answer."""
    first = led_to(chosen[0], hits[chosen[0].passage].passage.chunk.text, _LED_TO_COLUMNS)
    if first != chosen[0]:
        return [first]
    return [led_to(one, hits[one.passage].passage.chunk.text, _LED_TO_COLUMNS) for one in chosen]


def _stated(question: str, sentences: Sequence[Sentence]) -> list[bool]:
    """Whether each sentence states a value of the kind that is asked for, and not only those in the question."""
    asked = asked_value(question)
    if asked is None:
        return [False] * len(sentences)
    known = values_stated(question, asked)
    return [bool(values_stated(sentence.text, asked) - known) for sentence in sentences]


def _is_close(evidence: _Evidence, similarities: Sequence[float]) -> bool:
    """Whether something is near the question in meaning, beyond doubt."""
    if not similarities or evidence.similarity_floor is None:
        return False
    return max(similarities) >= evidence.similarity_floor + _LIKELY_ABOVE_FLOOR


def _evidence(tools: Retrieving, found: SearchResult, hits: Sequence[Hit]) -> tuple[_Evidence, SearchResult]:
    sentences = sentences_of([hit.passage.chunk.text for hit in hits], _SENTENCES)
    matched = _matched(tools, found.plan, hits, [sentence.text for sentence in sentences])
    try:
        embedder = _embedder(tools, hits)
        similarities = _similarities(tools, embedder, found.plan, hits, sentences) if embedder is not None else None
        floor = embedder.similarity_floor if embedder is not None else None
        return _Evidence(sentences, matched, similarities, floor), found
    except (ProviderError, ConfigurationError) as error:
        degraded = replace(found, degraded=(*found.degraded, f"answer: {error.code}"))
        return _Evidence(sentences, matched, None, None), degraded


def _embedder(tools: Retrieving, hits: Sequence[Hit]) -> Embedder | None:
    """The model of the best passage's knowledge base, where the search could use it."""
    if all(hit.similarity is None for hit in hits):
        return None
    with tools.database.read() as tx:
        generation = indexes.active(tx, hits[0].passage.knowledge_base_id, "vector")
    return tools.embedder_for(tools.model_of(generation)) if generation is not None else None


def _similarities(
    tools: Retrieving, embedder: Embedder, plan: Plan, hits: Sequence[Hit], sentences: Sequence[Sentence]
) -> list[float]:
    """Cosine similarity of each sentence, by its vector where it has one, else embedded now."""
    query = embedder.embed([plan.asked], "query", tools.embed_seconds)[0]
    known = _known_similarities(tools, embedder, query, hits)
    rest = [one for one in sentences if (one.passage, one.start) not in known]
    texts = [embedding_input(hits[one.passage].passage.chunk.heading_path, "", one.text) for one in rest]
    inputs = ((text, len(text)) for text in texts)
    made = [
        float(value)
        for batch in batches(inputs, embedder.max_batch_texts, embedder.max_batch_characters)
        for value in embedder.embed(batch, "passage", tools.embed_seconds) @ query
    ]
    known.update(((one.passage, one.start), value) for one, value in zip(rest, made, strict=True))
    return [known[one.passage, one.start] for one in sentences]


def _known_similarities(
    tools: Retrieving, embedder: Embedder, query: NDArray[np.float32], hits: Sequence[Hit]
) -> dict[tuple[int, int], float]:
    """Of the sentences that this model has embedded before, by the number of their passage and where they begin."""
    keys = [hit.passage.chunk_key for hit in hits]
    with tools.database.read() as tx:
        model = vectors.known_model_key(tx, fingerprint(embedder.identity))
        codes = vectors.sentences_of(tx, model, keys, len(query)) if model is not None else {}
    known: dict[tuple[int, int], float] = {}
    for number, hit in enumerate(hits):
        of_hit = codes.get(hit.passage.chunk_key)
        told = telling_sentences(hit.passage.chunk.text)
        if of_hit == b"" and len(told) == 1 and hit.similarity is not None:
            known[number, told[0][0]] = hit.similarity
        elif of_hit:
            scores = sentence_codes.similarities(of_hit, query).tolist()
            # Of very many, several were embedded together.
            if len(scores) == len(told):
                known.update(((number, start), score) for (start, _), score in zip(told, scores, strict=True))
    return known


def _matched(tools: Retrieving, plan: Plan, hits: Sequence[Hit], texts: Sequence[str]) -> list[float]:
    """The share of the question's tokens each text holds, weighted by inverse document frequency."""
    # What a passage is about, or alone names, need not be said again in each of its sentences.
    if _is_about(plan, hits):
        tokens: Sequence[str] = index_tokens(said_besides(plan.asked, plan))
    else:
        tokens = (*plan.tokens, *plan.aliases)
    frequency: Counter[str] = Counter()
    size = 0
    with tools.database.read() as tx:
        for knowledge_base_id in {hit.passage.knowledge_base_id for hit in hits}:
            generation = indexes.active(tx, knowledge_base_id, "lexical")
            if generation is not None:
                frequency.update(tx.lexical.document_frequency(tx, generation.number, tokens))
                size += tx.lexical.size(tx, generation.number)
    weights = {token: math.log(1 + size / (1 + frequency[token])) for token in tokens}
    total = sum(weights.values()) or 1.0
    besides = fold(said_besides(plan.asked, plan))
    return [
        1.0 if _is_labelled(text, besides) else sum(weights[token] for token in _tokens(text) & weights.keys()) / total
        for text in texts
    ]


def _is_about(plan: Plan, hits: Sequence[Hit]) -> bool:
    """Whether the first passage that has what a question names is about it: by its title, or as it names no other."""
    for hit in hits:
        if hit.exactness != "none":
            return hit.exactness == "about" or not names_others(hit.passage.chunk.text, plan)
    return False


def _is_labelled(text: str, asked: str) -> bool:
    """Whether a line says of what is asked for what it is, as `Amount: 45,800` does of the amount."""
    label = _label.match(text)
    return label is not None and _holds_word(asked, fold(label[1]).strip())


def _holds_word(text: str, word: str) -> bool:
    place = text.find(word)
    if place < 0 or not word.isascii():
        return place >= 0
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _tokens(text: str) -> set[str]:
    return {*index_tokens(text), *aliases(text).tokens}


def _passage_scores(hits: Sequence[Hit]) -> list[float]:
    """What each passage's place in the search is worth to its sentences.

    Where something was asked for exactly, a passage without it can hardly answer.
    """
    exact = any(hit.exactness != "none" for hit in hits)
    return [
        (1.0 - 0.05 * position) * (_EXACTNESS_WORTH[hit.exactness] if exact else 1.0)
        for position, hit in enumerate(hits)
    ]


def _citation(number: int, hit: Hit, sentence: Sentence) -> Citation:
    citation = citation_of_passage(number, hit.passage, sentence.start, sentence.end)
    return replace(citation, anchor=_narrowed(hit, sentence))


def _narrowed(hit: Hit, sentence: Sentence) -> Anchor:
    """The sentence's own lines, where the passage's lines are the file's lines one to one."""
    anchor, text = hit.passage.chunk.anchor, hit.passage.chunk.text
    # Elsewhere, as in HTML, an equal number of lines is a coincidence.
    written_as_shown = hit.passage.media_type.startswith("text/") and hit.passage.media_type not in _REWRITTEN
    if not written_as_shown or anchor.kind != "lines" or anchor.last - anchor.first != text.count("\n"):
        return anchor
    first = anchor.first + text.count("\n", 0, sentence.start)
    return replace(anchor, first=first, last=first + sentence.text.count("\n"))
