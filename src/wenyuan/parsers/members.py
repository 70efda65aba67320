"""Files inside of the file being read, on their way to become documents: which are let through, under which paths.

A reader yields them piece by piece as `Member`; `in_pieces` does that.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Final

from wenyuan.errors import FileOverLimit
from wenyuan.parsers.detection import type_by_name
from wenyuan.parsers.pictures.recognition import allowance
from wenyuan.parsers.registry import is_read
from wenyuan.parsers.signatures import OLE, ZIP, signature_format
from wenyuan.parsers.text.decoding import without_surrogates
from wenyuan.types import Anchor, Block, Member, Notice

MOST_MEMBERS: Final = 10_000
MOST_BYTES: Final = 300_000_000
"""All members of a file together, as they are when unpacked."""

LISTING: Final = "contents"
"""Names the lines of a list of what is in a file, which are not lines of the file itself."""

# Loaded only where there are pictures.
_PICTURE_FILES = "wenyuan.parsers.pictures.files"
_LONGEST_PATH = 500
_PIECE_BYTES = 1 << 18
_NAMED_IN_NOTICE = 20
_JUNK_FOLDERS = frozenset({"__macosx", ".git", ".svn", ".hg"})
_JUNK_NAMES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


def in_pieces(path: str, data: bytes | Iterable[bytes], media_type: str = "") -> Iterator[Member]:
    """A file inside of another one, cut into the pieces in which it travels."""
    held: bytes | None = None
    for large in (data,) if isinstance(data, bytes) else data:
        for start in range(0, len(large), _PIECE_BYTES):
            if held is not None:
                yield Member(path, held, media_type, is_last=False)
            held = large[start : start + _PIECE_BYTES]
    yield Member(path, held or b"", media_type)


def member_path(path: str) -> str:
    """A path that cannot lead out of its container: `/` between its parts, no `..`, no control characters."""
    printable = "".join(
        " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
        for character in without_surrogates(path).replace("\\", "/")
    )
    parts = [part.strip() for part in printable.split("/")]
    sound = "/".join(part for part in parts if part not in ("", ".", ".."))
    if len(sound) > _LONGEST_PATH:
        # The end has the name and what it promises.
        sound = sound[-_LONGEST_PATH:].lstrip("/")
    return sound or "unnamed"


def is_junk(path: str) -> bool:
    """Whether a member is what systems leave behind in archives, of which nobody wants to be told."""
    *folders, name = path.casefold().split("/")
    return name in _JUNK_NAMES or name.startswith("._") or any(folder in _JUNK_FOLDERS for folder in folders)


def listing(paths: Iterable[str]) -> Iterator[Block]:
    """The paths of what is in a file as text, by which the file itself is found; its lines count from 1."""
    lines = [member_path(path) for path in paths]
    if lines:
        yield Block("list", "\n".join(lines), Anchor("lines", 1, len(lines), LISTING))


class MemberGate:
    """Lets those members of one file through that a document can be made of, and counts; remembers the others."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._paths: dict[str, int] = {}
        """Each path that was given, with how often it was asked for."""
        self._unread: list[str] = []
        self._bytes = 0
        self._path = ""
        """Of the member whose pieces are coming; empty between members."""
        self._given_path = ""
        self._is_let_through = False
        self.has_passed = False

    def passed(self, piece: Member) -> Iterator[Member]:
        """The piece under its sound and unique path, or nothing. Raises `FileOverLimit`."""
        if not self._path:
            self._begin(piece)
        self._bytes += len(piece.data)
        if self._bytes > MOST_BYTES:
            raise FileOverLimit(name=self._name, what=f"files of more than {MOST_BYTES // 1_000_000} MB when unpacked")
        if self._is_let_through:
            self.has_passed = True
            yield Member(self._path, piece.data, piece.media_type, piece.is_last)
        if piece.is_last:
            self._path = ""

    def notices(self) -> Iterator[Notice]:
        """One notice that names what no document could be made of."""
        if self._unread:
            shown = ", ".join(self._unread[:_NAMED_IN_NOTICE])
            more = len(self._unread) - _NAMED_IN_NOTICE
            rest = f" and {more} more" if more > 0 else ""
            text = f"These files inside are empty or of kinds that are not read: {shown}{rest}."
            yield Notice("members-not-read", text)

    def _begin(self, piece: Member) -> None:
        path = member_path(piece.path)
        self._path = self._unique(path)
        is_junk_file = is_junk(path)
        self._is_let_through = not is_junk_file and _is_readable(path, piece)
        if not self._is_let_through and not is_junk_file:
            self._unread.append(self._path)

    def _unique(self, path: str) -> str:
        if len(self._paths) >= MOST_MEMBERS:
            raise FileOverLimit(name=self._name, what=f"more than {MOST_MEMBERS:,} files")
        unique = path
        while unique in self._paths:
            self._paths[path] += 1
            stem, suffix = posixpath.splitext(path)
            unique = f"{stem} ({self._paths[path]}){suffix}"
        self._paths[unique] = 1
        return unique


def _is_readable(path: str, piece: Member) -> bool:
    """Whether a reader is likely to make something of the file, by its first bytes; the reader itself knows better."""
    if not piece.data:
        return False
    is_binary = b"\0" in piece.data[: 1 << 16]
    found = signature_format(piece.data, is_binary)
    if found is not None and found.media_type.startswith("image/"):
        return is_read(found.media_type) and _is_worth_recognising(piece.data)
    if found is not None:
        return found in (ZIP, OLE) or is_read(found.media_type)
    return not is_binary or bool(type_by_name(path))


def _is_worth_recognising(start: bytes) -> bool:
    """Whether the text of a picture can be recognised, and it is no ornament, such as a logo under a letter."""
    if not allowance().is_available:
        return False
    is_ornament: Callable[[bytes], bool] = import_module(_PICTURE_FILES).is_ornament
    return not is_ornament(start)
