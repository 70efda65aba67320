"""A question's way to an answer: routed, put, looked up, answered, checked and kept, and each step is told of.

Where no language model is there, or it fails before it has said anything, the documents answer word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import TypeVar

from wenyuan import ports
from wenyuan.errors import ConfigurationError, EmptyQuestion, ProviderError, WenyuanError
from wenyuan.flows.answer import extract
from wenyuan.flows.conversation.asking import Asking, Conversation, Conversing, Room
from wenyuan.flows.conversation.context import messages_for, transcript
from wenyuan.flows.conversation.generate import Lookups, Written, generate
from wenyuan.flows.conversation.history import Past, past_of_messages, past_of_session
from wenyuan.flows.conversation.judging import judge_for
from wenyuan.flows.conversation.keeping import entitle, kept
from wenyuan.flows.conversation.model_calls import ModelCalls
from wenyuan.flows.conversation.reply import Body, checked
from wenyuan.flows.conversation.searching import search
from wenyuan.flows.conversation.steps import Step, StepName, Telling
from wenyuan.flows.conversation.turns import AnswerTurn
from wenyuan.flows.rewriting import Rewriter
from wenyuan.flows.table_answers import TableAnswer, answer_from_tables
from wenyuan.language.scripts import language_of
from wenyuan.prompts.loading import PromptName
from wenyuan.rules.conversation.routing import Intent, decide_intent
from wenyuan.rules.conversation.titles import title_of
from wenyuan.rules.explanations import explain_no_writer, explain_unclear
from wenyuan.store import knowledge_bases, scoped_documents
from wenyuan.types import Answer, FinishReason, GenerationRequest, JsonObject, Message, Scope, SearchResult

__all__ = ["Step", "StepName", "answer", "converse", "last"]

Outcome = TypeVar("Outcome")

_NOTHING_TO_READ = frozenset(("kb-unbound", "kb-archived", "kb-empty", "none-ready", "all-disabled", "all-blocked"))
_MOST_INLINE = 60
_REWRITE_TOKENS = 200


def converse(tools: Conversing, asked: Asking, scope: Scope) -> Generator[Step, None, None]:
    """Tell how a question is routed, put, looked up and answered, in this order; the last step is the message.

    Closed early, it ends what is under way, and what was said is kept. Raises at once `EmptyQuestion`,
    `KnowledgeBaseNotFound`, and for a model that was asked for by name `ConfigurationError`; at the first step
    `SessionNotFound` and `TurnNotFound`; what fails after the first word is raised by the step at which it does, with
    what was kept of it as `saved` in its details.
    """
    return _told(_begun(tools, asked, scope))


def answer(tools: Conversing, asked: Asking, scope: Scope) -> Answer:
    """Answer a question from the documents, as a whole. Raises what `converse` raises."""
    conversation = _begun(tools, replace(asked, prefer="knowledge", whole=True), scope)
    found = _ended(_retrieve(conversation, Past()))
    body = _ended(_answer(conversation, Past(), found))
    reply = kept(conversation, body, found.question)
    search = replace(found, degraded=reply.degraded, grounding=body.grounding or found.grounding)
    return Answer(
        found.question,
        reply.text,
        reply.citations,
        reply.grounded,
        reply.finish_reason,
        search,
        reply.model,
        reply.support,
        reply.invented,
    )


def last(steps: Sequence[Step]) -> JsonObject:
    """What a whole conversation came to: its message, with the sources and the route."""
    by_name = {step.name: step.data for step in steps}
    return {
        "trace_id": steps[-1].trace_id,
        "route": by_name["router.decision"]["route"],
        **by_name["assistant.message"],
        "explanation": by_name.get("rag.sources", {}).get("explanation", ""),
    }


# --- The way -------------------------------------------------------------------------------------


def _journey(conversation: Conversation) -> Generator[Step, None, None]:
    past = _past(conversation)
    intent = _route(conversation, past)
    yield conversation.tell(
        "router.decision", route=intent.route, reason=intent.reason, prefer=conversation.asked.prefer
    )
    question = conversation.asked.question
    match intent.route:
        case "clarify":
            body = yield from _say(conversation, explain_unclear(conversation.language), "fixed-reply")
        case "chat":
            body = yield from _chat(conversation, past)
        case "knowledge":
            found = yield from _retrieve(conversation, past)
            body = yield from _answer(conversation, past, found)
            question = found.question
    reply = kept(conversation, body, question)
    yield conversation.tell("assistant.message", **reply.members())
    entitle(conversation)


def _past(conversation: Conversation) -> Past:
    asked, turn = conversation.asked, conversation.turn
    if turn.number is None:
        return past_of_messages(asked.history)
    turns = conversation.tools.limits.history_turns
    return past_of_session(conversation.database, asked.session_id, turn.number - 1, turns)


def _route(conversation: Conversation, past: Past) -> Intent:
    """Without a model that writes there is no chat; who prefers one is told why."""
    asked = conversation.asked
    has_documents = bool(conversation.bases)
    if conversation.writer is None:
        intent = decide_intent(asked.question, past.texts, "knowledge", has_documents)
        reason = {"auto": "documents", "knowledge": "preferred", "chat": "no-generation-model"}[asked.prefer]
        return intent if intent.route == "clarify" else Intent("knowledge", reason)
    return decide_intent(asked.question, past.texts, asked.prefer, has_documents, judge_for(conversation))


def _retrieve(conversation: Conversation, past: Past) -> Generator[Step, None, SearchResult]:
    """Look into the documents; what is attached and short is read whole, whatever the question."""
    with conversation.database.read() as tx:
        read = [
            passage
            for document_id in conversation.asked.inline
            for base in conversation.bases
            if base.session_id
            for passage in scoped_documents.passages(tx, base.id, conversation.scope, document_id, 0, _MOST_INLINE)
        ]
    conversation.sources.add_read(read)
    asked = replace(conversation.asked.options, history=past.texts)
    rewriter = _rewriter(conversation) if past.messages else None
    found, _ = yield from search(conversation, conversation.asked.question, asked, number=1, rewriter=rewriter)
    return found


def _answer(conversation: Conversation, past: Past, found: SearchResult) -> Generator[Step, None, Body]:
    """The model writes; without one, or where it fails before the first word, the documents answer themselves."""
    writer = conversation.writer
    if found.why_empty in _NOTHING_TO_READ and not conversation.sources.all():
        return (yield from _say(conversation, found.explanation, "fixed-reply"))
    if writer is not None and not writer.profile.can_call_tools:
        # It cannot ask the tables itself, and would count what it was shown.
        figures = answer_from_tables(conversation.tools.retrieving, conversation.scope, found)
        if figures is not None:
            return (yield from _state(conversation, figures))
    if writer is not None and (conversation.sources.all() or _may_search(conversation, writer)):
        try:
            body = yield from _written(conversation, writer, past)
        except (ProviderError, ConfigurationError) as error:
            if conversation.turn.text and not conversation.asked.whole:
                raise
            conversation.turn.begin_anew()
            conversation.degrade("answer", error)
        else:
            return body if body is not None else (yield from _say(conversation, found.explanation, "fallback"))
    return (yield from _extracted(conversation, found))


def _written(conversation: Conversation, writer: ports.Generator, past: Past) -> Generator[Step, None, Body | None]:
    """What a model writes from the sources, checked; None where it found none to rest on."""
    lookups = _lookups(conversation, writer)
    prompt: PromptName = "answer-action" if lookups == "action" else "answer-tools"
    messages = messages_for(conversation, writer, prompt, past, conversation.sources.all())
    written = yield from generate(conversation, writer, messages, lookups, needs_sources=True)
    shown = conversation.sources.shown
    if written.reason == "stopped" and not shown:
        return Body("stopped")
    if not shown:
        conversation.turn.begin_anew()
        return None
    return checked(conversation.turn.text, written.reason, written.model, written.invented, shown)


def _lookups(conversation: Conversation, writer: ports.Generator) -> Lookups:
    if not conversation.tools.limits.rounds:
        return "none"
    return "tools" if writer.profile.can_call_tools else "action"


def _may_search(conversation: Conversation, writer: ports.Generator) -> bool:
    """Whether a model may find with words of its own what the question's words did not find."""
    return _lookups(conversation, writer) == "tools"


def _extracted(conversation: Conversation, found: SearchResult) -> Generator[Step, None, Body]:
    figures = answer_from_tables(conversation.tools.retrieving, conversation.scope, found)
    if figures is not None:
        return (yield from _state(conversation, figures))
    made = extract(conversation.tools.retrieving, found)
    conversation.degradations.extend(made.search.degraded)
    yield from _say(conversation, made.text, made.finish_reason)
    return Body(made.finish_reason, made.grounded, made.citations, grounding=made.search.grounding)


def _state(conversation: Conversation, figures: TableAnswer) -> Generator[Step, None, Body]:
    """What tables say; or that they do not say it, and why."""
    reason: FinishReason = "extractive" if figures.is_exact else "fallback"
    yield from _say(conversation, figures.text, reason)
    return Body(reason, "likely" if figures.is_exact else "unlikely", figures.citations)


def _chat(conversation: Conversation, past: Past) -> Generator[Step, None, Body]:
    """A reply that needs no documents; it may repeat the citations of the answer before it."""
    writer = conversation.writer
    cited = frozenset(citation.number for citation in past.citations)
    try:
        if writer is None:
            return (yield from _say(conversation, explain_no_writer(conversation.language), "fallback"))
        messages = messages_for(conversation, writer, "chat", past, ())
        written: Written = yield from generate(conversation, writer, messages, "none", cited)
    except (ProviderError, ConfigurationError) as error:
        if conversation.turn.text and not conversation.asked.whole:
            raise
        conversation.turn.begin_anew()
        conversation.degrade("answer", error)
        return (yield from _say(conversation, explain_no_writer(conversation.language), "fallback"))
    text = conversation.turn.text
    return checked(text, written.reason, written.model, written.invented, (), past.citations)


def _say(conversation: Conversation, text: str, reason: FinishReason) -> Generator[Step, None, Body]:
    """Say what is known already, in the pieces in which it was put together."""
    for piece in text.splitlines(keepends=True):
        conversation.turn.say(piece)
        if not conversation.asked.whole:
            yield conversation.tell("assistant.delta", text=piece)
    return Body(reason)


# --- Its beginning and its end -------------------------------------------------------------------


def _begun(tools: Conversing, asked: Asking, scope: Scope) -> Conversation:
    # A lone surrogate is no character and could not be stored.
    question = asked.question.encode("utf-8", "replace").decode("utf-8").strip()
    if not question:
        raise EmptyQuestion()
    if scope.documents is not None:
        scope = replace(scope, documents=scope.documents + scope.attachments)
    with tools.retrieving.database.read() as tx:
        bases = tuple(base for base in knowledge_bases.permitted(tx, scope) if base.state == "active")
    degraded: list[str] = []
    seconds = tools.limits.seconds if asked.seconds is None else asked.seconds
    clock = tools.retrieving.clock
    turn = AnswerTurn(tools.retrieving.database, clock, tools.limits.save_seconds)
    return Conversation(
        tools=tools,
        asked=replace(asked, question=question),
        scope=scope,
        bases=bases,
        writer=_writer(tools, asked, degraded),
        language=language_of(question),
        tell=Telling(tools.retrieving.new_id("trace")),
        began=clock(),
        calls=ModelCalls(clock, seconds, _saving(turn, asked.stopped)),
        turn=turn,
        room=Room(),
        degradations=degraded,
    )


def _saving(turn: AnswerTurn, stopped: Callable[[], bool] | None) -> Callable[[], bool] | None:
    """Asks whether to stop, and saves meanwhile what a model said that has fallen silent."""
    if stopped is None:
        return None

    def glance() -> bool:
        turn.save_if_due()
        return stopped()

    return glance


def _writer(tools: Conversing, asked: Asking, degraded: list[str]) -> ports.Generator | None:
    try:
        return tools.writer(asked.model)
    except ConfigurationError as error:
        if asked.model:
            raise
        degraded.append(f"answer: {error.code}")
        return None


def _told(conversation: Conversation) -> Generator[Step, None, None]:
    """The steps of the way. However it ends, what was said until then is kept."""
    asked, turn = conversation.asked, conversation.turn
    if asked.session_id:
        turn.begin(
            asked.session_id,
            conversation.asked.question,
            conversation.tell.trace_id,
            asked.attached,
            asked.replaces,
            title_of(conversation.asked.question),
        )
    try:
        yield from _journey(conversation)
    except (GeneratorExit, KeyboardInterrupt):
        _keep_part(conversation, "stopped")
        raise
    except WenyuanError as error:
        _keep_part(conversation, "interrupted", error)
        error.details["saved"] = {"text": turn.text, "turn": turn.number}
        raise
    finally:
        if not turn.is_finished:
            # What nobody foresaw: the turn stays one that was interrupted.
            turn.save()


def _keep_part(conversation: Conversation, reason: FinishReason, error: WenyuanError | None = None) -> None:
    """Keep what was said of an answer that is not whole."""
    if conversation.turn.is_finished:
        return
    if error is not None:
        conversation.degrade("answer", error)
    shown = conversation.sources.shown
    body = checked(conversation.turn.text, reason, "", (), shown) if shown else Body(reason)
    kept(conversation, body, conversation.asked.question)


def _rewriter(conversation: Conversation) -> Rewriter | None:
    """Puts a question so that it stands alone, by the model for small tasks, where there is one."""
    try:
        helper = conversation.tools.helper()
    except ConfigurationError as error:
        conversation.degrade("rewrite", error)
        return None
    if helper is None:
        return None

    def rewrite(question: str, history: Sequence[str]) -> str:
        prompt = conversation.tools.prompts.get("rewrite", conversation.language)
        said = transcript([Message("user", text) for text in history])
        text = prompt.render({"history": said, "question": question})
        request = GenerationRequest((Message("user", text),), max_output_tokens=_REWRITE_TOKENS)
        return conversation.calls.text(helper, "rewrite", request)

    return rewrite


def _ended(steps: Generator[Step, None, Outcome]) -> Outcome:
    """What steps come to that nobody is told of."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
