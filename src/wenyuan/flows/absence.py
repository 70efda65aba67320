"""What a question names and no document holds, or what was found for it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wenyuan.flows.recall import Asked, Recall
from wenyuan.flows.weigh import Weighed
from wenyuan.language.folding import fold
from wenyuan.language.questions.asked_names import asked_names
from wenyuan.types import Passage


def absent_names(asked: Asked, found: Sequence[Recall], weighed: Weighed) -> tuple[str, ...]:
    """The names of functions, options and the like in a question, where not one of them stands anywhere.

    The index tells, by the tokens of each name; then the candidates, which may write it in words.
    """
    names = asked_names(asked.whole.asked)
    if not names or not any(one.size for one in found):
        return ()
    for one in found:
        plan = asked.within(one.knowledge_base.id).whole
        looked_up = {*plan.tokens, *plan.aliases}
        if one.size and not all(name.is_unknown(one.frequency, looked_up) for name in names):
            return ()
    if any(name.is_written_in(_folded(passage)) for passage in weighed.passages.values() for name in names):
        return ()
    return tuple(name.text for name in names)


def holds_names(asked: Asked, passages: Iterable[Passage]) -> bool:
    """Whether a question has names of functions, options and the like, all of which stand in one of the passages."""
    names = asked_names(asked.whole.asked)
    return bool(names) and any(all(name.is_written_in(_folded(passage)) for name in names) for passage in passages)


def _folded(passage: Passage) -> str:
    chunk = passage.chunk
    return fold("\n".join((passage.document_name, *chunk.heading_path, chunk.context, chunk.text)))
