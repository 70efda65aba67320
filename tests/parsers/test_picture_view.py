"""Looking at a picture: it is straightened, turned and cut, and everything leads back to where it is shown."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from wenyuan.parsers.pictures.view import Rectangle, View, skew


def _page(width: int = 600, height: int = 800) -> Image.Image:
    """Words as bars: lines of them, ragged to the right."""
    page = Image.new("RGB", (width, height), "white")
    pen, chance = ImageDraw.Draw(page), random.Random(3)
    for top in range(80, height - 80, 26):
        left = 60
        while left < width - 60 - chance.randrange(150):
            right = left + chance.randrange(20, 60)
            pen.rectangle((left, top, right, top + 12), fill="black")
            left = right + 8
    return page


@pytest.mark.parametrize("degrees", [-9, -3.5, -1.5, -0.5, 0.5, 1.5, 4, 8.5])
def test_a_skewed_page_is_straightened(degrees: float) -> None:
    skewed = _page().rotate(degrees, Image.Resampling.BICUBIC, fillcolor="white")
    assert skew(skewed) == pytest.approx(-degrees, abs=0.25)


@pytest.mark.parametrize("quarter_turns", [1, 2, 3])
def test_a_page_on_its_side_is_straightened_too(quarter_turns: int) -> None:
    turned = _page().rotate(2, Image.Resampling.BICUBIC, fillcolor="white").rotate(90 * quarter_turns, expand=True)
    assert skew(turned) == pytest.approx(-2, abs=0.25)


def test_what_has_no_lines_stays_as_it_is() -> None:
    assert skew(_page()) == 0
    assert skew(Image.new("RGB", (300, 200), "white")) == 0
    assert skew(Image.new("RGB", (1, 1), "white")) == 0
    assert skew(Image.effect_noise((400, 400), 80).convert("RGB")) == 0


def _bounds_of_ink(picture: Image.Image) -> Rectangle:
    bounds = picture.convert("L").point(lambda value: 255 if value < 128 else 0).getbbox()
    assert bounds is not None
    return Rectangle(*bounds)


@given(
    st.lists(st.sampled_from([90.0, 180.0, -90.0, 3.0, -7.5]), min_size=1, max_size=3),
    st.integers(20, 180),
    st.integers(20, 130),
)
@settings(max_examples=25, deadline=None)
def test_a_place_leads_back_through_every_turn(turns: list[float], left: int, top: int) -> None:
    picture = Image.new("RGB", (320, 240), "white")
    ImageDraw.Draw(picture).rectangle((left, top, left + 79, top + 59), fill="black")
    view = View(picture)
    for degrees in turns:
        view = view.turned(degrees)
    shown = view.shown(_bounds_of_ink(view.picture))
    # A rectangle around a turned rectangle is larger, on each side by what the turns took it out of level.
    slack = 2 + 80 * sum(abs(degrees) % 90 for degrees in turns) * 0.0175 * 2
    for found, expected in zip(shown, (left, top, left + 80, top + 60), strict=True):
        assert found == pytest.approx(expected, abs=slack)


def test_quarter_turns_are_exact() -> None:
    view = View(Image.new("RGB", (320, 240), "white")).turned(90)
    assert view.picture.size == (240, 320)
    # What was at the right edge is now at the top.
    assert view.shown(Rectangle(0, 0, 10, 20)) == pytest.approx((300, 0, 320, 10))


def test_a_large_picture_is_made_smaller_and_its_places_are_not() -> None:
    picture = Image.new("RGB", (6000, 4000), "white")
    view = View(picture).reduced()
    assert view.picture.width * view.picture.height <= 12_100_000
    shown = view.shown(Rectangle(0, 0, *view.picture.size))
    assert shown == pytest.approx((0, 0, 6000, 4000), abs=1)
    small = View(Image.new("RGB", (800, 600)))
    assert small.reduced() is small


def test_a_strip_is_cut_between_its_lines() -> None:
    strip = _page(400, 3000)
    pieces = list(View(strip).pieces())
    assert len(pieces) > 3
    tops = [piece.shown(Rectangle(0, 0, *piece.picture.size)) for piece in pieces]
    assert [round(place.top) for place in tops[1:]] == [round(place.bottom) for place in tops[:-1]]
    assert tops[0].top == 0
    assert tops[-1].bottom == 3000
    for place in tops[1:]:
        row = strip.crop((0, round(place.top) - 1, 400, round(place.top) + 1))
        assert row.getcolors() == [(800, (255, 255, 255))]


def test_a_page_is_one_piece() -> None:
    assert len(list(View(_page()).pieces())) == 1
