"""A shelf: real files in a knowledge base of their own, found by words alone."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wenyuan.runtime.library import Library
from wenyuan.types import ArmName, Hit, SearchResult

TODAY = datetime.date(2026, 4, 20)
SETTINGS = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
"""Words alone; and one worker, so that passages of equal worth come in the same order every time."""

ALL_ARMS: tuple[ArmName, ...] = ("structured", "keyword", "vector")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The files of one knowledge base, by their names."""

    library: Library
    knowledge_base: str

    def search(
        self, question: str, *, top_k: int = 60, arms: Sequence[ArmName] = ALL_ARMS, within: Sequence[str] | None = None
    ) -> SearchResult:
        """Ask this shelf alone; `within` names the documents that are looked into."""
        result = self.library.search(question, kb=self.knowledge_base, top_k=top_k, arms=arms, documents=within)
        assert result.degraded == ()
        return result

    def names(self, question: str, *, top_k: int = 60, arms: Sequence[ArmName] = ALL_ARMS) -> list[str]:
        """The names of the documents found, best first."""
        return [name_of(hit) for hit in self.search(question, top_k=top_k, arms=arms).hits]


def name_of(hit: Hit) -> str:
    return hit.passage.document_name


def filled(library: Library, folder: Path, files: Mapping[str, str | bytes]) -> Shelf:
    """Write the files, texts as UTF-8, and add them in order to a new knowledge base named as their folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    library.knowledge_bases.create(folder.name, embedding_model="")
    for name in files:
        # One by one, so that their order is the same every time.
        (received,) = library.add(folder / name, kb=folder.name, wait=False).received
        assert received.outcome == "added"
    library.drain()
    assert library.knowledge_bases.show(folder.name).documents == {"ready": len(files)}
    return Shelf(library, folder.name)


def assert_first(shelf: Shelf, question: str, expected: Sequence[str], arms: Sequence[ArmName] = ALL_ARMS) -> None:
    """Assert that the first documents found are the expected ones, in any order, and no other is worth as much."""
    hits = shelf.search(question, top_k=len(expected) + 10, arms=arms).hits
    found = [(name_of(hit), hit.exactness, round(hit.score, 3)) for hit in hits[: len(expected) + 2]]
    assert sorted(name for name, _, _ in found[: len(expected)]) == sorted(expected), f"{question!r} found {found}"
    last, *others = hits[len(expected) - 1 :]
    # Which of equals comes first is no more than the order in which they were added.
    equals = [name_of(hit) for hit in others if (hit.exactness, hit.score) == (last.exactness, last.score)]
    assert equals == [], f"{question!r} found {found}"
