"""What differs between a folder and what is known of it: looked at, hashed where needed, and nothing changed.

A file counts as unchanged if its size, its times and its inode are what they were, and if it had
been quiet for a while when it was last looked at: a file that had changed just before may have
changed again within the same tick of the file system's clock, as git knows by the name of "racy".
The time of the last change of an inode is among them, which no program can set back. Where any of
that differs, the bytes decide.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wenyuan.errors import FileTooLarge, FileUnreadable, NamesAlike, SourceEmptied, SourceMissing
from wenyuan.flows.file_paths import openable, readable, storable
from wenyuan.flows.gather import Walk
from wenyuan.store.source_files import FileRecord, KnownFile
from wenyuan.types import Problem

_QUIET_NS = 2_000_000_000
"""The coarsest clock of a file system that is still met (FAT, in steps of two seconds)."""
_PIECE_BYTES = 1 << 20
_COMPARED_BYTES = 1 << 20
_ALIKE = 0.5
_STAGE = "looking"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to be kept in step, or the parts of it at or below the paths `within`."""

    path: str
    exclude: tuple[str, ...]
    library: Path
    file_bytes: int
    within: tuple[str, ...] = ("",)
    reads_pictures: bool | None = None
    """As for `Walk`."""

    def absolute(self, stored: str) -> str:
        return os.path.join(self.path, openable(stored))

    def source_of(self, stored: str) -> str:
        """The source of the document of one of its files."""
        return readable(self.absolute(stored))


@dataclass(frozen=True, slots=True)
class Move:
    """A file that is at another path now. `is_changed` where it holds something else besides."""

    before: FileRecord
    now: FileRecord
    is_changed: bool = False


@dataclass(slots=True)
class Differences:
    """What has to be done to be in step.

    `arrived` are new files, `changed` those whose bytes may be others, `refreshed` those of which
    only the times differ. `gone` files are there no more. `twins` are unchanged, and have no document
    because another has their bytes. Where `halt` says why, nothing may be deleted. `problems` are
    files and folders that cannot be read now.
    """

    moved: list[Move] = field(default_factory=list)
    arrived: list[FileRecord] = field(default_factory=list)
    changed: list[FileRecord] = field(default_factory=list)
    refreshed: list[FileRecord] = field(default_factory=list)
    gone: list[FileRecord] = field(default_factory=list)
    twins: list[FileRecord] = field(default_factory=list)
    problems: list[tuple[str, Problem]] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    halt: Problem | None = None
    unchanged: int = 0
    began_ns: int = 0


def differences(
    folder: Folder, known: Iterable[KnownFile], blob_of: Callable[[str], Path], *, allow_empty: bool = False
) -> Differences:
    """Compare a folder with what is known of its files.

    `blob_of` gives the bytes that a SHA-256 stands for. Unless `allow_empty`, a folder of which
    nothing is left, or a disk within it that is there no more, halts deletion.
    """
    return _Comparison(folder, known, blob_of).made(allow_empty)


class _Comparison:
    def __init__(self, folder: Folder, known: Iterable[KnownFile], blob_of: Callable[[str], Path]) -> None:
        self._folder = folder
        self._blob_of = blob_of
        everything = {one.record.path: one for one in known}
        within = _Within(folder.within)
        # What is left in here after the walk is not in the folder any more.
        self._left = {path: one for path, one in everything.items() if within.holds(path)}
        self._elsewhere = len(everything) - len(self._left)
        self._everything = everything
        self._new: list[FileRecord] = []
        self._odd: set[str] = set()
        self.found = Differences(began_ns=time.time_ns())

    def made(self, allow_empty: bool) -> Differences:
        found, folder = self.found, self._folder
        if reason := _why_missing(folder.path):
            found.halt = SourceMissing(path=readable(folder.path), reason=reason).problem(_STAGE)
            self._left.clear()
            return found
        walk = Walk(
            folder.path,
            folder.exclude,
            folder.library,
            within=folder.within,
            passed_over=found.passed_over,
            reads_pictures=folder.reads_pictures,
        )
        for relative, entry in walk.files():
            self._look_at(relative, entry, walk)
        if "" in walk.unreadable:
            error = walk.unreadable[""]
            reason = error.strerror or str(error)
            found.halt = SourceMissing(path=readable(folder.path), reason=reason).problem(_STAGE)
            return found
        self._keep_unreadable(walk.unreadable)
        if not allow_empty:
            self._halt_where_a_disk_is_gone(walk)
        self._find_moves()
        found.arrived += self._new
        found.gone += [one.record for one in self._left.values()]
        return found

    def _look_at(self, relative: str, entry: os.DirEntry[str], walk: Walk) -> None:
        path = storable(relative)
        now = time.time_ns()
        try:
            status = entry.stat()
        except OSError as error:
            # A link that leads nowhere, or a file that is gone since it was listed, is no file.
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self._left.pop(path, None)
                self._tell(path, error)
            return
        if not stat.S_ISREG(status.st_mode):
            self.found.passed_over["special"] += 1
            return
        if self._reads_like_another(relative):
            self._left.pop(path, None)
            self._add_problem(path, NamesAlike(path=readable(entry.path)).problem(_STAGE))
            return
        walk.devices.add(status.st_dev)
        known = self._left.pop(path, None)
        record = _record(path, status, now)
        if status.st_size > self._folder.file_bytes:
            limit = self._folder.file_bytes
            self._add_problem(path, FileTooLarge(name=relative, size=status.st_size, limit=limit).problem(_STAGE))
        elif known is None:
            self._new.append(record)
        else:
            self._compare(known, record)

    def _compare(self, known: KnownFile, now: FileRecord) -> None:
        before = known.record
        now = replace(now, document_id=before.document_id, sha256=before.sha256)
        is_whole = before.problem is None and known.is_live
        if is_whole and _is_trusted(before) and _is_same(before, now):
            self.found.unchanged += 1
            self._note_twin(now)
        elif is_whole and before.sha256 and before.size == now.size:
            digest = self._digest(now.path)
            if digest == before.sha256:
                self.found.unchanged += 1
                self.found.refreshed.append(now)
                self._note_twin(now)
            elif digest is not None:
                self.found.changed.append(now)
        else:
            self.found.changed.append(now)

    def _note_twin(self, record: FileRecord) -> None:
        if not record.document_id:
            self.found.twins.append(record)

    def _reads_like_another(self, relative: str) -> bool:
        """Whether a name in another encoding would be that of a second file, once it is text."""
        try:
            relative.encode()
        except UnicodeEncodeError:
            text = readable(relative)
            if text in self._odd or os.path.lexists(os.path.join(self._folder.path, text)):
                return True
            self._odd.add(text)
        return False

    def _digest(self, path: str) -> str | None:
        """The SHA-256 of a file's bytes; None where it cannot be read, which is then told."""
        digest = hashlib.sha256()
        try:
            with open(self._folder.absolute(path), "rb", buffering=0) as file:
                while piece := file.read(_PIECE_BYTES):
                    digest.update(piece)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._tell(path, error)
            return None
        return digest.hexdigest()

    def _tell(self, path: str, error: OSError) -> None:
        absolute = self._folder.source_of(path)
        self._add_problem(path, FileUnreadable(path=absolute, reason=error.strerror or str(error)).problem(_STAGE))

    def _add_problem(self, path: str, problem: Problem) -> None:
        self.found.problems.append((path, problem))

    def _keep_unreadable(self, unreadable: dict[str, OSError]) -> None:
        """What lies in folders that cannot be listed now is kept."""
        if not unreadable:
            return
        within = _Within(unreadable)
        for relative, error in unreadable.items():
            self._tell(storable(relative), error)
        self._left = {path: one for path, one in self._left.items() if not within.holds(path)}

    def _halt_where_a_disk_is_gone(self, walk: Walk) -> None:
        """Let nothing be deleted where all the files of a disk are gone: it may not be mounted."""
        seen = self._elsewhere + self.found.unchanged + len(self.found.changed) + len(self._new)
        seen += len(self.found.problems)
        if self._left and not seen:
            self._halt(self._folder.path, list(self._left))
            return
        by_device: dict[int, list[str]] = defaultdict(list)
        for path, one in self._left.items():
            by_device[one.record.device].append(path)
        still = {one.record.device for path, one in self._everything.items() if path not in self._left}
        present = {_signed(device) for device in walk.devices} | {_device_of(self._folder.path)}
        for device, paths in by_device.items():
            if device not in still and device not in present:
                self._halt(os.path.join(self._folder.path, _common_folder(paths)), paths)

    def _halt(self, path: str, paths: Sequence[str]) -> None:
        self.found.halt = SourceEmptied(path=readable(path), count=len(paths)).problem(_STAGE)
        for one in paths:
            del self._left[one]

    def _find_moves(self) -> None:
        """Pair files that are gone with new ones that are the same: by their inode, or by their bytes."""
        movable = [one.record for one in self._left.values() if one.is_own and one.record.sha256]
        if not movable or not self._new:
            return
        by_inode = {(one.device, one.inode): one for one in movable}
        sizes = {one.size for one in movable}
        by_bytes: dict[str, list[FileRecord]] = defaultdict(list)
        for one in movable:
            by_bytes[one.sha256].append(one)
        digests: dict[str, str | None] = {}
        left: list[FileRecord] = []
        for new in self._new:
            before = by_inode.get((new.device, new.inode))
            digests[new.path] = self._digest(new.path) if new.size in sizes else None
            if before is not None and before.path in self._left and self._is_same_file(before, new, digests[new.path]):
                self._move(before, new, is_changed=digests[new.path] != before.sha256)
            else:
                left.append(new)
        self._new = []
        for new in left:
            same = by_bytes.get(digests[new.path] or "", [])
            before = next((one for one in same if one.path in self._left), None)
            if before is not None:
                self._move(before, new, is_changed=False)
            else:
                self._new.append(new)

    def _move(self, before: FileRecord, new: FileRecord, *, is_changed: bool) -> None:
        del self._left[before.path]
        now = replace(new, document_id=before.document_id, sha256=before.sha256)
        self.found.moved.append(Move(before, now, is_changed))

    def _is_same_file(self, before: FileRecord, new: FileRecord, digest: str | None) -> bool:
        """Whether a file with the inode of one that is gone is that file: an inode is soon given to another."""
        if digest == before.sha256:
            return True
        if before.path.rpartition("/")[2] == new.path.rpartition("/")[2]:
            return True
        return _are_alike(self._blob_of(before.sha256), Path(self._folder.absolute(new.path)))


class _Within:
    """Tells which paths lie at or below some others, in a time that does not grow with how many those are."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)

    def holds(self, stored: str) -> bool:
        path = openable(stored)
        if "" in self._paths or path in self._paths:
            return True
        at = path.find("/")
        while at >= 0:
            if path[:at] in self._paths:
                return True
            at = path.find("/", at + 1)
        return False


def _why_missing(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError as error:
        return error.strerror or str(error)
    return "" if stat.S_ISDIR(status.st_mode) else "it is no folder"


def _record(path: str, status: os.stat_result, now: int) -> FileRecord:
    return FileRecord(
        path,
        "",
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        _signed(status.st_dev),
        _signed(status.st_ino),
        now,
        "",
    )


def _signed(number: int) -> int:
    """Inodes and devices have up to 64 bits, columns of numbers 63 and a sign."""
    return number - (1 << 64) if number >> 63 else number


def _device_of(path: str) -> int:
    try:
        return _signed(os.stat(path).st_dev)
    except OSError:
        return -1


def _is_trusted(record: FileRecord) -> bool:
    return record.seen_ns - max(record.modified_ns, record.changed_ns) > _QUIET_NS


def _is_same(before: FileRecord, now: FileRecord) -> bool:
    return (before.size, before.modified_ns, before.changed_ns, before.inode) == (
        now.size,
        now.modified_ns,
        now.changed_ns,
        now.inode,
    )


def _common_folder(paths: Sequence[str]) -> str:
    return os.path.commonpath([os.path.dirname(openable(path)) for path in paths])


def _are_alike(before: Path, now: Path) -> bool:
    """Whether two files share at least half of their lines, as git tells a file that was renamed and edited."""
    try:
        lines = [_lines(path) for path in (before, now)]
    except OSError:
        return False
    longest = max(sum(one.values()) for one in lines)
    return longest > 0 and sum((lines[0] & lines[1]).values()) >= _ALIKE * longest


def _lines(path: Path) -> Counter[bytes]:
    with path.open("rb") as file:
        return Counter(file.read(_COMPARED_BYTES).splitlines())
