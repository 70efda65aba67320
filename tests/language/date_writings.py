"""Writings of one day: every way of writing a date that the language rules must read as that day."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from wenyuan.language.numerals import render_integer

MONTHS = "January February March April May June July August September October November December".split()


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 <= day <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _positional(number: int) -> str:
    return render_integer(number, "positional")


def _month_and_day(day: datetime.date) -> str:
    return f"{render_integer(day.month)}月{render_integer(day.day)}日"


def _financial(day: datetime.date) -> str:
    year = _positional(day.year).translate(str.maketrans("〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"))
    return f"{year}年{render_integer(day.month, 'financial')}月{render_integer(day.day, 'financial')}日"


def _with_joined_tens(number: int) -> str:
    return render_integer(number).replace("二十", "廿").replace("三十", "卅")


def _short(day: datetime.date) -> str:
    return MONTHS[day.month - 1][:3]


WRITINGS: dict[str, Callable[[datetime.date], str]] = {
    "padded": lambda d: f"{d:%Y-%m-%d}",
    "unpadded": lambda d: f"{d.year}-{d.month}-{d.day}",
    "slashes": lambda d: f"{d.year}/{d.month}/{d.day}",
    "dots": lambda d: f"{d.year}.{d.month}.{d.day}",
    "underscores": lambda d: f"report_{d:%Y_%m_%d}.md",
    "time": lambda d: f"{d:%Y-%m-%d}T10:30:00Z",
    "日": lambda d: f"{d.year}年{d.month}月{d.day}日",
    "号": lambda d: f"{d.year} 年 {d.month} 月 {d.day} 号",
    "號": lambda d: f"{d.year}年{d.month}月{d.day}號",
    "numerals": lambda d: f"{_positional(d.year)}年{render_integer(d.month)}月{render_integer(d.day)}号",
    "zero": lambda d: (
        f"{_positional(d.year).replace('〇', '零')}年{render_integer(d.month)}月{render_integer(d.day)}日"
    ),
    "circle": lambda d: (
        f"{_positional(d.year).replace('〇', '○')}年{render_integer(d.month)}月{render_integer(d.day)}日"
    ),
    "financial": _financial,
    "full-width": lambda d: f"{d.year}年{d.month}月{d.day}日".translate({i: i + 0xFEE0 for i in range(0x30, 0x3A)}),
    "american": lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    "ordinal": lambda d: f"{MONTHS[d.month - 1]} {_ordinal(d.day)}, {d.year}",
    "british": lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year}",
    "of": lambda d: f"{_ordinal(d.day)} of {MONTHS[d.month - 1]} {d.year}",
    "short": lambda d: f"{d.day} {_short(d)} {d.year}",
    "full stop": lambda d: f"{_short(d)}. {d.day} {d.year}",
    "hyphens": lambda d: f"{d.day}-{_short(d)}-{d.year}",
    "capitals": lambda d: f"{_short(d)} {d.day}, {d.year}".upper(),
    "sentence": lambda d: f"Signed on {MONTHS[d.month - 1]} {d.day}, {d.year}.",
    "glued": lambda d: f"于{d.year}年{d.month}月{d.day}日签订",
    "era": lambda d: f"民国{d.year - 1911}年{d.month}月{d.day}日" if d.year > 1911 else f"{d:%Y-%m-%d}",
    "era, numerals": lambda d: (
        f"中華民國{render_integer(d.year - 1911)}年{_month_and_day(d)}" if d.year > 1911 else f"{d:%Y-%m-%d}"
    ),
    "reiwa": lambda d: f"令和{d.year - 2018}年{d.month}月{d.day}日" if d.year > 2019 else f"{d:%Y-%m-%d}",
    "heisei": lambda d: f"平成{d.year - 1988}年{d.month}月{d.day}日" if 1989 < d.year < 2019 else f"{d:%Y-%m-%d}",
    "shōwa": lambda d: (
        f"昭和{render_integer(d.year - 1925)}年{_month_and_day(d)}" if 1926 < d.year < 1989 else f"{d:%Y-%m-%d}"
    ),
    "twenties": lambda d: f"{_positional(d.year)}年{render_integer(d.month)}月{_with_joined_tens(d.day)}日",
    "cheque": lambda d: f"{_financial(d).replace('年', '年零') if d.month < 10 else _financial(d)}",
    "year apart": lambda d: f"{d.year} 年度 {d.month} 月 {d.day} 日",
    "of a year": lambda d: f"{d.year}年的{d.month}月{d.day}日",
    "year last": lambda d: f"{d.day}/{d.month}/{d.year}" if d.day > 12 else f"{d:%Y-%m-%d}",
    "compact": lambda d: f"IMG_{d:%Y%m%d}_1.jpg" if 1900 <= d.year < 2100 else f"{d:%Y-%m-%d}",
}
