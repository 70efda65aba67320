"""The parts of an archive that are not JSON: vectors, and the codes of sentences, as docs/reference/archive.md says."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import WenyuanError
from wenyuan.store import sentence_codes

HASH_BYTES = 16
_LENGTH_BYTES = 4

Refuse = Callable[[str], WenyuanError]
"""Is told what is wrong with a part, and makes the error."""


def read_vectors(content: bytes, dimensions: int, refuse: Refuse) -> tuple[list[bytes], NDArray[np.float16]]:
    """The hashes of the texts that were embedded, and their vectors, one row each."""
    record = np.dtype([("hash", np.void, HASH_BYTES), ("vector", "<f2", (dimensions,))])
    if not content or len(content) % record.itemsize:
        raise refuse(f"does not hold vectors of {dimensions} dimensions")
    found = np.frombuffer(content, dtype=record)
    halves: NDArray[np.float16] = found["vector"]
    if not np.isfinite(halves).all() or not halves.any(axis=1).all():
        raise refuse("holds something that is no vector")
    return [bytes(one) for one in found["hash"]], halves


def sentence_record(input_hash: bytes, codes: bytes) -> bytes:
    """The codes of the sentences of one embedded text, as they stand in an archive."""
    return input_hash + len(codes).to_bytes(_LENGTH_BYTES, "little") + codes


def read_sentences(content: bytes, dimensions: int, refuse: Refuse) -> Iterator[tuple[bytes, bytes]]:
    """The hashes of embedded texts, and the codes of the sentences of each."""
    at = 0
    while at < len(content):
        start = at + HASH_BYTES + _LENGTH_BYTES
        end = start + int.from_bytes(content[at + HASH_BYTES : start], "little")
        codes = content[start:end]
        if end > len(content) or start > len(content) or not sentence_codes.are_possible(codes, dimensions):
            raise refuse(f"does not hold codes of {dimensions} dimensions")
        yield content[at : at + HASH_BYTES], codes
        at = end
