"""A model is asked what a message wants, where no rule knows and the settings want it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from wenyuan.errors import ConfigurationError, ProviderError
from wenyuan.flows.conversation.asking import Conversation
from wenyuan.rules.conversation.rewriting import MOST_MESSAGES
from wenyuan.rules.conversation.routing import Judge, Route
from wenyuan.types import GenerationRequest, Message

_TOKENS = 20
_LONGEST_MESSAGE = 500


def judge_for(conversation: Conversation) -> Judge | None:
    """Asks the model for small tasks; None where it is not wanted. What fails is named, and the rules decide."""
    if not conversation.tools.limits.has_model_routing:
        return None

    def judge(question: str, history: Sequence[str]) -> Route | None:
        prompts, bases = conversation.tools.prompts, conversation.bases
        try:
            helper = conversation.tools.helper()
            if helper is None:
                return None
            values = {
                "history": "\n".join(message[:_LONGEST_MESSAGE] for message in history[-MOST_MESSAGES:]),
                "question": question,
                "knowledge_bases": ", ".join(base.name for base in bases if not base.session_id),
            }
            text = prompts.get("route", conversation.language).render(values)
            request = GenerationRequest((Message("user", text),), max_output_tokens=_TOKENS)
            return _route_in(conversation.calls.text(helper, "route", request))
        except (ProviderError, ConfigurationError) as error:
            conversation.degrade("route", error)
            return None

    return judge


def _route_in(said: str) -> Route | None:
    """The one route that a model named; None where it named none or several."""
    named = [route for route in get_args(Route) if route in said.lower()]
    return named[0] if len(named) == 1 else None
