"""What is asked in an evaluation, and what should be found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wenyuan.errors import InvalidValue
from wenyuan.types import Anchor


@dataclass(frozen=True, slots=True)
class Expected:
    """One thing that a search should find: a document, a place in it, or a passage.

    `document` is an id, a path or the end of one, a name or a title. With an anchor or with `text`,
    only its passages at that place, or with those words, will do. `chunk` is a citation id instead.
    """

    document: str = ""
    chunk: str = ""
    anchor: Anchor | None = None
    text: str = ""
    grade: int = 1

    @property
    def name(self) -> str:
        """What it is called in results."""
        if self.chunk:
            return self.chunk
        place = ""
        if self.anchor is not None:
            part = f"{self.anchor.name}!" if self.anchor.name else ""
            place += f"#{part}{self.anchor.kind}={self.anchor.first}-{self.anchor.last}"
        return f"{self.document}{place}#{self.text}" if self.text else f"{self.document}{place}"


@dataclass(frozen=True, slots=True)
class Case:
    """One question. Nothing expected means that a right answer finds nothing to rest on.

    `filters` narrow the documents, field by field; `knowledge_bases` say where to look, all where there
    are none. `within` is how far down something expected may stand, 0 for the run's own cutoff.
    """

    id: str
    query: str
    expected: tuple[Expected, ...] = ()
    filters: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    language: str = ""
    knowledge_bases: tuple[str, ...] = ()
    within: int = 0

    @property
    def grades(self) -> dict[str, int]:
        return {one.name: one.grade for one in self.expected}

    @property
    def digest(self) -> str:
        """Changes with what is asked and expected; results under one digest can be compared."""
        wanted = sorted((one.name, one.grade) for one in self.expected)
        return digest_of([self.query, dict(self.filters), wanted, self.within])


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Cases that are run together; `name` is what its runs are compared under."""

    name: str
    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        return digest_of([[case.id, case.digest] for case in self.cases])


def part_of(cases: Sequence[Case], tags: Sequence[str], sample: int | None) -> Sequence[Case]:
    """The cases with any of the tags, all where none is given; and of them at most `sample`, evenly spread.

    Raises `InvalidValue` where there are none, or for a sample below one.
    """
    tagged = [case for case in cases if not tags or not set(tags).isdisjoint(case.tags)]
    if not tagged:
        raise InvalidValue(what="A tag", value=", ".join(tags), reason="no case of this set has it")
    if sample is not None and sample < 1:
        raise InvalidValue(what="The sample", value=sample, reason="it must be at least 1")
    if sample is None or sample >= len(tagged):
        return tagged
    return [tagged[place * len(tagged) // sample] for place in range(sample)]


def digest_of(value: Any) -> str:
    """A short digest of what JSON can hold."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
