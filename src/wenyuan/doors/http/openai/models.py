"""Knowledge bases as models: `kb:NAME`, `kb:NAME+NAME` and `kb:*`."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.errors import KnowledgeBaseNotFound, OpenAIModelNotFound
from wenyuan.runtime.granted import GrantedLibrary

PREFIX = "kb:"
EVERYTHING = f"{PREFIX}*"


def models_of(library: GrantedLibrary) -> list[tuple[str, int]]:
    """Every model there is for a caller, with the second in which it was made: 0 for what always was there."""
    bases = [one.knowledge_base for one in library.knowledge_bases()]
    made = [(f"{PREFIX}{one.name}", one.created_at // 1000) for one in bases]
    everything = [(EVERYTHING, max(second for _, second in made))] if made else []
    return [*everything, *made, *((name, 0) for name in library.embeddings.models())]


def model_of(library: GrantedLibrary, name: str) -> tuple[str, int]:
    """The model of that name, several knowledge bases at once included. Raises `OpenAIModelNotFound`."""
    known = dict(models_of(library))
    if name in known:
        return name, known[name]
    bases = bases_of(library, name)
    return name, max((library.knowledge_base(one).knowledge_base.created_at // 1000 for one in bases or ()), default=0)


def bases_of(library: GrantedLibrary, name: str) -> Sequence[str] | None:
    """The ids of the knowledge bases that a model stands for; None for all that are granted.

    A knowledge base whose own name holds a plus sign is meant before several of other names are. Raises
    `OpenAIModelNotFound`.
    """
    if name == EVERYTHING:
        return None
    if not name.startswith(PREFIX):
        raise OpenAIModelNotFound(model=name)
    whole = name.removeprefix(PREFIX)
    try:
        return _ids(library, [whole])
    except KnowledgeBaseNotFound:
        pass
    try:
        return _ids(library, list(dict.fromkeys(whole.split("+"))))
    except KnowledgeBaseNotFound as error:
        raise OpenAIModelNotFound(model=name) from error


def _ids(library: GrantedLibrary, names: Sequence[str]) -> list[str]:
    return [library.knowledge_base(one).knowledge_base.id for one in names]
