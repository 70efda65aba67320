"""As of: the day at which what a question asks for was valid (2024 年 6 月有效的政策, as of June 2024, 现行政策)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wenyuan.language.dates.mentions import DateMention

_VALID = "(?:有效|生效|适用|施行|执行|实施|现行)"
_STILL = r"(?:仍然?|还|已经?|正在?)?\s?"
# What holds until it is replaced, so that one version of it was the valid one: not minutes, not news.
_LASTING = (
    "(?:版本?|政策|规[定则章范程]|制度|标准|准则|条款|条例|办法|守则|手册|指南|细则|章程|法律|法规|法令|价格|价目|定价"
    "|单价|[费税利汇电油房票]价|[费税利汇]率|收费|合同|协议|流程|方案|要求|上限|下限|限额|额度|补[贴助]|津贴|待遇|编制)"
)
_before = re.compile(
    r"(?:截至|截止[到至]?|as\s(?:of|at)"
    r"|\b(?:valid|effective|in\s(?:force|effect)|applicable|applied|current)(?:\s(?:on|in|at|from|during|as\sof))?)"
    r"(?:\s(?:the\send\sof|the))?\s?$"
)
# Between 当时的 and the word for what was valid stands its name (差旅政策), but nothing that acts.
_after = re.compile(
    rf"\s?(?:当?时|那时|起|底)?\s?{_STILL}(?:为止|{_VALID}(?=$|[\s的吗,.?!;:]))"
    rf"|\s?时的{_LASTING}|\s?(?:当时|那时)的[^\s,.?!;:了是有在和与对说让被把]{{0,8}}?{_LASTING}"
)
_now = re.compile(
    rf"(?:目前|当前|现在|现今|如今|眼下|此刻)\s?{_STILL}{_VALID}(?=$|[\s的吗,.?!;:])"
    r"|截[至止]到?(?:目前|现在|当前|现今)"
    rf"|(?<![体表实发出呈展重再涌浮兑变显])现行(?:有效|的|{_LASTING})"
    r"|\b(?:currently|presently|now)\s(?:valid|effective|in\s(?:force|effect)|applicable)\b"
    r"|\b(?:valid|effective|in\s(?:force|effect)|applicable)\s(?:today|now|right\snow|currently|at\s(?:present|the\smoment))\b"
    r"|\bas\s(?:of|at)\s(?:now|right\snow|present|this\smoment)\b"
)
_LONGEST_BEFORE = 40


def as_of(folded: str, mentions: Sequence[DateMention], years: Sequence[int], today: int) -> int | None:
    """The last day of the date that the question sets as the moment of validity, as an ordinal; None if it sets none.

    Of the years that an open date can mean, the latest one counts that has begun. Where no date is
    mentioned, what is valid now (目前有效, currently in force) is valid `today`.
    """
    for mention in mentions:
        before = folded[max(0, mention.start - _LONGEST_BEFORE) : mention.start]
        if _before.search(before) or _after.match(folded, mention.end):
            meant = [mention.days(year) for year in years] if mention.is_open else [mention.days()]
            intervals = sorted(days for days in meant if days is not None)
            begun = [days for days in intervals if days[0] <= today]
            if intervals:
                return (begun or intervals)[-1][1]
    return today if not mentions and _now.search(folded) else None
