"""A question that leans on the conversation, put so that it stands alone; a stage a search can do without."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from wenyuan.errors import WenyuanError
from wenyuan.flows.recall import Asked
from wenyuan.language.questions.reading import read_question
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.rules.conversation.rewriting import MOST_MESSAGES, accepted, needs_rewrite
from wenyuan.rules.observer import Observer
from wenyuan.types import Plan

Rewriter = Callable[[str, Sequence[str]], str]
"""Makes one question of a question and the messages before it, oldest first. Raises `WenyuanError`."""


def read_asked(
    observe: Observer,
    question: str,
    history: Sequence[str],
    rewriter: Rewriter | None,
    today: datetime.date,
    vocabularies: Mapping[str, Vocabulary],
) -> Asked:
    """Read the question, and its rewrite where there is one.

    `vocabularies` are those of the knowledge bases that have any, by id: each reads the question in
    its own words.
    """
    rewrite = _rewrite(observe, question, history, rewriter) if history or rewriter is not None else None
    with observe.stage("read") as stage:
        asked = _read(question, rewrite, today, EMPTY)
        own = {base: _read(question, rewrite, today, vocabulary) for base, vocabulary in vocabularies.items()}
        stage.count = len(asked.whole.tokens) + len(asked.whole.aliases)
        return replace(asked, whole=reduce(_union, (one.whole for one in own.values()), asked.whole), own=own)


def _read(question: str, rewrite: str | None, today: datetime.date, vocabulary: Vocabulary) -> Asked:
    raw = read_question(question, today, vocabulary)
    if rewrite is None:
        return Asked(raw, None, raw)
    rewritten = read_question(rewrite, today, vocabulary)
    return Asked(raw, rewritten, _union(rewritten, raw, raw.question, raw.asked))


def _rewrite(observe: Observer, question: str, history: Sequence[str], rewriter: Rewriter | None) -> str | None:
    with observe.stage("rewrite") as stage:
        reason = needs_rewrite(question, history)
        if reason is None and rewriter is None:
            reason = "fallback-no-config"
        if reason is not None or rewriter is None:
            stage.status = reason or ""
            return None
        try:
            rewrite = accepted(rewriter(question, history[-MOST_MESSAGES:]), question)
        except WenyuanError as error:
            stage.status = "failed-provider"
            observe.degrade("rewrite: failed-provider", error.message)
            return None
        if rewrite is None:
            stage.status = "rejected-output"
            observe.degrade("rewrite: rejected-output")
        else:
            stage.details["rewritten"] = rewrite
        return rewrite


def _union(first: Plan, second: Plan, question: str = "", asked: str = "") -> Plan:
    """What both say together: a rewrite never removes a date or a code."""
    return replace(
        first,
        question=question or first.question,
        asked=asked or first.asked,
        tokens=_joined(first.tokens, second.tokens),
        aliases=_joined(first.aliases, second.aliases),
        dates=tuple(dict.fromkeys([*first.dates, *second.dates])),
        versions=_joined(first.versions, second.versions),
        codes=_joined(first.codes, second.codes),
        phrases=_joined(first.phrases, second.phrases),
        excluded=_joined(first.excluded, second.excluded),
        notes=_joined(first.notes, second.notes),
        names=_joined(first.names, second.names),
        as_of=first.as_of if first.as_of is not None else second.as_of,
    )


def _joined(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*some, *others]))
