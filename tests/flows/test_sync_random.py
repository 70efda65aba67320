"""Whatever is done to a folder: after a pass the documents hold what its files hold, path by path."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from wenyuan.flows.sync import sync_folder
from wenyuan.runtime.library import Library
from wenyuan.runtime.opening import open_library

_NAMES = st.sampled_from(["a.txt", "b.txt", "笔记.txt", "c.md"])
_FOLDERS = st.sampled_from(["", "x", "x/y", "目录"])
_WORDS = st.sampled_from(["quince", "medlar", "榅桲果"])
_KEYWORDS_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


def live_texts(library: Library) -> dict[str, bytes]:
    """The bytes of every live document by its source."""
    return {
        view.document.source: library.documents.original(view.document.id)
        for view in library.documents.list(limit=10_000)
    }


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class FolderMachine(RuleBasedStateMachine):
    """Does random things to a folder, and now and then makes a pass over it."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.folder = self.home / "notes"
        self.folder.mkdir()
        (self.folder / "always.txt").write_text("something is always there")
        self.library = open_library(self.home / "library", environment=_KEYWORDS_ONLY)
        self.source = self.library.sources.add(self.folder)
        self.library.sources.sync(wait=False)

    def teardown(self) -> None:
        self.library.close()
        shutil.rmtree(self.home)

    texts = Bundle("texts")

    @rule(target=texts, word=_WORDS, number=st.integers(0, 5))
    def text(self, word: str, number: int) -> str:
        return f"{word} {number}"

    @rule(folder=_FOLDERS, name=_NAMES, text=texts)
    def write(self, folder: str, name: str, text: str) -> None:
        path = self.folder / folder / name
        if any(parent.is_file() for parent in path.parents) or path.is_dir():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def _pick(self, number: int) -> Path | None:
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != "always.txt")
        return files[number % len(files)] if files else None

    @rule(number=st.integers(0, 20))
    def change_without_a_trace(self, number: int) -> None:
        """Another text of the same size, and the time of the last change as it was."""
        if (path := self._pick(number)) is not None:
            before = path.stat()
            raw = path.read_bytes()
            path.write_bytes(raw[:-1] + bytes([48 + (raw[-1] - 47) % 10]))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(number=st.integers(0, 20), folder=_FOLDERS, name=_NAMES)
    def rename(self, number: int, folder: str, name: str) -> None:
        target = self.folder / folder / name
        if (path := self._pick(number)) is None or not target.parent.is_dir() or target.is_dir():
            return
        path.rename(target)

    @rule(one=st.integers(0, 20), other=st.integers(0, 20))
    def swap(self, one: int, other: int) -> None:
        first, second = self._pick(one), self._pick(other)
        if first is not None and second is not None and first != second:
            first.rename(self.folder / ".swap")
            second.rename(first)
            (self.folder / ".swap").rename(second)

    @rule(number=st.integers(0, 20))
    def delete(self, number: int) -> None:
        if (path := self._pick(number)) is not None:
            path.unlink()

    @rule(number=st.integers(0, 20), text=texts)
    def edit_by_rename(self, number: int, text: str) -> None:
        """As editors do: a new file takes the name of the old one."""
        if (path := self._pick(number)) is not None:
            (self.folder / ".new").write_text(text, "utf-8")
            (self.folder / ".new").rename(path)

    @rule(old=st.sampled_from(["x", "x/y", "目录"]), new=st.sampled_from(["x", "目录", "moved"]))
    def rename_folder(self, old: str, new: str) -> None:
        if (self.folder / old).is_dir() and not (self.folder / new).exists() and not new.startswith(f"{old}/"):
            (self.folder / old).rename(self.folder / new)

    @rule(number=st.integers(0, 20), text=texts)
    def file_becomes_folder(self, number: int, text: str) -> None:
        if (path := self._pick(number)) is not None:
            path.unlink()
            path.mkdir()
            (path / "inside.txt").write_text(text, "utf-8")

    @rule(folder=st.sampled_from(["x", "目录", "moved"]))
    def folder_becomes_file(self, folder: str) -> None:
        path = self.folder / folder
        if path.is_dir():
            shutil.rmtree(path)
            path.write_text("not a folder any more")

    @rule()
    def pass_over_all(self) -> None:
        (report,) = self.library.sources.sync(wait=False)
        assert report.problem is None
        assert report.problems == ()
        self.check()

    @rule(where=st.sampled_from(["x", "目录", "moved", "x/y"]))
    def pass_over_a_part(self, where: str) -> None:
        sync_folder(self.library.sources.syncing(), self.source, within=[where])
        below = f"{self.folder / where}/"
        inside = {path: text for path, text in live_texts(self.library).items() if path.startswith(below)}
        assert inside == {path: text for path, text in files_of(self.folder).items() if path.startswith(below)}

    @rule()
    def read_what_was_brought_in(self) -> None:
        self.library.drain()

    @invariant()
    def a_dry_run_changes_nothing(self) -> None:
        before = live_texts(self.library)
        self.library.sources.sync(dry_run=True)
        assert live_texts(self.library) == before

    def check(self) -> None:
        assert live_texts(self.library) == files_of(self.folder)
        (again,) = self.library.sources.sync(wait=False)
        assert again.changes == ()
        assert [one for one in self.library.check() if one.severity != "ok"] == []


TestFolder = FolderMachine.TestCase
TestFolder.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
