"""The Unigram tokenizer of multilingual-e5-small over tables that are mapped, not loaded.

Kudo, "Subword Regularization", arXiv:1804.10959: of all ways to cut a word into pieces, the one
with the greatest sum of scores, found by dynamic programming. The pieces stand in a trie whose
edges are one open-addressing hash table, so that opening a vocabulary of 250,000 pieces takes no
time and almost no memory.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wenyuan.providers.e5.files import save_array

_WORD_START = "▁"
_CHARACTER_BITS = 21
_NODE_BITS = 21
_HASH_FACTOR = 0x9E3779B1
_HASH_SHIFT = 12
_UNKNOWN_PENALTY = 10.0
"""What a character outside the vocabulary scores below the rarest piece; SentencePiece's constant."""

_LONGEST_INPUT = 8_192
"""Characters looked at: a piece has at most 16 of them, and the model takes at most 512 pieces."""

_LONGEST_CACHED_WORD = 24
_CACHED_WORDS = 8_192
_SPACES = re.compile(" {2,}")

_EDGES, _PIECES, _SCORES, _SETTINGS = "edges.npy", "pieces.npy", "scores.npy", "tokenizer.json"
TABLE_FILES = (_EDGES, _PIECES, _SCORES, _SETTINGS)


def write_tables(
    folder: Path,
    pieces: Sequence[str],
    scores: NDArray[np.float32],
    normalisation: dict[int, str],
    *,
    special: Collection[int],
    begin: int,
    end: int,
    unknown: int,
) -> None:
    """Write a vocabulary as the tables that `Tokenizer` opens.

    The ids in `special` are left out of the trie, so that a text which spells `<s>` is a text
    with three characters and not the beginning of one.
    """
    listed = [piece for piece in range(len(pieces)) if piece not in special and pieces[piece]]
    keys, ends = _trie([pieces[piece] for piece in listed])
    node_pieces = np.full(len(keys) + 1, -1, np.int32)
    node_scores = np.zeros(len(keys) + 1, np.float32)
    node_pieces[ends] = listed
    node_scores[ends] = scores[listed]
    save_array(folder / _EDGES, _hash_table(keys))
    save_array(folder / _PIECES, node_pieces)
    save_array(folder / _SCORES, node_scores)
    settings = {
        "begin": begin,
        "end": end,
        "unknown": unknown,
        "unknown_score": float(scores.min()) - _UNKNOWN_PENALTY,
        "normalisation": {chr(character): text for character, text in normalisation.items()},
    }
    (folder / _SETTINGS).write_text(json.dumps(settings, sort_keys=True), encoding="utf-8")


def _trie(pieces: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the key of the edge into every node but the root, and the node each piece ends at.

    Node n + 1 is the one that edge n leads to; a key is the parent node and the character.
    """
    lengths = np.array([len(piece) for piece in pieces])
    characters = np.zeros((len(pieces), int(lengths.max())), np.uint64)
    for row, piece in enumerate(pieces):
        characters[row, : len(piece)] = [ord(character) for character in piece]
    nodes = np.zeros(len(pieces), np.uint64)
    levels: list[NDArray[np.uint64]] = []
    count = 1
    for depth in range(characters.shape[1]):
        reaching = np.flatnonzero(lengths > depth)
        keys = (nodes[reaching] << np.uint64(_CHARACTER_BITS)) | characters[reaching, depth]
        distinct, positions = np.unique(keys, return_inverse=True)
        nodes[reaching] = (positions + count).astype(np.uint64)
        levels.append(distinct)
        count += len(distinct)
    return np.concatenate(levels), nodes.astype(np.int64)


def _hash_table(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return an open-addressing table, at most half full; an entry is a key and the node it leads to."""
    size = 1 << math.ceil(math.log2(2 * len(keys)))
    table = np.zeros(size, np.uint64)
    entries = (keys << np.uint64(_NODE_BITS)) | np.arange(1, len(keys) + 1, dtype=np.uint64)
    slots = ((keys * np.uint64(_HASH_FACTOR)) >> np.uint64(_HASH_SHIFT)) & np.uint64(size - 1)
    waiting = np.arange(len(keys))
    while len(waiting):
        free = waiting[table[slots[waiting]] == 0]
        _, first = np.unique(slots[free], return_index=True)
        placed = free[first]
        table[slots[placed]] = entries[placed]
        waiting = np.setdiff1d(waiting, placed, assume_unique=True)
        slots[waiting] = (slots[waiting] + np.uint64(1)) & np.uint64(size - 1)
    return table


class Tokenizer:
    """Turns a text into token ids; safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        self._begin: int = settings["begin"]
        self._end: int = settings["end"]
        self._unknown: int = settings["unknown"]
        self._unknown_score: float = settings["unknown_score"]
        self._normalisation = str.maketrans(settings["normalisation"])
        # Indexing a memoryview gives Python numbers, several times faster than indexing an array.
        self._edges = memoryview(np.load(folder / _EDGES, mmap_mode="r"))
        self._pieces = memoryview(np.load(folder / _PIECES, mmap_mode="r"))
        self._scores = memoryview(np.load(folder / _SCORES, mmap_mode="r"))
        self._cached_word = lru_cache(_CACHED_WORDS)(self._word)

    def encode(self, text: str, limit: int) -> list[int]:
        """Return at most `limit` token ids, the marks of beginning and end included."""
        ids = [self._begin]
        for word in self._words(text):
            ids += self._cached_word(word) if len(word) <= _LONGEST_CACHED_WORD else self._word(word)
            if len(ids) >= limit:
                break
        del ids[limit - 1 :]
        ids.append(self._end)
        return ids

    def _words(self, text: str) -> list[str]:
        # The table of single characters was made from NFKC, which composes; so compose first.
        normal = unicodedata.normalize("NFC", text[:_LONGEST_INPUT]).translate(self._normalisation)
        normal = _SPACES.sub(" ", normal)
        words = normal.removeprefix(" ").split(" ")
        return [_WORD_START + word for word in words]

    def _word(self, word: str) -> tuple[int, ...]:
        """Return the pieces of one word that have the greatest sum of scores."""
        edges, pieces, scores, mask = self._edges, self._pieces, self._scores, len(self._edges) - 1
        codes = [ord(character) for character in word]
        length = len(codes)
        best = [-math.inf] * (length + 1)
        best[0] = 0.0
        last = [(self._unknown, 0)] * (length + 1)
        for start in range(length):
            score = best[start] + self._unknown_score
            if score > best[start + 1]:
                best[start + 1] = score
                last[start + 1] = (self._unknown, start)
            node = 0
            for end in range(start + 1, length + 1):
                key = node << _CHARACTER_BITS | codes[end - 1]
                slot = key * _HASH_FACTOR >> _HASH_SHIFT & mask
                entry = edges[slot]
                while entry and entry >> _NODE_BITS != key:
                    slot = slot + 1 & mask
                    entry = edges[slot]
                if not entry:
                    break
                node = entry & ((1 << _NODE_BITS) - 1)
                piece = pieces[node]
                if piece >= 0:
                    score = best[start] + scores[node]
                    if score > best[end]:
                        best[end] = score
                        last[end] = (piece, start)
        return self._retrace(last)

    def _retrace(self, last: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        ids: list[int] = []
        position = len(last) - 1
        while position:
            piece, position = last[position]
            # A run of unknown characters is one unknown piece.
            if piece != self._unknown or not ids or ids[-1] != piece:
                ids.append(piece)
        ids.reverse()
        return tuple(ids)
