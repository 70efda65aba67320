"""Indexes that are built aside, as a door sees them."""

from __future__ import annotations

from wenyuan.errors import NothingToRollBack
from wenyuan.flows import generations
from wenyuan.flows.generations import Wanted
from wenyuan.identifiers import new_id
from wenyuan.runtime.knowledge_bases import checked_chunking
from wenyuan.runtime.models import Models
from wenyuan.runtime.rebuild_views import RebuildView as RebuildView
from wenyuan.runtime.rebuild_views import latest_rebuild, rebuild_view
from wenyuan.store import knowledge_bases, rebuilds
from wenyuan.store.database import Database
from wenyuan.types import ChunkingConfig


class Rebuilds:
    def __init__(self, database: Database, models: Models, principal: str) -> None:
        self._database = database
        self._models = models
        self._principal = principal

    def begin(
        self,
        kb: str,
        *,
        embedding_model: str | None = None,
        chunking: ChunkingConfig | None = None,
        rereads: bool = False,
    ) -> RebuildView | None:
        """Build indexes aside with another model (empty for none), chunking, or by reading every document anew.

        What is not said stays as the knowledge base has it; so without anything, its indexes are compared
        with what is configured now, and None returned where they agree; a rebuild that is being done or
        has failed goes on. Until the new indexes are complete, the others answer. Raises `KnowledgeBaseNotFound`,
        `ModelNotConfigured`, `InvalidValue` or `RebuildRunning`.
        """
        if chunking is not None:
            checked_chunking(chunking)
        if embedding_model is None and chunking is None and not rereads and (going_on := self._go_on(kb)) is not None:
            return going_on
        with self._database.read() as tx:
            base = knowledge_bases.find(tx, self._principal, kb)
        model = base.embedding_model if embedding_model is None else embedding_model
        embedder = self._models.embedder(model) if model else None
        identity = embedder.identity if embedder is not None else None
        sentences = embedder is not None and embedder.embeds_sentences
        with self._database.write() as tx:
            base = knowledge_bases.find(tx, self._principal, kb)
            wanted = Wanted(model, identity, base.chunking if chunking is None else chunking, rereads, sentences)
            begun = generations.begin(tx, new_id, base, wanted)
            return rebuild_view(tx, begun) if begun is not None else None

    def _go_on(self, kb: str) -> RebuildView | None:
        with self._database.write() as tx:
            base = knowledge_bases.find(tx, self._principal, kb)
            running = rebuilds.unfinished(tx, base.id)
            return rebuild_view(tx, generations.go_on(tx, new_id, running)) if running is not None else None

    def show(self, kb: str) -> RebuildView | None:
        """The rebuild that is being done for a knowledge base, has failed, or whose replaced indexes are kept."""
        with self._database.read() as tx:
            return latest_rebuild(tx, knowledge_bases.find(tx, self._principal, kb).id)

    def cancel(self, kb: str) -> RebuildView:
        """Give up what is being built, within one batch; what answers never changed. Raises `RebuildNotRunning`."""
        with self._database.write() as tx:
            given_up = generations.cancel(tx, new_id, knowledge_bases.find(tx, self._principal, kb))
            return rebuild_view(tx, rebuilds.find(tx, given_up.id) or given_up)

    def roll_back(self, kb: str) -> RebuildView:
        """Let the indexes answer again that the last rebuild replaced.

        At once, or once what has come since is in them as well. Raises `NothingToRollBack` or `RebuildRunning`.
        """
        with self._database.write() as tx:
            return rebuild_view(tx, generations.roll_back(tx, new_id, knowledge_bases.find(tx, self._principal, kb)))

    def drop_replaced(self, kb: str) -> RebuildView:
        """Have the replaced indexes taken away, after which there is no way back. Raises `NothingToRollBack`."""
        with self._database.write() as tx:
            base = knowledge_bases.find(tx, self._principal, kb)
            last = rebuilds.switched(tx, base.id)
            if last is None:
                raise NothingToRollBack(name=base.name)
            running = rebuilds.unfinished(tx, base.id)
            if running is not None and running.rolls_back:
                generations.give_up(tx, new_id, running)
            generations.drop_replaced(tx, new_id, last)
            return rebuild_view(tx, rebuilds.find(tx, last.id) or last)
