"""AES (FIPS 197), backwards only: for documents that someone has locked and gives the password of.

Many blocks at once, by tables. It is not made to keep a secret from whoever measures this process, and
there is nothing here to encrypt.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

BLOCK = 16
_CHUNK_BLOCKS = 1 << 15
_POLYNOMIAL = 0x1B
# Row r of the state has moved r columns to the right.
_SHIFTED_BACK = [row + 4 * ((column - row) % 4) for column in range(4) for row in range(4)]


def decrypted_blocks(key: bytes, data: bytes) -> bytes:
    """Whole blocks, each decrypted alone (ECB). The key has 16, 24 or 32 bytes."""
    round_keys = _round_keys(key)
    blocks = np.frombuffer(data, np.uint8).reshape(-1, BLOCK)
    parts = [
        _decrypted(blocks[at : at + _CHUNK_BLOCKS], round_keys).tobytes() for at in range(0, len(blocks), _CHUNK_BLOCKS)
    ]
    return b"".join(parts)


def decrypted_chain(key: bytes, vector: bytes, data: bytes) -> bytes:
    """Whole blocks that were chained (CBC), the first to `vector`."""
    plain = np.frombuffer(decrypted_blocks(key, data), np.uint8)
    before = np.frombuffer((vector + data)[: len(data)], np.uint8)
    return (plain ^ before).tobytes()


def _decrypted(blocks: Bytes, round_keys: Bytes) -> Bytes:
    inverse, nine, eleven, thirteen, fourteen = _tables()
    state: Bytes = blocks ^ round_keys[-1]
    for number in range(len(round_keys) - 2, -1, -1):
        state = inverse[state[:, _SHIFTED_BACK]] ^ round_keys[number]
        if number:
            columns = state.reshape(-1, 4, 4)
            second, third, fourth = (np.roll(columns, -turn, axis=2) for turn in (1, 2, 3))
            mixed = fourteen[columns] ^ eleven[second] ^ thirteen[third] ^ nine[fourth]
            state = mixed.reshape(-1, BLOCK)
    return state


def _round_keys(key: bytes) -> Bytes:
    """One key for each round, from the one that was given (FIPS 197, 5.2)."""
    substitution = _substitution()
    size = len(key) // 4
    words = [list(key[at : at + 4]) for at in range(0, len(key), 4)]
    constant = 1
    while len(words) < 4 * (size + 7):
        word = list(words[-1])
        if len(words) % size == 0:
            word = [substitution[byte] for byte in [*word[1:], word[0]]]
            word[0] ^= constant
            constant = _doubled(constant)
        elif size > 6 and len(words) % size == 4:
            word = [substitution[byte] for byte in word]
        words.append([left ^ right for left, right in zip(words[-size], word, strict=True)])
    return np.array(words, np.uint8).reshape(-1, BLOCK)


@cache
def _substitution() -> list[int]:
    """The S-box: the inverse in GF(2^8), its bits mixed (FIPS 197, 5.1.1)."""
    found = [0x63] * 256
    element = inverse = 1
    while True:
        element ^= _doubled(element)
        inverse ^= inverse << 1
        inverse ^= inverse << 2
        inverse = (inverse ^ inverse << 4) & 0xFF
        inverse ^= 0x09 if inverse & 0x80 else 0
        mixed = inverse
        for turn in range(1, 5):
            mixed ^= (inverse << turn | inverse >> 8 - turn) & 0xFF
        found[element] = mixed ^ 0x63
        if element == 1:
            return found


@cache
def _tables() -> tuple[Bytes, Bytes, Bytes, Bytes, Bytes]:
    """The inverse of the S-box, and what 9, 11, 13 and 14 times each byte is."""
    substitution = _substitution()
    inverse = np.zeros(256, np.uint8)
    inverse[substitution] = np.arange(256)
    multiples = []
    for factor in (9, 11, 13, 14):
        products = []
        for byte in range(256):
            product, power = 0, byte
            for bit in range(4):
                product ^= power if factor >> bit & 1 else 0
                power = _doubled(power)
            products.append(product)
        multiples.append(np.array(products, np.uint8))
    return inverse, multiples[0], multiples[1], multiples[2], multiples[3]


def _doubled(byte: int) -> int:
    return (byte << 1 ^ (_POLYNOMIAL if byte & 0x80 else 0)) & 0xFF
