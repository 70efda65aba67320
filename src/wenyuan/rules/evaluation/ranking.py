"""From passages to what was to be found: a list of passages becomes a ranking that can be measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Something expected, as the library knows it.

    Any passage of the `revisions` will do, or, where `passages` is not None, only these. A target
    that nothing can meet is not in the library.
    """

    name: str
    grade: int
    revisions: frozenset[str] = frozenset()
    passages: frozenset[str] | None = None

    @property
    def is_there(self) -> bool:
        return bool(self.revisions if self.passages is None else self.passages)

    def is_met_by(self, passage: str) -> bool:
        return revision_of(passage) in self.revisions if self.passages is None else passage in self.passages


def revision_of(passage: str) -> str:
    """The revision a passage belongs to; its id is `REVISION.NUMBER`."""
    return passage.rpartition(".")[0]


def folded(passages: Iterable[str], targets: Sequence[Target], documents: Mapping[str, str]) -> list[str]:
    """A ranking of targets and documents from passages in order, each where it first appears.

    A passage stands for every target it meets, the highest grade first, and else for its document,
    under the name that `documents` has for the passage. So several passages of one document count
    once, and one that meets two targets counts for both.
    """
    ranking: dict[str, None] = {}
    named: dict[str, str] = {}
    for passage in passages:
        met = sorted((one for one in targets if one.is_met_by(passage)), key=lambda one: -one.grade)
        if met:
            ranking.update(dict.fromkeys(one.name for one in met))
        else:
            ranking.setdefault(_named(passage, documents, ranking, named))
    return list(ranking)


def _named(passage: str, documents: Mapping[str, str], ranking: Mapping[str, None], named: dict[str, str]) -> str:
    """A document's name; its revision where another one has that name already."""
    revision = revision_of(passage)
    if revision not in named:
        name = documents.get(passage, revision)
        named[revision] = revision if name in ranking or name in named.values() else name
    return named[revision]
