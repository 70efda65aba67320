"""From ranked candidates to hits: what is excluded or said twice is left out, and every hit tells why it is there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wenyuan.flows.recall import Recall
from wenyuan.flows.weigh import Weighed
from wenyuan.language.highlights import highlights
from wenyuan.language.postings import read_chunk
from wenyuan.language.words import decode_token
from wenyuan.rules.observer import Stage
from wenyuan.rules.ranking.selection import EXACTNESS, Ranked, without_duplicates
from wenyuan.store import chunks
from wenyuan.store.database import Reading
from wenyuan.types import ArmName, Chunk, Hit, Passage, Plan

# Neighbours fold some hits into others; so many more are at hand to take their place.
_SPARE = 16
_unsaid = re.compile(r"[^\w\s](?<!\d.)(?!\d)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Selecting:
    """How many hits, of which least score, with how many chunks before and after each."""

    top_k: int
    least_score: float
    neighbours: int


def selected(
    tx: Reading,
    stage: Stage,
    plan: Plan,
    found: Sequence[Recall],
    weighed: Weighed,
    ordered: Sequence[Ranked],
    wanted: Selecting,
) -> list[Hit]:
    """The hits, best first; what was left out, and why, is told in the stage's details."""
    dropped: list[tuple[int, str]] = []
    shown = [one for one in ordered if one.chunk_key in weighed.passages]
    excluded = {one.chunk_key for one in shown if _is_excluded(plan, weighed.passages[one.chunk_key])}
    dropped += [(key, "holds an excluded word") for key in sorted(excluded)]
    low = [one for one in shown if one.score < wanted.least_score]
    dropped += [(one.chunk_key, f"score {one.score:.3f} below {wanted.least_score}") for one in low]
    rest = [one for one in shown if one.chunk_key not in excluded and one.score >= wanted.least_score]
    most = wanted.top_k + (_SPARE if wanted.neighbours else 0)
    kept, repeated = without_duplicates(rest, lambda key: _said(weighed.passages[key], weighed.folded[key]), most)
    names = {key: passage.chunk_id for key, passage in weighed.passages.items()}
    dropped += [(key, f"says the same as {names[other]}") for key, other in repeated]
    surroundings: Mapping[int, tuple[Chunk, ...]] = {}
    if wanted.neighbours:
        kept, beside, surroundings = _with_neighbours(tx, kept, weighed.passages, wanted.neighbours)
        dropped += [(key, f"stands beside {names[other]}") for key, other in beside]
    kept = kept[: wanted.top_k]
    stage.count = len(kept)
    stage.details["dropped"] = [{"chunk": names[key], "reason": reason} for key, reason in dropped]
    ranks = _ranks(found)
    words = {token: decode_token(token) for token in plan.tokens}
    return [_hit(plan, words, weighed, one, ranks[one.chunk_key], surroundings.get(one.chunk_key, ())) for one in kept]


def _is_excluded(plan: Plan, passage: Passage) -> bool:
    """Whether a passage holds a word the question excludes; the keyword list alone would not have shown it."""
    if not plan.excluded:
        return False
    posting, _ = read_chunk(passage.document_name, passage.chunk)
    tokens = f"{posting.name} {posting.heading} {posting.body} {posting.alias}".split()
    return not set(plan.excluded).isdisjoint(tokens)


def _said(passage: Passage, folded: str) -> tuple[str, str]:
    """A passage's document, and its words: signs are left out unless they stand at a number."""
    return passage.document_id, "".join(_unsaid.sub("", folded).split())


def _with_neighbours(
    tx: Reading, kept: Sequence[Ranked], passages: Mapping[int, Passage], reach: int
) -> tuple[list[Ranked], list[tuple[int, int]], dict[int, tuple[Chunk, ...]]]:
    """Fold hits that stand within reach of a better one into it, and read what stands around the others."""
    main: list[Ranked] = []
    beside: list[tuple[int, int]] = []
    for one in kept:
        passage = passages[one.chunk_key]
        near = next((other.chunk_key for other in main if _is_near(passage, passages[other.chunk_key], reach)), None)
        if near is None:
            main.append(one)
        else:
            beside.append((one.chunk_key, near))
    around = {}
    for one in main:
        passage = passages[one.chunk_key]
        first = max(0, passage.chunk.seq - reach)
        read = chunks.of_revision(tx, passage.revision_id, first, passage.chunk.seq + reach + 1 - first)
        around[one.chunk_key] = tuple(chunk for chunk in read if chunk.seq != passage.chunk.seq)
    return main, beside, around


def _is_near(some: Passage, other: Passage, reach: int) -> bool:
    return some.revision_id == other.revision_id and abs(some.chunk.seq - other.chunk.seq) <= reach


def _ranks(found: Sequence[Recall]) -> dict[int, dict[ArmName, int]]:
    ranks: dict[int, dict[ArmName, int]] = {}
    for one in found:
        for arm, keys in one.lists().items():
            for rank, key in enumerate(keys, start=1):
                ranks.setdefault(key, {})[arm] = rank
    return ranks


def _hit(
    plan: Plan,
    words: Mapping[str, str],
    weighed: Weighed,
    ranked: Ranked,
    ranks: Mapping[ArmName, int],
    surroundings: tuple[Chunk, ...],
) -> Hit:
    """`words` are the question's tokens as a person is shown them."""
    key = ranked.chunk_key
    passage, coverage = weighed.passages[key], weighed.coverage[key]
    modes = tuple(ranks)
    return Hit(
        passage=passage,
        score=ranked.score,
        score_kind="evidence",
        ranks=ranks,
        hit_modes=modes,
        match_type=modes[0] if len(modes) == 1 else "hybrid",
        highlights=highlights(passage.chunk.text, plan),
        neighbours=_neighbours(passage),
        exactness=EXACTNESS[ranked.tier],
        similarity=weighed.evidence[key].similarity,
        coverage=coverage.whole,
        matched=tuple(word for token, word in words.items() if token in coverage.matched),
        surroundings=surroundings,
        rerank_score=ranked.rerank_score,
    )


def _neighbours(passage: Passage) -> tuple[int, ...]:
    seq = passage.chunk.seq
    return tuple(near for near in (seq - 1, seq + 1) if 0 <= near < passage.chunk_count)
