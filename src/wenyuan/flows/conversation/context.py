"""What the model that answers is told: who it is, what was said before, the documents and the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wenyuan import ports
from wenyuan.errors import ConfigurationError, ProviderError
from wenyuan.flows.conversation.asking import Conversation
from wenyuan.flows.conversation.blocks import block_of
from wenyuan.flows.conversation.history import Past, in_blocks
from wenyuan.flows.conversation.sources import Source
from wenyuan.prompts.loading import PromptName
from wenyuan.rules.conversation.budget import MAX_CONTEXT_MESSAGES, FittedSource, fit, shortened
from wenyuan.rules.conversation.document_blocks import SourceDocument, document_blocks, neutralised
from wenyuan.types import GenerationRequest, Message

_ANSWER_SHARE = 4
_ANSWER_TOKENS = 2000
_SUMMARY_TOKENS = 600
_HISTORY_IN_SUMMARY = 3


def messages_for(
    conversation: Conversation, generator: ports.Generator, prompt: PromptName, past: Past, sources: Sequence[Source]
) -> list[Message]:
    """The messages to send, within the window of the model: what does not fit is left out, and named.

    Documents and the newest question are in one message of their own. Raises `ContextTooSmall` or `PromptInvalid`.
    """
    system = _rendered(conversation, prompt)
    history = past.messages if prompt == "chat" else past.without_markers()
    window, reserve = window_of(generator)
    question = _question(conversation, (), prompt)
    texts = [_words(block_of(source)) for source in sources]
    fitted = fit(
        window_tokens=window, answer_tokens=reserve, system=system, question=question, history=history, sources=texts
    )
    if fitted.older:
        # A summary takes the place of whole blocks of messages, so that it is not another one for each question.
        count = min(in_blocks(len(fitted.older)), max(0, len(history) - 2))
        summary = _summary(conversation, history[:count])
        if summary:
            system = f"{system}\n\n{summary}"
            fitted = fit(
                window_tokens=window,
                answer_tokens=reserve,
                system=system,
                question=question,
                history=history[count:],
                sources=texts,
                max_context_messages=MAX_CONTEXT_MESSAGES,
            )
    conversation.left_out.extend(fitted.left_out)
    conversation.room.begin(window - reserve - fitted.tokens)
    shown = [_shown(conversation, sources[one.number], one) for one in fitted.sources]
    return [
        Message("system", system),
        *fitted.history,
        Message("user", _question(conversation, shown, prompt)),
    ]


def window_of(generator: ports.Generator) -> tuple[int, int]:
    """The window of a model in tokens, and how many of them are kept free for its answer."""
    profile = generator.profile
    reserve = profile.max_output_tokens or _ANSWER_TOKENS
    return profile.context_tokens, min(reserve, profile.context_tokens // _ANSWER_SHARE)


def _rendered(conversation: Conversation, name: PromptName) -> str:
    prompt = conversation.tools.prompts.get(name, conversation.language)
    conversation.prompts_used.append(prompt.identity)
    bases = [base for base in conversation.bases if not base.session_id]
    return prompt.render(
        {
            "persona": "\n".join(filter(None, (base.persona.strip() for base in bases))),
            "scenario": "; ".join(filter(None, (" ".join(base.scenario.split()) for base in bases))),
            "knowledge_bases": ", ".join(base.name for base in bases),
            "today": conversation.tools.retrieving.today().isoformat(),
            "rounds": str(conversation.tools.limits.rounds),
        }
    )


def _question(conversation: Conversation, documents: Sequence[SourceDocument], name: PromptName) -> str:
    question = conversation.asked.question
    if name == "chat":
        return question
    prompt = conversation.tools.prompts.get("question", conversation.language)
    values = {"documents": document_blocks(documents), "question": question, "note": _unread(conversation)}
    return prompt.render(values)


_UNREAD = {
    "en": "Attached, but not read, so that nothing can be said of it: {files}.",
    "zh": "已附上但尚未读取，因此不能对其内容作任何说明：{files}。",
}


def _unread(conversation: Conversation) -> str:
    """Which files the model does not see, and why; names are data as well."""
    unread = conversation.asked.unread
    if not unread:
        return ""
    files = "; ".join(f"{' '.join(neutralised(one.name).split())} ({one.why})" for one in unread)
    return _UNREAD["zh" if conversation.language == "zh" else "en"].format(files=files)


def _words(document: SourceDocument) -> str:
    return f"{document.context}\n{document.text}" if document.context else document.text


def _shown(conversation: Conversation, source: Source, fitted: FittedSource) -> SourceDocument:
    conversation.sources.show(source)
    document = block_of(source)
    return replace(document, text=fitted.text, context="") if fitted.shortened else document


# --- What was said long ago ----------------------------------------------------------------------

_SUMMARISED = {"en": "What was said earlier in this conversation, in brief:", "zh": "这段对话较早的内容，概括如下："}


def _summary(conversation: Conversation, messages: Sequence[Message]) -> str:
    """The beginning of the conversation in brief; "" where no model could put it so, which is named."""
    language = "zh" if conversation.language == "zh" else "en"
    try:
        helper = conversation.tools.helper()
        if helper is None or not messages:
            return ""

        def summarise(summary: str, more: Sequence[Message]) -> str:
            window, _ = window_of(helper)
            history = shortened(transcript(more), window // _HISTORY_IN_SUMMARY)
            prompt = conversation.tools.prompts.get("compaction", conversation.language)
            asked = prompt.render({"summary": summary, "history": history})
            request = GenerationRequest((Message("user", asked),), max_output_tokens=_SUMMARY_TOKENS)
            return conversation.calls.text(helper, "compaction", request).strip()

        text = conversation.tools.summaries.of(messages, summarise)
    except (ProviderError, ConfigurationError) as error:
        conversation.degrade("compaction", error)
        return ""
    return f"{_SUMMARISED[language]}\n{text}" if text else ""


def transcript(messages: Sequence[Message]) -> str:
    return "\n".join(f"{message.role}: {message.text}" for message in messages)
