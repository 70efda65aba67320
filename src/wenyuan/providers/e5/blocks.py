"""Q4_0 blocks: 32 weights of 4 bits under one float16 scale.

A block is 18 bytes: the scale, then 16 bytes whose low halves are the weights 0 to 15 and whose
high halves are the weights 16 to 31. A weight is `(nibble - 8) * scale`. The format is ggml's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK_WEIGHTS = 32
BLOCK_BYTES = 18


def dequantise(rows: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the float32 weights of rows of blocks: shape (n, blocks * 18) gives (n, blocks * 32)."""
    blocks = np.ascontiguousarray(rows).reshape(len(rows), -1, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2").astype(np.float32)
    packed = blocks[:, :, 2:]
    weights = np.empty((*blocks.shape[:2], BLOCK_WEIGHTS), np.float32)
    np.subtract(packed & 15, np.float32(8), out=weights[:, :, :16])
    np.subtract(packed >> 4, np.float32(8), out=weights[:, :, 16:])
    weights *= scales
    return weights.reshape(len(rows), -1)
