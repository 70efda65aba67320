"""Sources as one caller may use them: pages by who may write, folders of this machine by who rules everything."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wenyuan.errors import FolderRefused, SourceNotFound
from wenyuan.fetching.addresses import is_page
from wenyuan.runtime.access import AccessScope, Grants
from wenyuan.runtime.library import Library
from wenyuan.runtime.sources import SourceView
from wenyuan.store.sources import Source
from wenyuan.types import Problem


@dataclass(frozen=True, slots=True)
class Synced:
    """How many files of a source came, changed, moved or went, how many did not, and how the source stands."""

    changes: Mapping[str, int]
    unchanged: int
    source: SourceView
    is_dry_run: bool


@dataclass(frozen=True, slots=True)
class GrantedSources:
    library: Library
    grants: Grants

    def all(self) -> list[SourceView]:
        self.grants.require("read")
        seen = self.grants.visible()
        views = self.library.sources.list()
        return [self._told(one) for one in views if seen is None or one.source.knowledge_base_id in seen]

    def show(self, source: str) -> SourceView:
        return self._told(self.library.sources.show(self._id(source, "read")))

    def add_page(self, kb: str, address: str, every: float | None) -> SourceView:
        """Keep in step with a page, looked at again `every` so many seconds.

        Pages of private networks are refused when they are fetched. Raises `FolderRefused` for what is no address of a
        page, and what `Sources.add` raises.
        """
        self.grants.require("write")
        base = self.grants.knowledge_base(kb).id
        if not is_page(address):
            raise FolderRefused(path=address[:200])
        return self._told(self.library.sources.show(self.library.sources.add(address, kb=base, every=every).id))

    def add_folder(self, kb: str, path: str, *, exclude: Sequence[str], watch: bool) -> SourceView:
        """Keep in step with a folder of the server's machine that lies below one of `server.folders`.

        Raises `FolderRefused` for any other, there or not, and what `Sources.add` raises.
        """
        self.grants.require_all()
        folder = self._permitted(path)
        added = self.library.sources.add(folder, kb=kb, exclude=exclude, watch=watch)
        return self._told(self.library.sources.show(added.id))

    def folders(self) -> tuple[str, ...]:
        """Below which folders one may become a source, for whoever may add one."""
        self.grants.require_all()
        return tuple(map(str, self._roots()))

    def sync(self, source: str, *, dry_run: bool) -> Synced:
        """Look through a folder now, or have a page fetched; what came in is read by workers."""
        reports = self.library.sources.sync(self._id(source, "write"), dry_run=dry_run, wait=False)
        # There is none of a source that is being removed, or whose knowledge base is archived.
        done = reports[0] if reports else None
        counts = Counter(str(change.what) for change in done.changes) if done is not None else {}
        return Synced(counts, done.unchanged if done is not None else 0, self.show(source), is_dry_run=dry_run)

    def pause(self, source: str) -> SourceView:
        return self._told(self.library.sources.pause(self._id(source, "write")))

    def resume(self, source: str) -> SourceView:
        return self._told(self.library.sources.resume(self._id(source, "write")))

    def remove(self, source: str, *, keep_documents: bool) -> int:
        """End a source, and return how many documents were deleted with it."""
        return self.library.sources.remove(self._id(source, "write"), keep_documents=keep_documents)

    def _id(self, source: str, needed: AccessScope) -> str:
        self.grants.require(needed)
        found = self.library.sources.by_id(source)
        if not self.grants.sees(found.knowledge_base_id):
            raise SourceNotFound(source=source)
        return found.id

    def _roots(self) -> list[Path]:
        named = self.library.settings.server.folders
        return [Path(one).expanduser().resolve() for one in named.split(os.pathsep) if one.strip()]

    def _permitted(self, path: str) -> Path:
        try:
            # Where every link leads: a name within is not enough.
            folder = Path(path).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise FolderRefused(path=path[:200]) from error
        if not Path(path).is_absolute() or not any(folder.is_relative_to(root) for root in self._roots()):
            raise FolderRefused(path=path[:200])
        return folder

    def _told(self, view: SourceView) -> SourceView:
        """A source as the caller may see it: where folders of the server lie is told to its administrator alone."""
        source = view.source
        if self.grants.caller.sees_all or source.kind == "url":
            return view
        return SourceView(
            replace(source, location=_name(source.location), problem=_without_place(source.problem, source)),
            _name(view.location),
            view.knowledge_base,
            view.counts,
            tuple((_name(path), _without_place(problem, source) or problem) for path, problem in view.file_problems),
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _without_place(problem: Problem | None, source: Source) -> Problem | None:
    if problem is None:
        return None
    place, _, _ = source.location.rpartition("/")
    message, hint = (text.replace(f"{place}/", "") for text in (problem.message, problem.hint))
    return Problem(problem.code, message, hint, problem.stage, problem.attempt)
