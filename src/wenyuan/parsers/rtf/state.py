"""What is in force at a place of an RTF document, and what its tables of fonts, styles and lists say."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from wenyuan.parsers.office.numbers import BINARY_FORMS
from wenyuan.parsers.office.paragraph_stream import RowShape, StreamParagraph
from wenyuan.parsers.office.styles import role_of_style
from wenyuan.parsers.word.symbols import symbol

# Character sets of fonts, as their code pages.
_CODE_PAGES = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "big5hkscs",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
_NUMBERED_CODE_PAGES = {936: "gb18030", 950: "big5hkscs", 10000: "mac_roman", 65001: "utf-8", 1361: "johab"}
_SYMBOL = 2
_DEEPEST_BASE = 50
_BODY_TEXT = 9


@dataclass(slots=True)
class State:
    """What a group inherits from the one around it, and what is forgotten when it ends."""

    destination: str = "body"
    skipped: bool = False
    unicode_skip: int = 1
    font: int = -1
    hidden: bool = False
    deleted: bool = False
    waits_for_unicode: str = ""
    """Within a pair of the same text in two encodings, the destination of the better one."""

    def inherited(self) -> State:
        """The same, for a group within."""
        return State(
            self.destination,
            self.skipped,
            self.unicode_skip,
            self.font,
            self.hidden,
            self.deleted,
            self.waits_for_unicode,
        )


@dataclass(slots=True)
class Paragraph:
    """The properties of the paragraph that is being read."""

    style: int = 0
    level: int | None = None
    depth: int = 0
    list_id: int = 0
    list_depth: int = 0
    hangs: bool = False
    """Whether its first line begins left of the others."""
    _style_depth: int = -1

    def set_style(self, style: int, depth: int) -> None:
        """Give it a style that is named in so many groups: what a deeper group says holds for that group alone."""
        if self._style_depth < 0 or depth <= self._style_depth:
            self.style, self._style_depth = style, depth


@dataclass(slots=True)
class Row:
    """The row definition in force."""

    edges: list[int] = field(default_factory=list)
    down: list[bool] = field(default_factory=list)
    across: list[bool] = field(default_factory=list)
    is_header: bool = False
    goes_down: bool = False
    goes_across: bool = False

    def shape(self) -> RowShape:
        return RowShape(tuple(self.edges), tuple(self.down), tuple(self.across), self.is_header)


@dataclass(slots=True)
class Flow:
    """A text of its own: the body, a note, a text box. Its paragraphs so far, and what is open in it."""

    parts: list[str] = field(default_factory=list)
    paragraphs: list[StreamParagraph] = field(default_factory=list)
    after: list[StreamParagraph] = field(default_factory=list)
    label: str = ""


@dataclass(slots=True)
class _Style:
    base: int = -1
    level: int | None = None
    name: str = ""


@dataclass(slots=True)
class Tables:
    """Fonts, styles and lists."""

    code_page: str = "cp1252"
    default_font: int = 0
    _charsets: dict[int, int] = field(default_factory=dict)
    _font_names: dict[int, str] = field(default_factory=dict)
    _styles: dict[int, _Style] = field(default_factory=dict)
    _roles: dict[int, tuple[str, int | None]] = field(default_factory=dict)
    _list_forms: list[list[str]] = field(default_factory=list)
    _by_list: dict[int, list[str]] = field(default_factory=dict)
    _by_override: dict[int, list[str]] = field(default_factory=dict)
    _override: int = 0

    # --- Fonts ---

    def set_code_page(self, number: int) -> None:
        self.code_page = code_page(number) or self.code_page

    def set_charset(self, font: int, charset: int) -> None:
        self._charsets[font] = charset

    def name_font(self, font: int, name: str) -> None:
        self._font_names.setdefault(font, name.strip().rstrip(";").strip())

    def decoded(self, data: bytes, font: int) -> str:
        """Bytes in the code page of their font, or else in that of the document."""
        charset = self._charsets.get(font if font >= 0 else self.default_font, 0)
        if charset == _SYMBOL:
            name = self._font_names.get(font, "")
            return "".join(symbol(name, f"{byte:x}") if byte >= 0x20 else "" for byte in data)
        if data.isascii():
            return data.decode("ascii")
        for codec in (_CODE_PAGES.get(charset, self.code_page), self.code_page):
            try:
                return data.decode(codec)
            except UnicodeDecodeError:
                continue
        return data.decode(self.code_page, "replace")

    # --- Styles ---

    def add_style(self, number: int, base: int, level: int | None, name: str) -> None:
        self._styles[number] = _Style(base, level, name.strip().rstrip(";"))
        self._roles.clear()

    def role(self, style: int) -> tuple[str, int | None]:
        """The kind of text a style is for, and the level of a heading or None."""
        if style not in self._roles:
            self._roles[style] = self._resolved(style)
        return self._roles[style]

    def _resolved(self, number: int) -> tuple[str, int | None]:
        kind, level = "", None
        for _ in range(_DEEPEST_BASE):
            style = self._styles.get(number)
            if style is None:
                break
            own_kind, own_level = role_of_style(style.name)
            if style.level is not None:
                own_level = heading_level(style.level)
            kind = kind or own_kind
            level = own_level if level is None else level
            number = style.base
        return kind, level if level is None or level >= 0 else None

    # --- Lists ---

    def begin_list(self) -> None:
        self._list_forms.append([])

    def add_form(self, number: int) -> None:
        if self._list_forms:
            self._list_forms[-1].append(BINARY_FORMS.get(number, "decimal"))

    def name_list(self, list_id: int, in_overrides: bool) -> None:
        if in_overrides:
            self._override = list_id
        elif self._list_forms:
            self._by_list[list_id] = self._list_forms[-1]

    def add_override(self, number: int) -> None:
        self._by_override[number] = self._by_list.get(self._override, [])

    def form(self, list_id: int, depth: int) -> str:
        """The number format of a level of a list, or ""."""
        forms = self._by_override.get(list_id, [])
        return forms[depth] if 0 <= depth < len(forms) else ""


def heading_level(outline: int) -> int:
    """The level of a heading by an outline level, which counts from 0; -1 for body text."""
    return outline + 1 if 0 <= outline < _BODY_TEXT else -1


def code_page(number: int) -> str:
    """The codec of a code page of Windows, or ""."""
    codec = _NUMBERED_CODE_PAGES.get(number, f"cp{number}")
    try:
        codecs.lookup(codec)
    except LookupError:
        return ""
    return codec
