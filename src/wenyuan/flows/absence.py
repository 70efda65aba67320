"""What a question names and no document holds."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.flows.recall import Asked, Recall
from wenyuan.flows.weigh import Weighed
from wenyuan.language.folding import fold
from wenyuan.language.questions.asked_names import asked_names


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
    for passage in weighed.passages.values():
        chunk = passage.chunk
        folded = fold("\n".join((passage.document_name, *chunk.heading_path, chunk.context, chunk.text)))
        if any(name.is_written_in(folded) for name in names):
            return ()
    return tuple(name.text for name in names)
