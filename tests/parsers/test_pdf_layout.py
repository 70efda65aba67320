"""The pure parts of the PDF reader: frames, joining of words and lines, columns, running heads, tables, dates."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.pdf.characters import Font, Glue, Word
from wenyuan.parsers.pdf.columns import columns
from wenyuan.parsers.pdf.facts import iso_date
from wenyuan.parsers.pdf.frame import PageFrame, Rectangle, around
from wenyuan.parsers.pdf.hyphenation import Hyphenation
from wenyuan.parsers.pdf.letters import is_wide, joined_lines, plain_letters, with_ligatures
from wenyuan.parsers.pdf.lines import Fragment, Type, fragments_of, joined_words, lines_of
from wenyuan.parsers.pdf.paragraphs import Paragraph, paragraphs
from wenyuan.parsers.pdf.rulings import Ruling, merged
from wenyuan.parsers.pdf.running_heads import Edges, page_edges, running
from wenyuan.parsers.pdf.tables import Table, aligned_tables, ruled_tables

PLAIN = Font(10.0, False)
distances = st.floats(0, 800, allow_nan=False)


def word(text: str, left: float, top: float, glue: Glue = Glue.GAP, width: float = 5) -> Word:
    """A word 10 points high whose letters are so wide."""
    return Word(text, left, top, left + width * len(text), top + 10, 0, glue, 0)


def fragment(text: str, left: float, top: float, width: float = 5, font: Font = PLAIN) -> Fragment:
    words, at = [], left
    for part in text.split(" "):
        words.append(word(part, at, top, Glue.SPACE, width))
        at = words[-1].right + width
    return Fragment(words, left, top, words[-1].right, top + 10, font, top + 8)


# --- Frames ----------------------------------------------------------------------------------------------


@st.composite
def rectangles(draw: st.DrawFn) -> Rectangle:
    left, right = sorted((draw(distances), draw(distances)))
    top, bottom = sorted((draw(distances), draw(distances)))
    return Rectangle(left, top, right, bottom)


@given(rectangles(), st.integers(0, 3), st.integers(0, 3))
def test_levelled_rectangles_find_back(rectangle: Rectangle, turns: int, turn: int) -> None:
    frame = PageFrame(0, 0, 600, 800, turns)
    back = frame.from_level(frame.level(rectangle, turn), turn)
    assert back == pytest.approx(rectangle, abs=1e-6)


@given(st.integers(0, 3), rectangles())
def test_shown_rectangles_keep_their_area_and_stay_on_the_page(turns: int, own: Rectangle) -> None:
    frame = PageFrame(0, 0, 800, 800, turns)
    shown = frame.shown(own.left, own.top, own.right, own.bottom)
    assert shown.width * shown.height == pytest.approx(own.width * own.height, abs=1e-6)
    box = frame.box(1, shown)
    assert 0 <= box.left <= box.right <= 800
    assert 0 <= box.top <= box.bottom <= 800


@pytest.mark.parametrize(
    ("turns", "expected"),
    [(0, (10, 720, 30, 730)), (1, (70, 10, 80, 30)), (2, (570, 70, 590, 80)), (3, (720, 570, 730, 590))],
)
def test_a_page_is_turned_clockwise(turns: int, expected: tuple[float, ...]) -> None:
    # Ten points high and seventy above the lower edge of a page of 600 by 800.
    assert PageFrame(0, 0, 600, 800, turns).shown(10, 70, 30, 80) == expected


# --- Letters, words and lines ----------------------------------------------------------------------------


@given(st.text())
def test_only_radicals_and_ligatures_are_rewritten(text: str) -> None:
    plain = plain_letters(text)
    assert plain_letters(plain) == plain
    kept = "".join(letter for letter in text if not ("\u2e80" <= letter <= "\u2fdf" or "\ufb00" <= letter <= "\ufb06"))
    remaining = iter(plain)
    assert all(letter in remaining for letter in kept)


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        ("中文", "文字", "中文文字"),
        ("中文，", "English", "中文，English"),
        ("an", "end", "an end"),
        ("adip\ufffe", "iscing", "adipiscing"),
        ("adip\x02", "iscing", "adipiscing"),
        ("Retrieval\ufffe", "Augmented", "Retrieval-Augmented"),
        ("state-of-the\ufffe", "art", "state-of-the-art"),
        ("COVID-", "19", "COVID-19"),
        ("1990–", "2000", "1990–2000"),
        ("this –", "that", "this – that"),
        ("", "begin", "begin"),
    ],
)
def test_lines_are_joined_as_they_are_read(above: str, below: str, expected: str) -> None:
    assert joined_lines(above, below) == expected


def test_a_document_tells_which_hyphens_belong_to_a_word() -> None:
    known = Hyphenation()
    known.learn("A word of information, a well-known one, depends on age and is dependent on it.")
    assert known.divides("infor", "mation")
    assert not known.divides("well", "known")
    assert not known.divides("age", "dependent")
    assert known.divides("adip", "iscing")


han_or_latin = st.lists(st.sampled_from(["汉字", "文", "word", "of", "，", "A"]), min_size=1, max_size=12)


@given(han_or_latin, st.floats(0, 9))
def test_words_are_kept_and_han_is_never_parted_by_a_small_gap(texts: list[str], gap: float) -> None:
    words, at = [], 0.0
    for text in texts:
        words.append(word(text, at, 0, Glue.GAP, 10 if is_wide(text[0]) else 5))
        at = words[-1].right + gap
    joined = joined_words(words)
    assert joined.replace(" ", "") == "".join(texts)
    assert not re.search("[汉字文，] [汉字文，]", joined)


def test_printed_spaces_between_han_stay_unless_they_are_everywhere() -> None:
    some = [word("第一章", 0, 0, width=10), word("总则与附则", 35, 0, Glue.SPACE, 10)]
    assert joined_words(some) == "第一章 总则与附则"
    everywhere = [word(letter, 15 * at, 0, Glue.SPACE, 10) for at, letter in enumerate("汉字之间都有空格")]
    assert joined_words(everywhere) == "汉字之间都有空格"


def test_what_is_printed_into_a_gap_stands_in_it() -> None:
    first = Fragment([word("他说", 0, 0, width=10), word("好", 30, 0, width=10)], 0, 0, 40, 10, PLAIN, 8)
    quote = Fragment([word("“", 22, 0)], 22, 0, 27, 10, PLAIN, 8)
    (line,) = lines_of([first, quote])
    assert line.text == "他说“好"


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 500)), min_size=1, max_size=40))
def test_lines_hold_every_fragment_once(places: list[tuple[int, int]]) -> None:
    fragments = [fragment(f"w{number}", left, 14 * row) for number, (row, left) in enumerate(places)]
    said = " ".join(line.text for line in lines_of(fragments))
    assert sorted(part for part in said.replace("w", " w").split()) == sorted(f"w{n}" for n in range(len(places)))


# --- Columns ---------------------------------------------------------------------------------------------


def column(name: str, left: float, rows: int, top: float = 0) -> list[Fragment]:
    return [fragment(f"{name}{row} " + "word " * 8 + "end", left, top + 14 * row) for row in range(rows)]


def test_two_columns_under_a_title_and_over_a_footnote() -> None:
    title = fragment("A title that is so wide that it stands over both of the columns of the page", 60, 0)
    left, right = column("l", 0, 10, 30), column("r", 260, 10, 33)
    note = fragment("A note that is so wide that it stands under both of the columns of the page", 60, 200)
    assert columns([*right, note, *left, title]) == [[title], left, right, [note]]


def test_a_table_is_not_taken_for_columns() -> None:
    cells = [fragment(f"c{row}{at}", 120 * at, 14 * row) for row in range(10) for at in range(4)]
    assert columns(cells) == [cells]


@given(st.lists(st.tuples(distances, distances, st.integers(1, 60)), max_size=60))
def test_columns_hold_every_piece_once(places: list[tuple[float, float, int]]) -> None:
    pieces = [fragment("x" * length, left, top) for left, top, length in places]
    found = [piece for part in columns(pieces) for piece in part]
    assert sorted(map(id, found)) == sorted(map(id, pieces))


# --- Paragraphs ------------------------------------------------------------------------------------------


def said(*fragments: Fragment) -> list[str]:
    return [part.text for part in paragraphs(fragments) if isinstance(part, Paragraph)]


FULL = "This line is as long as its column is wide and"
SAME = "That line is as long as its column is wide and"


def test_paragraphs_begin_where_they_are_indented() -> None:
    assert said(
        fragment(FULL, 20, 0), fragment(FULL + " more", 0, 14), fragment(FULL, 20, 28), fragment(FULL + " then", 0, 42)
    ) == [f"{FULL} {FULL} more", f"{FULL} {FULL} then"]


def test_paragraphs_end_with_a_short_line_or_before_a_gap() -> None:
    assert said(
        fragment(FULL, 0, 0),
        fragment("it ends.", 0, 14),
        fragment(SAME, 0, 28),
        fragment("goes on.", 0, 42),
        fragment(FULL, 0, 70),
    ) == [f"{FULL} it ends.", f"{SAME} goes on.", FULL]


def test_a_title_in_several_centred_lines_is_one() -> None:
    large = Font(20.0, False)
    upper, lower = fragment("A title of many words", 100, 0, font=large), fragment("and few", 135, 24, font=large)
    body = [fragment(FULL, 0, 80 + 12 * row) for row in range(4)]
    assert said(upper, lower, *body)[0] == "A title of many words and few"
    aside = fragment("and few", 300, 24, font=large)
    assert said(upper, aside, *body)[:2] == ["A title of many words", "and few"]


def test_the_ligatures_of_bitmap_fonts_of_tex_are_letters() -> None:
    assert plain_letters(with_ligatures("\x10\x1crst\x11 di\x1berences, a\x1exed \x15 \xbf6")) == (
        "“first” differences, affixed – £6"
    )
    for text in ("¿Qué? \x10", "plain", "a \x1c b", "", "行\x1c"):
        assert with_ligatures(text) == text


def test_items_of_a_list_hold_their_lines() -> None:
    found = said(
        fragment("1. " + FULL, 0, 0),
        fragment("hangs here.", 15, 14),
        fragment("2. Short", 0, 28),
        fragment("• nested", 15, 42),
        fragment("(3) " + FULL, 0, 56),
    )
    assert found == [f"1. {FULL} hangs here.", "2. Short", "• nested", f"(3) {FULL}"]


# --- Running heads ---------------------------------------------------------------------------------------


def edges(page: int, *pieces: tuple[str, float]) -> Edges:
    placed = [(key, text.strip, Rectangle(50, top, 200, top + 10)) for key, (text, top) in enumerate(pieces)]
    return page_edges(page, 800, placed)


def test_a_chapter_beside_the_page_number_is_a_head() -> None:
    pages = [edges(page, (f"{page}", 20), (title, 20)) for page, title in ((1, "One"), (2, "Two"), (3, "Three"))]
    assert running(pages[1], pages) == {0, 1}


def test_heads_stand_outermost() -> None:
    pages = [edges(page, (f"Title of page {page} only, {'x' * page}", 20), ("Same on all", 40)) for page in range(1, 5)]
    assert running(pages[0], pages) == set()


@pytest.mark.parametrize("numbers", [("12", "80", "7"), ("5", "5", "5"), ("1004", "1006", "1009")])
def test_numbers_that_do_not_count_are_no_heads(numbers: tuple[str, ...]) -> None:
    pages = [edges(page, (number, 20)) for page, number in enumerate(numbers, 1)]
    assert all(running(page, pages) == set() for page in pages)


@pytest.mark.parametrize("form", ["{}", "- {} -", "Page {} of 9", "第 {} 页", "{} / 9", "Report 2024 | {}"])
def test_page_numbers_are_heads_in_every_form(form: str) -> None:
    pages = [edges(page, (form.format(page + 3), 780)) for page in range(1, 5)]
    assert all(running(page, pages) == {0} for page in pages)


# --- Tables ----------------------------------------------------------------------------------------------


def test_the_rest_of_a_cell_belongs_to_its_row() -> None:
    lines = lines_of(
        [
            *(fragment("Name", 0, 0), fragment("What it is", 100, 0)),
            *(fragment("tea", 0, 20), fragment("leaves and", 100, 20)),
            fragment("hot water", 100, 32),
            *(fragment("rice", 0, 52), fragment("a grain", 100, 52)),
        ]
    )
    (table,) = aligned_tables(lines)
    assert isinstance(table, Table)
    assert [row.cells for row in table.rows] == [
        ("Name", "What it is"),
        ("tea", "leaves and hot water"),
        ("rice", "a grain"),
    ]


def test_items_with_their_marks_apart_are_no_table() -> None:
    lines = lines_of(
        [piece for row in range(5) for piece in (fragment(f"{row}.", 0, 14 * row), fragment("item", 60, 14 * row))]
    )
    assert aligned_tables(lines) == lines


def test_pieces_of_a_ruling_are_one() -> None:
    pieces = [Ruling(True, 100.2, 50, 80), Ruling(True, 99.9, 0, 51), Ruling(True, 140, 0, 80)]
    assert [(round(line.at), line.start, line.end) for line in merged(pieces, 3)] == [(100, 0, 80), (140, 0, 80)]


@given(
    st.lists(st.tuples(st.booleans(), distances, distances, distances), max_size=30),
    st.lists(st.tuples(distances, distances), max_size=30),
)
def test_ruled_tables_lose_no_words(
    lines: list[tuple[bool, float, float, float]], places: list[tuple[float, float]]
) -> None:
    rulings = [Ruling(level, at, min(start, end), max(start, end)) for level, at, start, end in lines]
    fragments = [fragment(f"w{number}.", left, top) for number, (left, top) in enumerate(places)]
    tables, rest = ruled_tables(rulings, fragments)
    said = "".join(cell for table in tables for row in table.rows for cell in row.cells)
    said += "".join(part.said() for part in rest)
    assert all(f"w{number}." in said for number in range(len(places)))


def ruled(levels: list[float], uprights: list[float], left: float, right: float) -> list[Ruling]:
    """Level lines between two sides, and upright ones from the first to the last of them."""
    return [Ruling(True, at, left, right) for at in levels] + [
        Ruling(False, at, levels[0], levels[-1]) for at in uprights
    ]


def cells_of(rulings: list[Ruling], *fragments: Fragment) -> list[list[tuple[str, ...]]]:
    tables, _ = ruled_tables(rulings, fragments)
    return [[row.cells for row in table.rows] for table in tables]


OPEN = (
    fragment("软件包", 12, 2),
    fragment("大小", 112, 2),
    fragment("说明", 212, 2),
    fragment("w3m", 12, 22),
    fragment("2828", 112, 22),
    fragment("浏览器", 212, 22),
)


def test_a_table_without_lines_at_its_sides_has_all_its_columns() -> None:
    # As LaTeX sets `|` between columns but not around them.
    expected = [[("软件包", "大小", "说明"), ("w3m", "2828", "浏览器")]]
    assert cells_of(ruled([0, 20, 40], [100, 200], 0, 300), *OPEN) == expected
    assert cells_of(ruled([0, 20, 40], [0, 100, 200, 300], 0, 300), *OPEN) == expected
    one_side = ruled([0, 20, 40], [0, 100, 200], 0, 300)
    assert cells_of(one_side, *OPEN) == expected


def test_two_columns_without_sides_are_a_table() -> None:
    texts = (fragment("设置", 12, 2), fragment("值", 112, 2), fragment("utf8", 12, 22), fragment("on", 112, 22))
    assert cells_of(ruled([0, 20, 40], [100], 0, 200), *texts) == [[("设置", "值"), ("utf8", "on")]]


@pytest.mark.parametrize("columns", [2, 3])
def test_columns_of_a_page_between_lines_are_no_table(columns: int) -> None:
    lefts = [100 * number for number in range(columns)]
    texts = [fragment(f"line {row}", left + 12, 15 * row + 2) for left in lefts for row in range(40)]
    # A line at the head of the page, one between its two articles, and one at its foot.
    rulings = ruled([0, 300, 600], [float(left) for left in lefts[1:]], 0, 100 * columns)
    assert all(len(row) < columns for table in cells_of(rulings, *texts) for row in table)


def test_a_line_that_goes_on_beside_a_table_is_no_column_of_it() -> None:
    beside = fragment("旁注", 330, 22)
    rulings = [*ruled([0, 20, 40], [0, 100, 200, 300], 0, 300), Ruling(True, 20, 0, 400)]
    wider = ruled([0, 20, 40], [0, 100, 200, 300], -10, 400)
    assert cells_of(wider, *OPEN, beside) == [[("软件包", "大小", "说明"), ("w3m", "2828", "浏览器")]]
    assert cells_of(rulings, *OPEN, beside) == [[("软件包", "大小", "说明"), ("w3m", "2828", "浏览器")]]


def test_fragments_part_at_wide_gaps_only() -> None:
    words = [word("a", 0, 0), word("b", 8, 0), word("c", 40, 0), word("d", 48, 30)]
    found = fragments_of(words, lambda word: Type(PLAIN, word.bottom))
    assert [part.said() for part in found] == ["a b", "c", "d"]
    assert around(part.rectangle for part in found) == (0, 0, 53, 40)


def test_a_font_that_says_it_is_several_lines_high_is_as_high_as_its_letters() -> None:
    tall = Word("∗", 0, 50, 5, 120, 0, Glue.NEWLINE, 0)
    lines = lines_of(
        [*fragments_of([tall], lambda _: Type(PLAIN, 100)), fragment("beside", 20, 92), fragment("below", 20, 106)]
    )
    assert [line.text for line in lines] == ["∗ beside", "below"]


# --- Dates -----------------------------------------------------------------------------------------------


@given(st.datetimes(), st.sampled_from(["Z", "", "+08'00'", "-05'30", "+0530"]))
def test_dates_of_pdf_are_read(moment, zone: str) -> None:  # type: ignore[no-untyped-def]
    written = moment.strftime("D:%Y%m%d%H%M%S") if moment.year > 999 else f"D:{moment.year:04}{moment:%m%d%H%M%S}"
    assert iso_date(written + zone).startswith(moment.isoformat()[:19])


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_dates(text: str) -> None:
    iso_date(text)
    iso_date(f"D:{text}")
