"""What a style is for, by the name that word processors give it whatever language they speak."""

from __future__ import annotations

import re

from wenyuan.parsers.office.blocks import TITLE_LEVEL

_HEADING_NAME = re.compile(r"(?:heading|标题|標題|見出し|제목|überschrift|titre|título|titolo|заголовок)\s*([1-9])")
_CONTENTS_NAME = re.compile(r"(?:toc|目录|contents)\s*(?:[1-9]|heading)")
_CODE_NAMES = frozenset({"preformattedtext", "htmlpreformatted", "sourcecode", "macrotext", "verbatim"})
_CAPTION_NAMES = frozenset({"caption", "imagecaption", "tablecaption", "figurecaption", "题注"})


def role_of_style(name: str) -> tuple[str, int | None]:
    """A kind of text (`code`, `caption`, `contents` or ""), and the level of a heading or None."""
    name = "".join(name.lower().split())
    if name in _CODE_NAMES:
        return "code", None
    if name in _CAPTION_NAMES:
        return "caption", None
    if name == "title":
        return "", TITLE_LEVEL
    if _CONTENTS_NAME.fullmatch(name):
        return "contents", None
    heading = _HEADING_NAME.fullmatch(name)
    return "", int(heading[1]) if heading else None
