"""Postings in pages: which chunks of a segment hold a token, and how often in which field.

A page holds some tokens in the order of their characters: how many there are, where the name of each
ends, in how many chunks it stands, the names, and for each of those chunks its position in the
segment (uint16) and a count for each field (uint32). Nothing in it is compressed: it is read far more
often than written, and a page is small enough to lie in its row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from wenyuan.types import Posting

PAGE_BYTES = 1900
"""A row of this size stays in its table's own pages."""

MOST_CHUNKS = 1 << 16
"""A segment's positions are of 16 bits."""

FIELDS = ("name", "heading", "body", "alias")
_SHIFTS = {"body": 0, "heading": 12, "name": 20, "alias": 26}
_WIDTHS = {"body": 12, "heading": 8, "name": 6, "alias": 6}
"""The counts of a token in one chunk: together 32 bits, each at most what its bits hold."""


@dataclass(frozen=True, slots=True)
class Postings:
    """What a segment's chunks hold: `counts` postings of each token, one token after the other. Tokens are UTF-8."""

    tokens: Sequence[bytes]
    counts: NDArray[np.uint32]
    positions: NDArray[np.uint16]
    codes: NDArray[np.uint32]


def fields_of(codes: NDArray[np.uint32]) -> dict[str, NDArray[np.uint32]]:
    """How often the token stands in each field, of each posting."""
    return {name: (codes >> np.uint32(_SHIFTS[name])) & np.uint32((1 << _WIDTHS[name]) - 1) for name in FIELDS}


def inverted(postings: Iterable[Posting]) -> tuple[Postings, NDArray[np.int32]]:
    """Chunks as postings by token, and the length of each chunk in tokens."""
    held: list[dict[str, int]] = []
    lengths = []
    for posting in postings:
        length, codes = _codes(posting)
        held.append(codes)
        lengths.append(length)
    tokens = sorted(set(chain.from_iterable(held)))
    place = {token: number for number, token in enumerate(tokens)}
    total = sum(map(len, held))
    ids = np.fromiter(map(place.__getitem__, chain.from_iterable(held)), np.int64, total)
    values = np.fromiter(chain.from_iterable(codes.values() for codes in held), np.uint32, total)
    positions = np.repeat(np.arange(len(held), dtype=np.uint16), [len(codes) for codes in held])
    return _grouped([token.encode() for token in tokens], ids, positions, values), np.array(lengths, dtype=np.int32)


def merged(parts: Sequence[tuple[Postings, NDArray[np.int64]]]) -> Postings:
    """Several segments as one; of each, `places` says where its chunks go, negative for those that are gone."""
    tokens = sorted(set(chain.from_iterable(part.tokens for part, _ in parts)))
    place = {token: number for number, token in enumerate(tokens)}
    ids, positions, codes = [], [], []
    for part, places in parts:
        of_part = np.fromiter(map(place.__getitem__, part.tokens), np.int64, len(part.tokens))
        moved = places[part.positions]
        kept = moved >= 0
        ids.append(np.repeat(of_part, part.counts)[kept])
        positions.append(moved[kept].astype(np.uint16))
        codes.append(part.codes[kept])
    return _grouped(tokens, np.concatenate(ids), np.concatenate(positions), np.concatenate(codes))


def _grouped(
    tokens: Sequence[bytes], ids: NDArray[np.int64], positions: NDArray[np.uint16], codes: NDArray[np.uint32]
) -> Postings:
    order = np.argsort(ids, kind="stable")
    counts = np.bincount(ids, minlength=len(tokens)).astype(np.uint32)
    if not counts.all():
        tokens, counts = [token for token, count in zip(tokens, counts, strict=True) if count], counts[counts > 0]
    return Postings(tokens, counts, positions[order], codes[order])


def _codes(posting: Posting) -> tuple[int, dict[str, int]]:
    """How many tokens a chunk has, and for each the counts of its fields in one number."""
    codes: dict[str, int] = {}
    length = 0
    for name in FIELDS:
        found = getattr(posting, name).split()
        length += len(found)
        one, most = 1 << _SHIFTS[name], (1 << _WIDTHS[name]) - 1
        if len(found) <= most:
            for token in found:
                codes[token] = codes.get(token, 0) + one
        else:
            for token in set(found):
                codes[token] = codes.get(token, 0) + one * min(most, found.count(token))
    return length, codes


# --- Pages ---------------------------------------------------------------------------------------


def paged(postings: Postings) -> Iterator[tuple[bytes, bytes]]:
    """The pages of a segment, each with its first token."""
    lengths = np.fromiter(map(len, postings.tokens), np.uint32, len(postings.tokens))
    sizes = np.cumsum(8 + lengths + 6 * postings.counts, dtype=np.int64)
    ends = np.cumsum(postings.counts, dtype=np.int64)
    first, start, before = 0, 0, 0
    while first < len(lengths):
        last = max(first + 1, int(np.searchsorted(sizes, before + PAGE_BYTES, side="right")))
        end = int(ends[last - 1])
        content = b"".join(
            (
                (last - first).to_bytes(4, "little"),
                np.cumsum(lengths[first:last], dtype=np.uint32).tobytes(),
                postings.counts[first:last].tobytes(),
                postings.codes[start:end].tobytes(),
                postings.positions[start:end].tobytes(),
                *postings.tokens[first:last],
            )
        )
        yield postings.tokens[first], content
        first, start, before = last, end, int(sizes[last - 1])


class Page:
    """A page as it is read."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._count = int.from_bytes(content[:4], "little")
        self.counts: NDArray[np.uint32] = np.frombuffer(content, np.uint32, self._count, 4 + 4 * self._count)
        self._total = int(self.counts.sum())
        self._names = 4 + 8 * self._count + 6 * self._total

    @property
    def codes(self) -> NDArray[np.uint32]:
        return np.frombuffer(self._content, np.uint32, self._total, 4 + 8 * self._count)

    @property
    def positions(self) -> NDArray[np.uint16]:
        return np.frombuffer(self._content, np.uint16, self._total, 4 + 8 * self._count + 4 * self._total)

    def tokens(self) -> list[bytes]:
        content, base = self._content, self._names
        ends = np.frombuffer(content, np.uint32, self._count, 4).tolist()
        return [content[base + start : base + end] for start, end in pairwise((0, *ends))]

    def find(self, token: bytes) -> tuple[NDArray[np.uint16], NDArray[np.uint32]] | None:
        """Positions and codes of a token; None where it is not here."""
        tokens = self.tokens()
        number = bisect_left(tokens, token)
        if number == self._count or tokens[number] != token:
            return None
        start = int(self.counts[:number].sum())
        end = start + int(self.counts[number])
        return self.positions[start:end], self.codes[start:end]


def joined(pages: Sequence[Page]) -> Postings:
    """The postings of all pages of a segment, in order."""
    return Postings(
        list(chain.from_iterable(page.tokens() for page in pages)),
        np.concatenate([page.counts for page in pages]),
        np.concatenate([page.positions for page in pages]),
        np.concatenate([page.codes for page in pages]),
    )
