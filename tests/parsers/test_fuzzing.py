"""Files that programs wrote, damaged at random: each is read, or refused with a code; no reader falls over or hangs."""

from __future__ import annotations

import io
import random
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parsers.program_files import FILES
from wenyuan.errors import DocumentError, ParserCrashed, ParserTimeout
from wenyuan.parsers.pictures.recognition import ReadingSettings
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader

KINDS = (
    "pdf docx doc odt rtf pptx ppt odp xlsx xls ods csv epub html md txt ts yaml xml json ipynb srt vtt eml mbox zip "
    "gz png jpg webp tiff"
).split()
SECONDS = 120.0
LIMITS = ReadLimits(parse_seconds=30.0, parse_memory_bytes=600 << 20)
TOKENS = (
    b"\0",
    b"\xff\xff\xff\xff",
    b"<",
    b">",
    b"&#0;",
    b"{",
    b"}",
    b"[" * 40,
    b"%s",
    b"-1",
    b"99999999999",
    b"\r\n\r\n",
    b'"',
)


def seeds(kind: str) -> list[Path]:
    return sorted(path for path in FILES.iterdir() if path.suffix == f".{kind}")


def damaged(content: bytes, choose: random.Random) -> bytes:
    """The bytes with some of them changed, moved, lost or put in."""
    changed = bytearray(content)
    for _ in range(choose.randint(1, 12)):
        at = choose.randrange(len(changed) + 1)
        end = min(len(changed), at + choose.choice((1, 2, 8, 200)))
        match choose.randrange(6):
            case 0:
                changed[at:end] = choose.randbytes(end - at)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] * choose.choice((1, 3, 50))
            case 3:
                changed[at:at] = choose.choice(TOKENS)
            case 4:
                other = choose.randrange(len(changed) + 1)
                changed[at:end] = changed[other : other + end - at]
            case _:
                if choose.random() < 0.2:
                    del changed[at:]
    return bytes(changed)


def damaged_inside(content: bytes, choose: random.Random) -> bytes:
    """The same for one or two parts of an archive, which stays whole."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as written:
        names = archive.namelist()
        chosen = set(choose.sample(names, min(len(names), choose.randint(1, 2))))
        for name in names:
            part = archive.read(name)
            written.writestr(archive.getinfo(name).filename, damaged(part, choose) if name in chosen else part)
    return made.getvalue()


def variants(kind: str, seed: int) -> Iterator[tuple[str, bytes]]:
    """Damaged files of a kind, without end."""
    choose = random.Random(f"{kind} {seed}")
    files = seeds(kind)
    while True:
        path = choose.choice(files)
        content = path.read_bytes()
        is_archive = content.startswith(b"PK") and choose.random() < 0.8
        yield path.name, damaged_inside(content, choose) if is_archive else damaged(content, choose)


def read_all(reader: SandboxedReader, path: Path, name: str, content: bytes) -> None:
    path.write_bytes(content)
    try:
        for _ in reader.read(path, name):
            pass
    except (ParserCrashed, ParserTimeout):
        raise
    except DocumentError:
        return


@pytest.fixture(scope="module")
def reader() -> Iterator[SandboxedReader]:
    with SandboxedReader(LIMITS, ReadingSettings("off")) as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_damaged_files_of_every_kind(kind: str, reader: SandboxedReader, tmp_path: Path) -> None:
    assert seeds(kind)
    for _, (name, content) in zip(range(3), variants(kind, 1), strict=False):
        read_all(reader, tmp_path / "damaged", name, content)


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_of_every_kind(kind: str, reader: SandboxedReader, tmp_path: Path) -> None:
    until = time.monotonic() + SECONDS
    for name, content in variants(kind, random.randrange(1 << 30)):
        read_all(reader, tmp_path / "damaged", name, content)
        if time.monotonic() > until:
            return
