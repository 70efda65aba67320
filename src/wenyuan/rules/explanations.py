"""Sentences that tell a person what was found, or why nothing was and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EmptyReason:
    """Why a search found nothing: a stable code, and the numbers behind it."""

    code: str
    details: Mapping[str, Any] = field(default_factory=dict)


_EMPTY: Mapping[str, tuple[str, str]] = {
    "kb-unbound": (
        "No knowledge base is bound, so nothing was looked into. Name one; `wenyuan kb list` shows them.",
        "没有绑定知识库，因此没有查找任何内容。请指定一个；`wenyuan kb list` 列出全部知识库。",
    ),
    "kb-archived": (
        "Every knowledge base asked is archived. Bring one back with `wenyuan kb unarchive NAME`.",
        "所查的知识库都已归档。用 `wenyuan kb unarchive 名称` 恢复。",
    ),
    "kb-empty": (
        "There are no documents yet. Add some with `wenyuan add PATH`.",
        "还没有文档。用 `wenyuan add 路径` 添加。",
    ),
    "none-ready": (
        "No document is ready yet: {processing} in the queue, {failed} failed. `wenyuan docs list` shows how each "
        "stands; `wenyuan worker --drain` does the waiting work.",
        "还没有可检索的文档：{processing} 个在排队，{failed} 个失败。`wenyuan docs list` 查看状态；"
        "`wenyuan worker --drain` 处理排队的任务。",
    ),
    "all-disabled": (
        "All {disabled} documents are switched off. Switch one on with `wenyuan docs enable NAME`.",
        "全部 {disabled} 个文档都已停用。用 `wenyuan docs enable 名称` 启用。",
    ),
    "all-blocked": (
        "No document may be found: {blocked} are kept out by the policy of their knowledge base. `wenyuan docs list "
        "--blocked` tells why; `wenyuan kb set NAME` changes what it takes.",
        "没有可检索的文档：{blocked} 个被知识库的规定阻止。`wenyuan docs list --blocked` 说明原因；"
        "`wenyuan kb set 名称` 更改接收的内容。",
    ),
    "filters-excluded-all": (
        "The documents named or the filters leave out all {documents} documents that could be searched. Ask with fewer "
        "of them.",
        "文档限定或筛选条件排除了全部 {documents} 个可检索的文档。放宽条件再问。",
    ),
    "index-building": (
        "No words matched, and the vectors of {missing} of {total} documents are still being made. "
        "`wenyuan jobs list` shows how far they are; ask again then.",
        "没有词语匹配，且 {total} 个文档中有 {missing} 个的向量仍在生成。`wenyuan jobs list` 查看进度，稍后再问。",
    ),
    "below-threshold": (
        "The best passage that was found is too far from the question: {best}, and at least {floor} is needed. Try "
        "other words.",
        "找到的最好的段落与问题也相差太远：{best}，至少需要 {floor}。换些词再试。",
    ),
    "all-excluded": (
        "Every passage that was found ({passages}) holds a word you exclude. Ask without -{words}.",
        "找到的 {passages} 段都含有你排除的词。去掉 -{words} 再问。",
    ),
    "no-match": (
        "Nothing that was looked into holds any of the words (in brackets, how many passages of all do): {tokens}. "
        "Try other words, or fewer, or a wider filter.",
        "所查范围内没有这些词（括号内为全部段落中含有该词的段数）：{tokens}。换些词，或少用几个词，或放宽筛选条件再试。",
    ),
}

EMPTY_CODES = tuple(_EMPTY)


def explain_empty(reason: EmptyReason, language: str) -> str:
    """The sentence for an empty result, in Chinese for `zh`, else in English."""
    english, chinese = _EMPTY[reason.code]
    return (chinese if language == "zh" else english).format_map(reason.details)


def explain_found(passages: int, documents: int, language: str) -> str:
    if language == "zh":
        return f"在 {documents} 个文档中找到 {passages} 段。"
    return f"Found {passages} passage{'s' * (passages != 1)} in {documents} document{'s' * (documents != 1)}."


def explain_unclear(language: str) -> str:
    """What to ask back where a question does not say what it is about."""
    if language == "zh":
        return "这个问题没有说明指的是什么。请补充一下：是哪份文档、哪件事、哪一天？"
    return "The question does not say what it is about. Which document, which matter, or which day do you mean?"


def explain_no_writer(language: str) -> str:
    """What to say to a message that only a language model could reply to, where none can be reached."""
    if language == "zh":
        return "现在无法使用语言模型，因此只能根据文档回答。请直接问文档里的内容。"
    return "No language model can be used just now, so answers come from the documents alone. Ask about those."


def explain_unanswered(missing: Sequence[str], closest: Sequence[str], language: str) -> str:
    """The sentence for passages that were found but do not seem to answer the question.

    `missing` is what the question names and no document holds, `closest` the places of the nearest passages; where
    something is missing they are not told, since what is written there is about something else.
    """
    if language == "zh":
        if missing:
            return f"文档中没有找到 {'、'.join(missing)}，因此不作回答。搜索可以查看最接近的段落。"
        return f"文档中没有明确回答这个问题的内容。最接近的段落：{'；'.join(closest)}。"
    if missing:
        return f"{', '.join(missing)} stands nowhere in the documents. A search shows the closest passages."
    return f"Nothing in the documents clearly answers this. The closest passages: {'; '.join(closest)}."
