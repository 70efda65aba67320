"""Relative dates in Chinese questions: 昨天, 上周三, 去年四月, 三天前, 最近一周."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from wenyuan.language.dates.calendar_units import (
    MOST_UNITS,
    READING,
    Days,
    Replacement,
    Unit,
    replaced_by,
    since,
    unit_at,
    weekday_of,
)
from wenyuan.language.dates.chinese import DAY_NUMBER, chinese_number
from wenyuan.language.dates.mentions import DateMention, day_range

_NOT_AGE = "(?![轻代龄级])"
_YEARS = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "上年度": -1,
    "上一年": -1,
    "上一年度": -1,
    "今年": 0,
    "本年": 0,
    "本年度": 0,
    "明年": 1,
    "下年度": 1,
    "下一年": 1,
    "下一年度": 1,
    "后年": 2,
    "大后年": 3,
}
# Each look-behind names words that end in the first character: 三年前年会, 失去年轻, 说明年龄, 日本年金.
_year = re.compile(
    rf"""
    (?:(?<![年月日周天目以之史生])大?前年|(?<![过失死])去年|(?<![当如现古])今年
    |(?<![说证文声表发聪])明年|(?<![年月日周天以之最然])大?后年
    |(?<![日版基样成文剧课标资根])本年(?:度|(?!金))|上年度|(?<!以)上一年度?|下年度|(?<!以)下一年度?){_NOT_AGE}
    (?:的(?=\ ?(?:{DAY_NUMBER}\ ?月|第?[一二三四1-4]季度|[上下]半年)))?
    """,
    re.VERBOSE,
)
_STEPS = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2}
_WHICH = (
    "(?P<which>(?<![早晚马以网线路桌床身海天江山])上(?:上(?=个?[周星礼月]))?|(?<![日版基样成文剧课标资根])本|这"
    "|(?<![以手天地乡楼底部])下(?:下(?=个?[周星礼月]))?)"
)
_month = re.compile(
    rf"""
    {_WHICH}一?个?月(?![球亮光色台饼经薪租票嫂刊子])
    (?:的(?=\ ?(?:{DAY_NUMBER}\ ?[日号]|[上中下]旬|[初底末])))?
    """,
    re.VERBOSE,
)
_quarter = re.compile(rf"{_WHICH}一?个?季度", re.VERBOSE)

_WEEK = "(?:周|星期|礼拜)"
# 上周三次会议 counts meetings, 上周日报 are reports, 上周天气 is weather.
_WEEKDAY = r"[一二三四五六](?![次个场篇位名条种份家台项件])|日(?![均报志记程期常])|天(?![气天])"
_week = re.compile(
    rf"{_WHICH}一?个?{_WEEK}(?![边围长年全密期转刊折])(?:(?P<end>末(?![期尾端]))|(?P<day>{_WEEKDAY})"
    rf"(?:\ ?(?:到|至|-)\ ?{_WEEK}?(?P<last_day>{_WEEKDAY}))?)?",
    re.VERBOSE,
)
# 周 is a surname too, so that alone it needs what follows a day: 周三的会, but not 周三多.
_weekday = re.compile(
    rf"(?<![上下本这每逢隔双单个一二三四五六七八九十两几0-9半整全当])(?:(?:星期|礼拜)(?P<day>{_WEEKDAY})"
    r"|周(?P<short_day>[一二三四五六日])(?=$|[\s,.?!;:的]|[上下中]午|[早晚]上?|会议|例会|开会|之?前|那天|发布|提交|讨论))"
)
_weekday_beside = re.compile(r"(?:(?:周|星期|礼拜)[一二三四五六日天]\ ?[到至~、和-]{1,4}\ ?|[每逢].{0,6})$")
_date_before = re.compile(r"[0-9日号]\s?[(]?\s?$")
_date_after = re.compile(rf"\s?[(,]?\s?{DAY_NUMBER}\s?[年月./-]|\s?[到至~-]{{1,4}}\s?{_WEEK}")
_recurring = re.compile("每|逢|营业|开放|开门|上班|工作日|通常|一般")

_DAYS = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "昨夜": -1,
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "今早": 0,
    "明天": 1,
    "明日": 1,
    "明早": 1,
    "明晚": 1,
    "后天": 2,
    "大后天": 3,
}
_day = re.compile(
    "(?<![天日年月周期以])大?前天(?![气赋])|昨[天日晚夜](?!重现)|今[天晚早]|今日|(?<![说文清证表声])明[天早晚]"
    "|(?<![说文清证表声])明日(?!方舟|黄花)|(?<!先天)(?<!先天[和与、或及])(?<!以)大?后天"
    "(?![性养气下]|形成|努力|免疫|因素|学习|教育|获得|失明|残疾|环境|发育|影响|条件|适应)"
)

# 今天 is as often the present as a day: it is one where something happens on it.
_present = re.compile("今[天日]")
_happening = re.compile(
    "我|咱|发生|会议|开会|例会|日程|安排|任务|待办|纪要|日[报记]|值班|提交|上传|收到|新增|几号|星期几"
)
_on_that_day = re.compile(
    "[上中下]午|早上|晚上|凌晨|有[什哪没]|[做写干]了|的?(?:新闻|更新|天气|工作|计划|通知|邮件|消息)|$"
    "|(?:仍然?|还|已经?|正在?)?(?:有效|生效|适用|施行|执行|实施)(?=$|[ 的吗,.?!;:])"
)
_until_before = re.compile("(?:截至|截止|[到至和])$")

_UNITS: dict[str, Unit] = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "季度": "quarter",
    "年": "year",
}
_COUNT = r"(?P<count>[0-9]{1,3}|[一二两三四五六七八九十百]{1,4}|半)\ ?个?(?P<unit>天|日|周|星期|礼拜|(?<=个)月|季度|年)"
_ago = re.compile(rf"(?<![0-9.一二两三四五六七八九十百千万半第提]){_COUNT}[之以]?前(?!.?(?:通知|申请|预约|告知))")
# 出发三天前 is counted from the departure, so a question's own time must be in sight: nothing but
# who acts stands before it, or what was done stands after it.
_ago_before = re.compile(r"(?:^|[\s,.?!;:]|[在从自于我们你他她它咱谁])(?:大?[约概]|就)?$")
_ago_after = re.compile(
    "的?(?:会|文件|报告|邮件|日记|通知|公告|消息|新闻|更新|版本|讨论|决定|讲话|发布|发生|发的|开会|上传|提交|说)|我们?"
)
_window = re.compile(
    rf"(?:最近|(?<!超)过去|(?<![最附临接将靠远相邻贴新])近)[的这]?\ ?{_COUNT}(?![级代龄前])(?:以来|之?内)?", re.VERBOSE
)


def chinese_replacements(folded: str, now: datetime.date) -> Iterator[Replacement]:
    """The words for years, quarters and months, and how the year or month is written."""
    for match in _year.finditer(folded):
        if days := unit_at(now, "year", _YEARS[match[0].rstrip("的")]):
            yield replaced_by(match.span(), f"{days.first.year}年", days, "year")
    for match in _quarter.finditer(folded):
        if days := unit_at(now, "quarter", _STEPS[match["which"]]):
            written = f"{days.first.year}年第{(days.first.month + 2) // 3}季度"
            yield replaced_by(match.span(), written, days, "quarter")
    for match in _month.finditer(folded):
        if days := unit_at(now, "month", _STEPS[match["which"]]):
            yield replaced_by(match.span(), f"{days.first.year}年{days.first.month}月", days, "month")


def chinese_relative_mentions(folded: str, now: datetime.date) -> Iterator[DateMention]:
    """Days, weeks and stretches of time that are counted from `now`."""
    happens = _happening.search(folded) is not None
    for match in _day.finditer(folded):
        if happens or not _present.match(match[0]) or _is_a_day(match):
            yield from _mention(match.span(), unit_at(now, "day", _DAYS[match[0]]))
    for match in _week.finditer(folded):
        if week := unit_at(now, "week", _STEPS[match["which"]]):
            yield from _mention(match.span(), _within_week(week, match))
    if not _recurring.search(folded):
        for match in _weekday.finditer(folded):
            yield from _lone_weekday(match, now)
    for match in _ago.finditer(folded):
        start, end = match.span()
        if _ago_before.search(folded[max(0, start - 4) : start]) or _ago_after.match(folded, end):
            yield from _counted(match, now, ago=True)
    for match in _window.finditer(folded):
        yield from _counted(match, now, ago=False)


def _mention(span: tuple[int, int], days: Days | None) -> Iterator[DateMention]:
    if days is not None:
        yield day_range(*span, READING, *days)


def _is_a_day(present: re.Match[str]) -> bool:
    """Whether 今天 is a day, and not the present, by what stands beside it."""
    text, start, end = present.string, *present.span()
    return bool(_until_before.search(text[max(0, start - 2) : start]) or _on_that_day.match(text, end))


def _weekday_number(written: str) -> int:
    return "一二三四五六日".find(written) % 7


def _within_week(week: Days, match: re.Match[str]) -> Days | None:
    if match["end"]:
        return Days(weekday_of(week, 5), week.last)
    if not match["day"]:
        return week
    first = weekday_of(week, _weekday_number(match["day"]))
    last = weekday_of(week, _weekday_number(match["last_day"])) if match["last_day"] else first
    return Days(first, last) if first <= last else None


def _lone_weekday(match: re.Match[str], now: datetime.date) -> Iterator[DateMention]:
    """This week's day and, if that is still to come, last week's too; nothing where it only labels a date."""
    text = match.string
    before = text[max(0, match.start() - 12) : match.start()]
    if _date_before.search(before) or _weekday_beside.search(before) or _date_after.match(text, match.end()):
        return
    weekday = _weekday_number(match["day"] or match["short_day"])
    for steps in (0, -1):
        week = unit_at(now, "week", steps)
        day = weekday_of(week, weekday) if week else now
        yield day_range(*match.span(), READING, day, day)
        if day <= now:
            return


def _counted(match: re.Match[str], now: datetime.date, *, ago: bool) -> Iterator[DateMention]:
    """What lies so many units back: the unit itself, or all the time since; half a year is six months."""
    unit: Unit = _UNITS[match["unit"]]
    count = chinese_number(match["count"]) or 0
    if match["count"] == "半" and match["unit"] in ("年", "月"):
        count, unit = (6, "month") if match["unit"] == "年" else (15, "day")
    if 0 < count <= MOST_UNITS[unit]:
        yield from _mention(match.span(), unit_at(now, unit, -count) if ago else since(now, unit, count))
