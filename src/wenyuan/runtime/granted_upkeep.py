"""Looking after a library from elsewhere: keys, backups, storage, problems, and examples to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wenyuan.runtime.access import AccessKey, AccessScope, Grants, NewAccessKey
from wenyuan.runtime.background import Deed
from wenyuan.runtime.backup_folder import BackupsView
from wenyuan.runtime.examples import add_example, example_documents, new_base
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.library import Library
from wenyuan.runtime.overview import FailedJob, KnowledgeBaseStatistics, StorageView
from wenyuan.runtime.uploads import Upload


@dataclass(frozen=True, slots=True)
class GrantedUpkeep:
    library: Library
    grants: Grants

    # --- What everyone sees of what is granted ---------------------------------------------------

    def statistics(self, kb: str) -> KnowledgeBaseStatistics:
        self.grants.require("read")
        return self.library.overview.statistics(self.grants.knowledge_base(kb).id)

    def problems(self, limit: int) -> list[FailedJob]:
        """What failed lately or waits because of a problem, newest first."""
        self.grants.require("read")
        return self.library.overview.problems(limit, self.grants.visible())

    # --- The library as a whole ------------------------------------------------------------------

    def job_counts(self) -> Mapping[tuple[str, str], int]:
        """How many jobs are under way, for measuring."""
        return self._all().jobs.counts()

    def storage(self) -> StorageView:
        return self._all().overview.storage()

    def backups(self) -> BackupsView:
        return self._all().backups.view()

    def begin_backup(self, name: str) -> Deed:
        return self._all().backups.begin(name)

    def keys(self) -> list[AccessKey]:
        return self._all().access_keys.list()

    def create_key(
        self, name: str, *, scopes: Sequence[AccessScope], kb: Sequence[str] | None, days: float | None
    ) -> NewAccessKey:
        return self._all().access_keys.create(name, scopes=scopes, kb=kb, days=days)

    def revoke_key(self, name: str) -> AccessKey:
        return self._all().access_keys.revoke(name)

    def add_examples(self, name: str, description: str) -> KnowledgeBaseView:
        """Make a knowledge base of the documents that come with the program; they are read by workers."""
        library = self._all()
        base = new_base(library.knowledge_bases, name, description)
        for document, content in example_documents():
            add_example(Upload(library.receiving(), lambda: base), document, content)
        return library.knowledge_bases.show(base.id)

    def _all(self) -> Library:
        self.grants.require_all()
        return self.library
