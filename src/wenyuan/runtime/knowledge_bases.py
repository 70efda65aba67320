"""Knowledge bases, as a door sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wenyuan.config import Settings
from wenyuan.errors import InvalidValue, KnowledgeBaseNotFound, ModelNotConfigured
from wenyuan.flows.remove import hide_document
from wenyuan.identifiers import new_id
from wenyuan.store import indexes, knowledge_bases
from wenyuan.store.database import Database, Reading
from wenyuan.types import ChunkingConfig, KnowledgeBase, Scope

DEFAULT_NAME = "default"
_LEAST_COLUMNS, _MOST_COLUMNS = 50, 8000


@dataclass(frozen=True, slots=True)
class KnowledgeBaseView:
    """A knowledge base, how many of its documents stand how, and how many the vector list sees.

    `documents` counts by state, with `disabled` for those switched off; `semantic` of
    `searchable` documents have all their vectors.
    """

    knowledge_base: KnowledgeBase
    documents: Mapping[str, int]
    semantic: int
    searchable: int


class KnowledgeBases:
    def __init__(self, database: Database, settings: Settings, principal: str) -> None:
        self._database = database
        self._settings = settings
        self._principal = principal

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
    ) -> KnowledgeBase:
        """Make a knowledge base; an empty `embedding_model` means keyword search alone.

        Raises `InvalidValue`, `KnowledgeBaseExists` or `ModelNotConfigured`.
        """
        made = self._new(name, description, embedding_model, chunking, tuple(tags), persona, scenario)
        with self._database.write() as tx:
            knowledge_bases.add(tx, made)
            return knowledge_bases.find(tx, self._principal, made.name)

    def archive(self, name: str, *, undo: bool = False) -> KnowledgeBase:
        """Take a knowledge base out of every search and refuse new documents, or bring it back."""
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            return knowledge_bases.update(tx, replace(found, state="active" if undo else "archived"))

    def delete(self, name: str) -> None:
        """Delete a knowledge base and all its documents: hidden at once, purged by jobs.

        Raises `KnowledgeBaseNotFound`, or `KnowledgeBaseProtected` for the default one.
        """
        with self._database.write() as tx:
            found = knowledge_bases.find(tx, self._principal, name)
            for document_id in knowledge_bases.hide(tx, found):
                hide_document(tx, new_id, document_id, found.id, found.owner)

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
        model = defaults.embedding_model if embedding_model is None else embedding_model
        if model and model not in self._settings.models:
            raise ModelNotConfigured(model=model, known=", ".join(sorted(self._settings.models)))
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
    return KnowledgeBaseView(found, counts, semantic, counts.get("ready", 0))
