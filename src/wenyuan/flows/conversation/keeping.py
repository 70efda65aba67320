"""What a conversation leaves behind: its trace, its turn, and the title of its session."""

from __future__ import annotations

import logging
from dataclasses import replace

from wenyuan.errors import ConfigurationError, ProviderError, SessionNotFound, StorageError
from wenyuan.flows.conversation.asking import Conversation
from wenyuan.flows.conversation.reply import Body, Reply, stored
from wenyuan.flows.tracing import keep_made
from wenyuan.rules.conversation.titles import title_of
from wenyuan.store import sessions
from wenyuan.types import GenerationRequest, JsonObject, Message

_LOG = logging.getLogger("wenyuan.conversation")
_TITLE_TOKENS = 60
_FIRST_ANSWER = 2


def kept(conversation: Conversation, body: Body, question: str) -> Reply:
    """The reply, once it is in the trace of the question and in the turn of its session.

    What cannot be kept is named in the reply's `degraded`.
    """
    reply = Reply(
        text=conversation.turn.text,
        citations=body.citations,
        support=body.support,
        invented=body.invented,
        grounded=body.grounded,
        finish_reason=body.finish_reason,
        degraded=tuple(dict.fromkeys(conversation.degradations)),
        unread=conversation.asked.unread,
        model=body.model,
        prompt_version=", ".join(dict.fromkeys(conversation.prompts_used)),
        usage=conversation.calls.usage,
        latency_ms=conversation.milliseconds(),
        turn=conversation.turn.number,
        sources=() if body.finish_reason == "fallback" else tuple(s.evidence for s in conversation.sources.all()),
    )
    made = _made(conversation, body, reply)
    conversation.tools.told(conversation.tell.trace_id, made)
    untraced = keep_made(
        conversation.database,
        conversation.scope,
        conversation.tell.trace_id,
        question,
        conversation.bases,
        made,
        reply.degraded,
    )
    if untraced is not None and untraced not in reply.degraded:
        reply = replace(reply, degraded=(*reply.degraded, untraced))
    members, named = stored(reply)
    conversation.turn.finish(reply.text, members, named)
    if conversation.turn.degraded:
        reply = replace(reply, degraded=(*reply.degraded, conversation.turn.degraded))
    return replace(reply, turn=conversation.turn.number)


def _made(conversation: Conversation, body: Body, reply: Reply) -> JsonObject:
    """What a trace says of an answer: never its words, nor those of documents."""
    return {
        "grounded": reply.grounded,
        "grounding": body.grounding,
        "finish_reason": reply.finish_reason,
        "citations": [{"chunk": one.chunk_id, "start": one.start, "end": one.end} for one in reply.citations],
        "support": [
            {"start": one.start, "end": one.end, "numbers": one.numbers, "support": one.support}
            for one in reply.support
        ],
        "invented": reply.invented,
        "prompt": reply.prompt_version,
        "model_calls": conversation.calls.records,
        "usage": reply.usage,
        "lookups": conversation.lookups,
        "shown": [source.number for source in conversation.sources.shown],
        "left_out": conversation.left_out,
        "session": conversation.asked.session_id,
        "turn": reply.turn,
        "latency_ms": reply.latency_ms,
    }


def entitle(conversation: Conversation) -> None:
    """Have the first question of a session put as its title by a model, where that is wanted.

    The title that was made of the question stays where no model gives a better one.
    """
    asked, tools, turn = conversation.asked, conversation.tools, conversation.turn
    if not tools.limits.has_model_titles or turn.number != _FIRST_ANSWER:
        return
    try:
        helper = tools.helper()
        if helper is None:
            return
        prompt = tools.prompts.get("title", conversation.language)
        text = prompt.render({"question": asked.question, "answer": turn.text[:1000]})
        request = GenerationRequest((Message("user", text),), max_output_tokens=_TITLE_TOKENS)
        title = title_of(conversation.calls.text(helper, "title", request).strip().strip("\"'“”「」《》"))
        if title:
            with conversation.database.write(durable=False) as tx:
                session = sessions.find(tx, conversation.scope.principal, asked.session_id)
                if session.title == title_of(asked.question):
                    sessions.rename(tx, session, title)
    except (ProviderError, ConfigurationError, StorageError, SessionNotFound) as error:
        # The answer was told already, and nobody waits for a title.
        _LOG.warning("session %s got no title from a model: %s", asked.session_id, error.message)
