"""Finding the files that were meant by a path."""

from __future__ import annotations

import fnmatch
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wenyuan.errors import InvalidValue, PathNotFound
from wenyuan.parsers.pictures.recognition import is_installed
from wenyuan.rules.ignoring import IgnoreRules, ignore_rules

EXCLUDED_NAMES = (
    ".*",
    "~$*",
    "*~",
    "#*#",
    "*.swp",
    "*.swx",
    "*.tmp",
    "*.part",
    "*.partial",
    "*.crdownload",
    "*.pyc",
    "__pycache__",
    "node_modules",
    "venv",
    "Thumbs.db",
    "desktop.ini",
    "*.egg-info",
)
"""Hidden, temporary, unfinished and generated files and folders, left out of a folder unless asked for by name."""

_UNREAD = """
    .ico .heic .mp3 .wav .flac .ogg .m4a .mp4 .mov .avi
    .mkv .webm .zst .7z .rar .jar .whl .iso .dmg .exe .dll .so .dylib .o .a .class .wasm .bin .ttf
    .otf .woff .woff2 .sqlite .db .npy .npz .onnx .pt
"""
UNREAD_SUFFIXES = frozenset(_UNREAD.split())
"""Types that no reader reads yet: in a folder they are counted and passed over, named alone they are an error."""

PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"})
"""Pictures are passed over in the same way where nothing recognises their text."""

IGNORE_FILE = ".gitignore"
_LIBRARY_FILE = "wenyuan.db"
_LARGEST_IGNORE_FILE = 1 << 20


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns) or r"(?!)")


_EXCLUDED = _any_of(EXCLUDED_NAMES)


def is_excluded_name(name: str) -> bool:
    """Whether a file or folder of this name is left out of every folder."""
    return _EXCLUDED.match(name) is not None


@dataclass(slots=True)
class Gathering:
    """What was passed over while walking: reasons with their numbers, e.g. `{".png": 3, "excluded": 2}`."""

    passed_over: Counter[str] = field(default_factory=Counter)
    reads_pictures: bool | None = None
    """As for `Walk`."""


def gather(paths: Sequence[Path], exclude: Sequence[str], library: Path, gathering: Gathering) -> Iterator[Path]:
    """Yield the absolute path of every file meant, each once, folders in alphabetical order.

    `exclude` holds glob patterns for names or for paths below the folder given. Links to folders
    are not followed, and the library itself is never added. Raises `PathNotFound`, or `InvalidValue`
    for a path inside the library, before the first file.
    """
    for path in paths:
        refuse_library(path, library)
    return _gather(paths, exclude, library, gathering)


def refuse_library(path: Path, library: Path) -> None:
    """Raise `PathNotFound` for a path that is not there, and `InvalidValue` for one inside the library."""
    if not os.path.lexists(path):
        raise PathNotFound(path=path)
    if library.resolve() in (path.resolve(), *path.resolve().parents):
        raise InvalidValue(what="A path to add", value=str(path), reason="it lies in the library itself")


def _gather(paths: Sequence[Path], exclude: Sequence[str], library: Path, gathering: Gathering) -> Iterator[Path]:
    seen: set[str] = set()
    for path in paths:
        absolute = os.path.abspath(path)
        for file in _files(absolute, exclude, library, gathering) if os.path.isdir(absolute) else (absolute,):
            if file not in seen:
                seen.add(file)
                yield Path(file)


def _files(root: str, exclude: Sequence[str], library: Path, gathering: Gathering) -> Iterator[str]:
    walk = Walk(root, exclude, library, passed_over=gathering.passed_over, reads_pictures=gathering.reads_pictures)
    for _, entry in walk.files():
        yield entry.path
    gathering.passed_over["unreadable"] += len(walk.unreadable)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to be walked. `base` is the length of its path and a slash, for paths relative to it."""

    path: str
    relative: str
    is_wanted: bool
    """Whether all that is in it is wanted, or only what leads to something wanted."""
    ignoring: tuple[tuple[int, IgnoreRules], ...]


class Walk:
    """One walk through a folder, or through the parts of it that lie at or below the paths `within`.

    What is hidden, temporary, excluded, ignored by a `.gitignore`, of a type that nothing reads, or
    a library, is passed over and counted. `unreadable` are the folders that could not be listed, by
    their paths relative to the root, with the reason; `devices` those that were met. `reads_pictures` says
    whether something makes text of pictures; where nobody says, it is whether a recogniser is installed.
    """

    def __init__(
        self,
        root: str,
        exclude: Sequence[str],
        library: Path,
        *,
        within: Sequence[str] = ("",),
        passed_over: Counter[str] | None = None,
        reads_pictures: bool | None = None,
    ) -> None:
        self._root = root
        self._excluded = _any_of(tuple(exclude))
        self._library = _identity(str(library))
        takes_pictures = is_installed() if reads_pictures is None else reads_pictures
        self._unread = UNREAD_SUFFIXES if takes_pictures else UNREAD_SUFFIXES | PICTURE_SUFFIXES
        self._within = frozenset(within)
        self._towards = {parent for path in within for parent in _parents(path)}
        self.passed_over: Counter[str] = Counter() if passed_over is None else passed_over
        self.unreadable: dict[str, OSError] = {}
        self.devices: set[int] = set()

    def files(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield each file with its path relative to the root: a folder's own first, then those of its folders."""
        left = [_Folder(self._root, "", "" in self._within, ())]
        while left:
            folder = left.pop()
            try:
                with os.scandir(folder.path) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                # One that disappeared since its parent was listed holds nothing.
                if not (folder.relative and isinstance(error, FileNotFoundError)):
                    self.unreadable[folder.relative] = error
                continue
            names = {entry.name for entry in listed}
            if folder.relative and _LIBRARY_FILE in names:
                self.passed_over["library"] += 1
                continue
            ignoring = folder.ignoring
            if IGNORE_FILE in names:
                ignoring = (*ignoring, (len(_below(folder.relative)), _read_rules(folder.path)))
            folders: list[_Folder] = []
            yield from self._listed(folder, listed, ignoring, folders)
            left += reversed(folders)

    def _listed(
        self,
        folder: _Folder,
        entries: Sequence[os.DirEntry[str]],
        ignoring: tuple[tuple[int, IgnoreRules], ...],
        folders: list[_Folder],
    ) -> Iterator[tuple[str, os.DirEntry[str]]]:
        prefix = _below(folder.relative)
        for entry in entries:
            relative = prefix + entry.name
            is_wanted = folder.is_wanted or relative in self._within
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_wanted and not (is_folder and relative in self._towards):
                continue
            if reason := self._reason_against(entry.name, relative, is_folder, ignoring):
                self.passed_over[reason] += 1
            elif is_folder:
                if self._is_library(entry):
                    continue
                folders.append(_Folder(entry.path, relative, is_wanted, ignoring))
            elif not (entry.is_symlink() and os.path.isdir(entry.path)):
                yield relative, entry

    def _reason_against(
        self, name: str, relative: str, is_folder: bool, ignoring: Sequence[tuple[int, IgnoreRules]]
    ) -> str:
        """Why a file or folder is passed over; empty for what is wanted."""
        if _EXCLUDED.match(name) or self._excluded.match(name) or self._excluded.match(relative):
            return "excluded"
        for base, rules in reversed(ignoring):
            ignored = rules.ignores(relative[base:], is_folder=is_folder)
            if ignored is not None:
                if ignored:
                    return "ignored"
                break
        suffix = os.path.splitext(name)[1].lower()
        return suffix if suffix in self._unread and not is_folder else ""

    def _is_library(self, entry: os.DirEntry[str]) -> bool:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            # Gone meanwhile, or not to be listed either: that is told where it is walked.
            return False
        self.devices.add(status.st_dev)
        return (status.st_dev, status.st_ino) == self._library


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _below(relative: str) -> str:
    return f"{relative}/" if relative else ""


def _parents(path: str) -> Iterator[str]:
    """Every folder above a relative path, but not the root."""
    while (path := path.rpartition("/")[0]) != "":
        yield path


def _read_rules(folder: str) -> IgnoreRules:
    """The rules of a folder's `.gitignore`; none where it cannot be read."""
    try:
        with open(os.path.join(folder, IGNORE_FILE), "rb") as file:
            return ignore_rules(os.fsdecode(file.read(_LARGEST_IGNORE_FILE)))
    except OSError:
        return ignore_rules("")
