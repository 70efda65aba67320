"""Knowledge bases, as a door sees them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wenyuan.config import Settings
from wenyuan.errors import InvalidValue, KnowledgeBaseNotFound
from wenyuan.flows import generations
from wenyuan.flows.reconsider import Reconsidered as Reconsidered
from wenyuan.flows.reconsider import apply_policy
from wenyuan.flows.remove import hide_documents
from wenyuan.flows.reread import catch_up, count_behind, enqueue_rereading
from wenyuan.identifiers import new_id
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.language.wording import with_synonyms, with_terms, without_synonyms, without_terms
from wenyuan.rules.policy import checked_policy
from wenyuan.runtime.models import Models
from wenyuan.runtime.rebuild_views import RebuildView, latest_rebuild
from wenyuan.runtime.transfer import Exported, Imported, Transfers
from wenyuan.store import indexes, knowledge_bases, statistics
from wenyuan.store.database import Database, Reading
from wenyuan.types import ChunkingConfig, DocumentPolicy, KnowledgeBase, ReadyWhen, Scope

DEFAULT_NAME = "default"
_LEAST_COLUMNS, _MOST_COLUMNS = 50, 8000


@dataclass(frozen=True, slots=True)
class KnowledgeBaseView:
    """A knowledge base, how many of its documents stand how, and how many the vector list sees.

    `documents` counts by state, with `disabled` for those switched off; `semantic` of
    `searchable` documents have all their vectors. `behind` documents were read by other rules or
    terms than today's: they are found as before, until they are read again. `indexed_with` is the
    model that made the vectors which answer now, and `rebuild` what is built aside, or was last.
    `last_activity` is when it or a document in it last changed, in milliseconds since 1970.
    """

    knowledge_base: KnowledgeBase
    documents: Mapping[str, int]
    semantic: int
    searchable: int
    behind: int = 0
    vocabulary: Vocabulary = EMPTY
    indexed_with: str = ""
    rebuild: RebuildView | None = None
    last_activity: int = 0


class KnowledgeBases:
    def __init__(
        self, database: Database, settings: Settings, principal: str, transfers: Transfers, models: Models
    ) -> None:
        self._database = database
        self._models = models
        self._settings = settings
        self._principal = principal
        self._transfers = transfers

    def all(self) -> list[KnowledgeBaseView]:
        with self._database.read() as tx:
            return [_view(tx, found) for found in knowledge_bases.permitted(tx, Scope(self._principal))]

    def show(self, name: str) -> KnowledgeBaseView:
        """One knowledge base by name or id. Raises `KnowledgeBaseNotFound`."""
        with self._database.read() as tx:
            return _view(tx, knowledge_bases.find(tx, self._principal, name))

    def find(self, name: str | None) -> KnowledgeBase:
        """The named knowledge base, or the default one. Raises `KnowledgeBaseNotFound`."""
        with self._database.read() as tx:
            if name is not None:
                return knowledge_bases.find(tx, self._principal, name)
            default = knowledge_bases.default(tx, self._principal)
        if default is None:
            raise KnowledgeBaseNotFound(name=DEFAULT_NAME)
        return default

    def create(
        self,
        name: str,
        *,
        description: str = "",
        embedding_model: str | None = None,
        chunking: ChunkingConfig | None = None,
        tags: Sequence[str] = (),
        persona: str = "",
        scenario: str = "",
        policy: DocumentPolicy | None = None,
    ) -> KnowledgeBase:
        """Make a knowledge base; an empty `embedding_model` means keyword search alone.

        Raises `InvalidValue`, `KnowledgeBaseExists` or `ModelNotConfigured`.
        """
        made = self._new(name, description, embedding_model, chunking, tuple(tags), persona, scenario)
        made = replace(made, policy=checked_policy(policy or made.policy))
        with self._database.write() as tx:
            knowledge_bases.add(tx, made)
            return knowledge_bases.find(tx, self._principal, made.name)

    def export(
        self, name: str, path: str | os.PathLike[str], *, watch: Callable[[int, int], None] | None = None
    ) -> Exported:
        """Write a knowledge base to one file, which any library can take in: files, passages, vectors, settings, runs.

        Raises `KnowledgeBaseNotFound`, `DiskFull` or `LibraryReadOnly`.
        """
        return self._transfers.export(self.find(name), path, watch)

    def import_(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        with_vectors: bool = True,
        watch: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Take in what `export` wrote, under its own name or another one; nothing is read or embedded again.

        Where another model is used here, or without `with_vectors`, a worker embeds its passages.
        Raises `ArchiveInvalid`, `KnowledgeBaseExists` or `InvalidValue`; then nothing of it is kept.
        """
        return self._transfers.import_archive(path, name, watch, with_vectors=with_vectors)

    def archive(self, name: str, *, undo: bool = False) -> KnowledgeBase:
        """Take a knowledge base out of every search and refuse new documents, or bring it back."""
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            return knowledge_bases.update(tx, replace(found, state="active" if undo else "archived"))

    def set_policy(self, name: str, policy: DocumentPolicy) -> Reconsidered:
        """Say which files a knowledge base takes, and apply that to the documents it has, in one transaction.

        What is kept out is found by no search, but stays; what is let in and was never read is queued
        to be. Raises `KnowledgeBaseNotFound` or `InvalidValue`.
        """
        checked = checked_policy(policy)
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            return apply_policy(tx, new_id, found, checked)

    def set_ready_when(self, name: str, ready_when: ReadyWhen) -> KnowledgeBase:
        """Let new documents be found by their words at once, or only with their vectors, if they are to have any."""
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            return knowledge_bases.update(tx, replace(found, ready_when=ready_when))

    def describe(
        self,
        name: str,
        *,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        persona: str | None = None,
        scenario: str | None = None,
    ) -> KnowledgeBase:
        """Change what people are told of a knowledge base; what is None stays. Raises `KnowledgeBaseNotFound`."""
        given = {"description": description, "persona": persona, "scenario": scenario}
        changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
        if tags is not None:
            changes["tags"] = tuple(tags)
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            return knowledge_bases.update(tx, replace(found, **changes)) if changes else found

    def delete(self, name: str) -> None:
        """Delete a knowledge base and all its documents: hidden at once, purged by jobs.

        Raises `KnowledgeBaseNotFound`, or `KnowledgeBaseProtected` for the default one.
        """
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            generations.let_go_of(tx, new_id, found)
            hide_documents(tx, new_id, knowledge_bases.hide(tx, found), found.id, found.owner)

    def add_terms(self, name: str, terms: Sequence[str]) -> int:
        """Add words that are never split, and return how many documents will be read again for them.

        Until they are, questions are read without. Raises `KnowledgeBaseNotFound` or `InvalidValue`.
        """
        return self._reword(name, lambda words: with_terms(words, terms))

    def remove_terms(self, name: str, terms: Sequence[str]) -> int:
        """Take words back, and return how many documents will be read again. Raises `InvalidValue` for others."""
        return self._reword(name, lambda words: without_terms(words, terms))

    def add_synonyms(self, name: str, groups: Sequence[Sequence[str]]) -> None:
        """Add groups of writings of one thing: a question that says one asks for all, from now on.

        Raises `KnowledgeBaseNotFound` or `InvalidValue`.
        """
        self._reword(name, lambda words: with_synonyms(words, groups))

    def remove_synonyms(self, name: str, groups: Sequence[Sequence[str]]) -> None:
        """Take groups of synonyms back, each named whole. Raises `InvalidValue` for others."""
        self._reword(name, lambda words: without_synonyms(words, groups))

    def set_words(self, name: str, terms: Sequence[str], groups: Sequence[Sequence[str]]) -> int:
        """Let these be all the terms and synonyms, and return how many documents will be read again for that.

        Raises `KnowledgeBaseNotFound` or `InvalidValue`.
        """
        return self._reword(name, lambda _: with_synonyms(with_terms(EMPTY, terms), groups))

    def _reword(self, name: str, change: Callable[[Vocabulary], Vocabulary]) -> int:
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            before = knowledge_bases.vocabulary(tx, found.id)
            after = change(before)
            knowledge_bases.set_vocabulary(tx, found.id, after)
        if before.index_fingerprint == after.index_fingerprint:
            return 0
        return enqueue_rereading(self._database, new_id, found)

    def refresh_aliases(self, name: str, path: str = "", *, everything: bool = False) -> int:
        """Queue the reading again of documents that were read by other rules, and return how many there are.

        With a `path`, only of those whose source begins with it; with `everything`, whatever they
        were read by. Text and vectors stay. Raises `KnowledgeBaseNotFound`.
        """
        return enqueue_rereading(self._database, new_id, self.find(name), path, everything=everything)

    def catch_up(self) -> None:
        """Queue the reading again of what was read by other rules, in every knowledge base."""
        with self._database.read() as tx:
            bases = knowledge_bases.permitted(tx, Scope(self._principal))
        for base in bases:
            catch_up(self._database, new_id, base)

    def ensure_default(self) -> None:
        with self._database.read() as tx:
            if knowledge_bases.default(tx, self._principal) is not None:
                return
        made = replace(self._new(DEFAULT_NAME, "", None, None, (), "", ""), is_default=True)
        with self._database.write() as tx:
            # Looked up again under the write lock: another process may be opening it as well.
            if knowledge_bases.default(tx, self._principal) is None:
                knowledge_bases.add(tx, made)

    def _new(
        self,
        name: str,
        description: str,
        embedding_model: str | None,
        chunking: ChunkingConfig | None,
        tags: tuple[str, ...],
        persona: str,
        scenario: str,
    ) -> KnowledgeBase:
        defaults = self._settings.defaults
        model = (self._models.for_role("embedding") or "") if embedding_model is None else embedding_model
        if model:
            self._models.check(model, "embedding")
        if not name.strip() or name != name.strip() or len(name) > 200 or not name.isprintable():
            raise InvalidValue(what="The name of a knowledge base", value=name, reason="it must be 1 to 200 characters")
        config = chunking or ChunkingConfig(defaults.chunk_columns, defaults.chunk_overlap_columns)
        return KnowledgeBase(
            id=new_id("kb"),
            owner=self._principal,
            name=name,
            description=description,
            state="active",
            is_default=False,
            persona=persona,
            scenario=scenario,
            tags=tags,
            chunking=checked_chunking(config),
            embedding_model=model,
            change_number=0,
            created_at=0,
            updated_at=0,
        )


def checked_chunking(config: ChunkingConfig) -> ChunkingConfig:
    """The same configuration, if it makes sense. Raises `InvalidValue`."""
    if not _LEAST_COLUMNS <= config.target_columns <= _MOST_COLUMNS:
        reason = f"a chunk holds {_LEAST_COLUMNS} to {_MOST_COLUMNS} columns"
        raise InvalidValue(what="The size of a chunk", value=config.target_columns, reason=reason)
    if not 0 <= config.overlap_columns <= config.target_columns // 2:
        reason = "it must lie between 0 and half the size of a chunk"
        raise InvalidValue(what="The overlap of chunks", value=config.overlap_columns, reason=reason)
    return config


def _view(tx: Reading, found: KnowledgeBase) -> KnowledgeBaseView:
    generation = indexes.active(tx, found.id, "vector")
    semantic = indexes.coverage(tx, generation)[0] if generation is not None else 0
    counts = knowledge_bases.document_counts(tx, found.id)
    words = knowledge_bases.vocabulary(tx, found.id)
    return KnowledgeBaseView(
        found,
        counts,
        semantic,
        counts.get("ready", 0),
        count_behind(tx, found.id),
        words,
        str(generation.recipe.get("model", "")) if generation is not None else "",
        latest_rebuild(tx, found.id),
        statistics.last_activity(tx, found.id),
    )
