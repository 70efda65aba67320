"""Finding the files that were meant by a path."""

from __future__ import annotations

import fnmatch
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wenyuan.errors import InvalidValue, PathNotFound

EXCLUDED_NAMES = (
    ".*",
    "~$*",
    "*~",
    "*.swp",
    "*.tmp",
    "*.pyc",
    "__pycache__",
    "node_modules",
    "venv",
    "Thumbs.db",
    "desktop.ini",
    "*.egg-info",
)
"""Hidden, temporary and generated files and folders, left out of a folder unless asked for by name."""

_UNREAD = """
    .png .jpg .jpeg .gif .webp .bmp .tif .tiff .ico .heic .mp3 .wav .flac .ogg .m4a .mp4 .mov .avi
    .mkv .webm .zip .gz .bz2 .xz .zst .7z .rar .tar .tgz .jar .whl .iso .dmg .exe .dll .so .dylib .o
    .a .class .wasm .bin .ttf .otf .woff .woff2 .sqlite .db .npy .npz .onnx .pt .pdf .doc .docx .xls
    .xlsx .ppt .pptx .odt .ods .odp .rtf .epub .msg
"""
UNREAD_SUFFIXES = frozenset(_UNREAD.split())
"""Types that no reader reads yet: in a folder they are counted and passed over, named alone they are an error."""


@dataclass(slots=True)
class Gathering:
    """What was passed over while walking: reasons with their numbers, e.g. `{".png": 3, "excluded": 2}`."""

    passed_over: Counter[str] = field(default_factory=Counter)


def gather(paths: Sequence[Path], exclude: Sequence[str], library: Path, gathering: Gathering) -> Iterator[Path]:
    """Yield the absolute path of every file meant, each once, folders in alphabetical order.

    `exclude` holds glob patterns for names or for paths below the folder given. Links to folders
    are not followed, and the library itself is never added. Raises `PathNotFound`, or `InvalidValue`
    for a path inside the library, before the first file.
    """
    home = library.resolve()
    for path in paths:
        if not os.path.lexists(path):
            raise PathNotFound(path=path)
        if home in (path.resolve(), *path.resolve().parents):
            raise InvalidValue(what="A path to add", value=str(path), reason="it lies in the library itself")
    return _gather(paths, exclude, home, gathering)


def _gather(paths: Sequence[Path], exclude: Sequence[str], home: Path, gathering: Gathering) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in paths:
        absolute = Path(os.path.abspath(path))
        files = _walk(absolute, exclude, home, gathering) if absolute.is_dir() else iter((absolute,))
        for file in files:
            if file not in seen:
                seen.add(file)
                yield file


def _walk(root: Path, exclude: Sequence[str], library: Path, gathering: Gathering) -> Iterator[Path]:
    for folder, folders, files in os.walk(root, onerror=lambda _: gathering.passed_over.update(["unreadable"])):
        here = Path(folder)
        kept = [name for name in sorted(folders) if not _excluded(here / name, root, exclude)]
        gathering.passed_over["excluded"] += len(folders) - len(kept)
        folders[:] = [name for name in kept if not (here / name).is_symlink() and (here / name).resolve() != library]
        for name in sorted(files):
            file = here / name
            if _excluded(file, root, exclude):
                gathering.passed_over["excluded"] += 1
            elif file.suffix.lower() in UNREAD_SUFFIXES:
                gathering.passed_over[file.suffix.lower()] += 1
            else:
                yield file


def _excluded(path: Path, root: Path, exclude: Sequence[str]) -> bool:
    if any(fnmatch.fnmatch(path.name, pattern) for pattern in EXCLUDED_NAMES):
        return True
    relative = path.relative_to(root).as_posix()
    return any(fnmatch.fnmatch(path.name, pattern) or fnmatch.fnmatch(relative, pattern) for pattern in exclude)
