"""Files of people that a library keeps beside its database: evaluation sets and prompts, and their way into backups."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

EVALUATION, PROMPTS = "evaluation", "prompts"
FOLDERS = (EVALUATION, PROMPTS)

_LARGEST, _MOST, _LONGEST_NAME = 16 << 20, 10_000, 120
_NAME = re.compile(rf"({'|'.join(FOLDERS)})-((?:[0-9a-f]{{2}})+)")


def copy_own_files(library: Path, folder: Path) -> None:
    """Copy them into a folder, each under the name of its own folder, and its name in hex: backups know plain names."""
    for path in _own_files(library):
        shutil.copyfile(path, folder / f"{path.parent.name}-{os.fsencode(path.name).hex()}")


def own_file(name: str) -> str | None:
    """Where a file lies in a library that has such a name in a backup; None for another name."""
    match = _NAME.fullmatch(name)
    file = os.fsdecode(bytes.fromhex(match[2])) if match is not None else ""
    is_plain = bool(file) and not file.startswith(".") and not {"/", "\0"} & set(file)
    return f"{match[1]}/{file}" if match is not None and is_plain else None


def _own_files(library: Path) -> Iterator[Path]:
    """Plain files alone, of up to 16 MB, whose names have up to 120 bytes: a link could lead out of the library."""
    count = 0
    for folder in (library / name for name in FOLDERS):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            is_plain = path.is_file() and not path.is_symlink() and not path.name.startswith(".")
            is_short = len(os.fsencode(path.name)) <= _LONGEST_NAME
            if is_plain and is_short and path.stat().st_size <= _LARGEST and count < _MOST:
                count += 1
                yield path
