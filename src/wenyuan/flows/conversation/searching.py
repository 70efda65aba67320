"""One search of a conversation: its steps are told, and what it finds becomes sources."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from wenyuan.flows.conversation.asking import Conversation
from wenyuan.flows.conversation.sources import Source
from wenyuan.flows.conversation.steps import Step, retrieval_steps, trace_of
from wenyuan.flows.retrieve import SearchOptions, retrieve
from wenyuan.flows.rewriting import Rewriter
from wenyuan.types import SearchResult


def search(
    conversation: Conversation,
    question: str,
    options: SearchOptions,
    *,
    number: int,
    rewriter: Rewriter | None = None,
) -> Generator[Step, None, tuple[SearchResult, tuple[Source, ...]]]:
    """Search in the round of that number; the first one is asked what the person asked, and has the trace's id.

    Raises what `retrieve` raises.
    """
    tools, tell = replace(conversation.tools.retrieving, rewriter=rewriter), conversation.tell
    if number == 1:
        tools = replace(tools, new_id=_named(tools.new_id, tell.trace_id))
    began = tools.clock()
    found = retrieve(tools, question, conversation.scope, options)
    milliseconds = round((tools.clock() - began) * 1000, 1)
    sources = conversation.sources.add_hits(found.hits)
    # What was read whole before the first search is among its sources.
    told = conversation.sources.all() if number == 1 else sources
    trace = trace_of(tools, conversation.scope, found.trace_id)
    yield from retrieval_steps(tell, found, told, trace, number=number, top_k=options.top_k, milliseconds=milliseconds)
    conversation.degradations.extend(found.degraded)
    return found, sources


def _named(new_id: Callable[[str], str], trace_id: str) -> Callable[[str], str]:
    """Ids as before, but for the trace, which has its id already."""
    return lambda kind: trace_id if kind == "trace" else new_id(kind)
