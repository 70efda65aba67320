"""What a message wants: something from the documents, an ordinary reply, or to be asked what it means.

Rules decide, from the words alone. What looks like anything that documents may know goes to them: a question that is
looked up in vain costs a moment, one that is not looked up is answered from nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.language.folding import fold
from wenyuan.language.identifiers import identifiers
from wenyuan.language.scripts import HAN
from wenyuan.language.words import query_tokens

Route = Literal["knowledge", "chat", "clarify"]
Prefer = Literal["auto", "knowledge", "chat"]
Judge = Callable[[str, Sequence[str]], Route | None]
"""Asks a model about a question and the messages before it; None where it cannot tell."""

_LONGEST_SMALL_TALK = 60
_END = r"[\s。．.!！?？~～,，、;；:：…)）]*"

_greeting = re.compile(
    r"(?:(?:hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day)|how are you(?: doing)?(?: today)?"
    r"|what'?s up|nice to meet you|你好|您好|嗨|哈喽|哈罗|早上好|早安|上午好|中午好|下午好|晚上好|大家好|在吗"
    r"|在么|在不在|你好吗"
    r"|最近好吗|吃了吗)(?:[ ,，]*(?:there|all|everyone|again|啊|呀|呢|哦|文渊|wenyuan))?" + _END + r"){1,3}\Z"
)
_thanks = re.compile(
    r"(?:(?:ok(?:ay)?|great|good|perfect|nice|cool|got it|i see|understood|alright|fine|well done|awesome|好的?"
    r"|好吧|行|可以|明白了?"
    r"|知道了|懂了|收到|了解了?|不错|很好|太好了|非常好|没事了|没有了|嗯|哦)[ ,，。!！]*+)*+"
    r"(?:(?:many )?thanks?(?: you)?(?: (?:so|very) much| a lot)?(?: for (?:the|your) (?:help|answer))?|thx|ty"
    r"|cheers|much appreciated"
    r"|谢谢(?:你|您|啦|了)?(?:的?(?:帮助|回答|解答))?|(?:多谢|感谢)(?:你|您)?(?:的?(?:帮助|回答|解答))?|辛苦了?"
    r"|谢了|bye|goodbye|see you(?: later)?"
    r"|good ?night|再见|拜拜|回头见|晚安)?" + _END + r"\Z"
)
_identity = re.compile(
    r"(?:who|what) (?:are|r) (?:you|u)\b(?! (?:doing|looking|saying))|what(?:'s| is) your name|introduce yourself"
    r"|what (?:can|do) you do(?: for me)?(?=\W*$)|how (?:can|do) (?:i use|you work)(?: you)?\b|are you (?:a "
    r"|an )?(?:bot|robot|human|ai|person|real)"
    r"|你(?:是|叫)(?:谁|什么|啥|机器人|真人|人工智能)|您(?:是|叫)(?:谁|什么)|你的名字|你会(?:什么|做什么|干什么"
    r"|干嘛)|你能(?:做|干|帮我做)(?:什么|啥|哪些)"
    r"|介绍(?:一下)?(?:你|您)自己|自我介绍|怎么(?:使用|用)你"
)
_conversation = re.compile(
    # What is to be done with what was said …
    r"(?:translate|summari[sz]e|rephrase|rewrite|shorten|expand|repeat|simplify|explain|reformat|continue|recap"
    r"|list|put|turn|make)"
    r".{0,40}\b(?:(?:your|the|that|this|my|our) (?:(?:last|previous|above|earlier|first|latest|most recent) )?"
    r"(?:answer|reply|response|message|conversation|discussion|chat|exchange)|what (?:you|we|i) (?:just "
    r"|have )?(?:said|wrote|discussed|talked about)"
    r"|the above|it again|yourself)"
    r"|^(?:please )?(?:translate|summari[sz]e|rephrase|shorten|repeat|say) (?:it|that|this"
    r"|again)\b(?! (?:document|file|page|report|contract|policy))"
    r"|\bwhat (?:did (?:i|you|we) (?:just )?(?:say|ask|talk about|discuss)|was my (?:last|first"
    r"|previous) (?:question|message))"
    r"|^(?:in english|in chinese|shorter|longer|more briefly|again|continue|go on)\W*$"
    r"|(?:翻译|译成|总结|概括|归纳|重复|复述|改写|缩写|扩写|精简|润色|简化|解释|整理|换种|换一种|列出|改成|写成"
    r"|变成|重说).{0,20}"
    r"(?:上一?[条个句段次轮]|上面|上述|前面|刚才|刚刚|之前)(?:.{0,10}(?:回答|回复|内容|话|消息|答案|说|聊|讨论|问))?"
    r"|(?:把|将|对)?(?:上一?[条个句段次轮](?:的)?(?:回答|回复|消息|答案|内容|话)?|上面(?:的|这)?(?:回答|回复"
    r"|内容|话)|你?刚才(?:的|说的)?(?:回答|回复|内容|话)?|你的(?:回答|回复)"
    r"|这(?:个|段|条)?(?:回答|回复))"
    r".{0,10}(?:翻译|译成|总结|概括|归纳|重复|复述|改写|缩短|精简|润色|简化|再说|重说|整理|改成|写成|变成"
    r"|用英[文语]|用中文)"
    r"|(?:我们|咱们|我|你)(?:刚才|刚刚|之前|前面|上面)(?:都)?(?:说|聊|讨论|谈|问)(?:的|了|过)"
    r"|(?:我)?(?:上|前)一?个问题是(?:什么|啥)|再说一[遍次]|^(?:继续|接着说|说短点|短一点|长一点|详细点|详细一点"
    r"|简单点|简单说|说简单点|用英[文语](?:说|回答)?|用中文(?:说|回答)?|翻译成(?:英|中)[文语])" + _END + r"\Z"
)
_documents = re.compile(
    r"\b(?:documents?|docs?|files?|knowledge base|library|according to|sources?|manual|handbook|report|contract"
    r"|policy|spec"
    r"|look up|search|find|retrieve|cite|citations?|pdf|slides?|spreadsheet|notes|minutes)\b"
    r"|文档|文件|资料|知识库|材料|根据|依据|手册|报告|合同|制度|规定|条款|检索|搜索|查一下|查询|查找|查查"
    r"|找一下|找找|出处|来源|引用|会议纪要|表格"
)
_pronoun_alone = re.compile(
    r"(?:(?:and|but|so|then|ok|well) )?(?:what|how|why|when|where|who|which)?(?:'s| is| are| was| were| does"
    r"| do| did| about| of| to| then)*+"
    r"(?: ?\b(?:it|(?:this|that|these|those)(?: one)?|they|them|he|she|him|her|one"
    r"|the (?:former|latter|other|same|first|second|next|last)(?: one)?))"
    r"(?: (?:mean|work|do|cost|happen|say|then|again|for|about|too|now|right|true|so))*+" + _END + r"\Z"
    r"|(?:那么?|请问|然后|所以|还有)?[,，]?(?:这个?|那个?|它们?|他们?|她们?|其|该|此|这些|那些|这样|那样|前者"
    r"|后者|上述)(?:的|是|呢|吗|么|嘛|啊|怎么样|怎样|如何|怎么办|为什么|什么|意思|"
    r"多少钱|多少|几个|在哪里?|哪里|什么时候|谁|有|能|可以|会|对|行|做|用|要|多久|原因)*+" + _END + r"\Z"
    r"|(?:为什么|怎么|怎么办|什么|多少|哪个|哪里|谁|why|how|what|when|where|who|which|how come|what else|and"
    r"|还有呢|然后呢|呢|那呢|所以呢|例如|比如|for example|such as|more|更多)" + _END + r"\Z"
)
_word = re.compile(r"[^\W_]")
_date_like = re.compile(rf"[0-9]{{2,}}|[0-9][年月日号]|[{HAN}][年月日号](?![{HAN}])")


@dataclass(frozen=True, slots=True)
class Intent:
    """Where a message goes, and the name of why: `greeting`, `identity`, `conversation`, `documents` and the like."""

    route: Route
    reason: str


def decide_intent(
    question: str, history: Sequence[str], prefer: Prefer, has_documents: bool, judge: Judge | None = None
) -> Intent:
    """Decide the route of a message; `history` are the messages before it, oldest first.

    Who prefers knowledge never gets a chat; who prefers a chat gets documents only where the message speaks of them.
    `has_documents` is whether there is anything to look into. `judge` is asked only where no rule knew better and the
    preference is `auto`; where it cannot tell, the documents are asked.
    """
    folded = " ".join(fold(question).split())
    small_talk = _small_talk(folded, bool(history))
    asks_documents = _documents.search(folded) is not None
    unclear = _unclear(folded, question, bool(history))
    if prefer == "knowledge":
        return Intent("clarify", unclear) if unclear else Intent("knowledge", "preferred")
    if prefer == "chat":
        if asks_documents and not small_talk and has_documents:
            return Intent("knowledge", "documents-asked-for")
        return Intent("chat", small_talk or "preferred")
    if small_talk:
        return Intent("chat", small_talk)
    if unclear:
        return Intent("clarify", unclear)
    if asks_documents:
        return Intent("knowledge", "documents-asked-for")
    if identifiers(question) or _date_like.search(folded):
        return Intent("knowledge", "names-something")
    judged = judge(question, history) if judge is not None else None
    if judged is not None:
        return Intent(judged, "judged")
    return Intent("knowledge", "default")


def _small_talk(folded: str, has_history: bool) -> str:
    """The kind of small talk, or of talk about the conversation, that a folded message is; "" where it is none."""
    if not _word.search(folded):
        return ""
    if len(folded) <= _LONGEST_SMALL_TALK:
        if _greeting.match(folded):
            return "greeting"
        if _thanks.match(folded):
            return "thanks"
        if _identity.search(folded):
            return "identity"
    if has_history and _conversation.search(folded):
        return "conversation"
    return ""


def _unclear(folded: str, question: str, has_history: bool) -> str:
    """Why nobody can know what a message asks for, or ""."""
    if not _word.search(folded):
        return "nothing-asked"
    if has_history or len(folded) > _LONGEST_SMALL_TALK:
        return ""
    refers = _pronoun_alone.match(folded) or _conversation.search(folded) or not query_tokens(question)
    return "nothing-to-refer-to" if refers else ""
