"""Scripts: which characters belong to which writing, and which language a text is in, judged by that alone."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["zh", "en", "ja", "ko", "other"]

# The insides of regular-expression character classes.
HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = r"\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff"
LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"

_SAMPLE = 4000
_han = re.compile(f"[{HAN}]+")
_kana = re.compile(f"[{KANA}]+")
_hangul = re.compile(f"[{HANGUL}]+")
_latin = re.compile(f"[{LATIN}]+")
_letters = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> Language:
    """The language of a text by its characters, from its first few thousand.

    A Han character says about as much as four Latin letters, so `配置 PostgreSQL 的备份` is Chinese;
    some kana make it Japanese. Every language in Latin letters counts as English here, and a text
    mostly in another script, or without letters, is "other".
    """
    sample = text[:_SAMPLE]
    if sample.isascii():
        return "en" if _latin.search(sample) else "other"
    # What most characters are is taken away first, so that the other patterns have little left to look at.
    without_han = _han.sub("", sample)
    remaining = _latin.sub("", without_han)
    han, latin = len(sample) - len(without_han), len(without_han) - len(remaining)
    kana, hangul = _count(_kana, remaining), _count(_hangul, remaining)
    rest = _count(_letters, remaining) - kana - hangul
    if rest > latin + 2 * (han + kana + hangul):
        return "other"
    if hangul > han + kana and 4 * hangul > latin:
        return "ko"
    if 4 * (han + kana) >= latin and han + kana:
        return "ja" if 12 * kana > han + kana else "zh"
    return "en" if latin else "other"


def _count(runs: re.Pattern[str], text: str) -> int:
    """How many characters stand in the runs of one script."""
    return sum(map(len, runs.findall(text)))
