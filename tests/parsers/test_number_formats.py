from __future__ import annotations

from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.sheets.number_formats import BUILT_IN_FORMATS, general, number_format

ACCOUNTING = '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)'


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (0.305, "0.0%", "30.5%"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (-1234.5, "#,##0.00", "-1,234.50"),
        (-1234.5, ACCOUNTING, "$(1,234.50)"),
        (0, ACCOUNTING, "$-"),
        (1234.5, "[$¥-804]#,##0.00", "¥1,234.50"),
        (3.25, '0.00"元"', "3.25元"),
        (12.5, '0.0\\ "kg"', "12.5 kg"),
        (1900000, '#,##0,,"M"', "2M"),
        (123456, "0.0,", "123.5"),
        (12345, '0!.0,"万"', "1.2万"),
        (13800138000, "000-0000-0000", "138-0013-8000"),
        (5, "00000", "00005"),
        (0.5, ".00", ".50"),
        (0.5, "#.##", ".5"),
        (12, "#.##", "12"),
        (1.005, "0.00", "1.01"),
        (-0.001, "0.0", "0.0"),
        (0, "0;-0;;@", ""),
        (5, '[Red][>100]"high"0;[<=100]"low "0', "low 5"),
        (123, '[Red][>100]"high "0;[<=100]"low "0', "high 123"),
        (123456789, "0.00E+00", "1.23E+08"),
        (0.000123, "0.0E+00", "1.2E-04"),
        (1.5, "# ?/?", "1 1/2"),
        (-0.25, "# ??/??", "-1/4"),
        (3, 'General"个"', "3个"),
        (44, "G/通用格式", "44"),
        (7, "@", "7"),
        (0.1 + 0.2, "General", "0.3"),
        (1e20, "General", "1E+20"),
        (0.000012, "General", "0.000012"),
        (123456789012345, "General", "123456789012345"),
        (45306, "yyyy\\-mm\\-dd", "2024-01-15"),
        (45306, "d/m/yy", "2024-01-15"),
        (45306.5, 'yyyy"年"m"月"d"日" h:mm', "2024-01-15 12:00"),
        (45306.123, "mmm-yy", "2024-01"),
        (45306, "yyyy", "2024"),
        (45306, "aaaa", "2024-01-15"),
        (45306, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "2024-01-15"),
        (0.5, "h:mm AM/PM", "12:00"),
        (0.75, "h:mm:ss", "18:00:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (60, "yyyy-mm-dd", "60"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-3, "yyyy-mm-dd", "-3"),
        (1e9, "yyyy-mm-dd", "1000000000"),
    ],
)  # fmt: skip
def test_numbers_are_shown_as_a_person_sees_them(number: float, code: str, shown: str) -> None:
    assert number_format(code).shown(number).text == shown


def test_the_other_epoch() -> None:
    assert number_format("yyyy-mm-dd").shown(0, from_1904=True) == ("1904-01-01", True)
    assert number_format("yyyy-mm-dd").shown(43844, from_1904=True).text == "2024-01-15"


def test_what_is_a_date_is_told() -> None:
    assert [number_format(code).shown(45306.0).is_date for code in ("yyyy-mm-dd", "0.00", "General")] == [
        True,
        False,
        False,
    ]


@given(st.integers(-(10**14), 10**14), st.integers(0, 4))
def test_places_and_thousands_are_those_of_decimal_arithmetic(units: int, decimals: int) -> None:
    number = units / 10_000
    exact = Decimal(f"{number:.15g}").quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    expected = f"{exact:,f}".replace("-0.0000", "0.0000")
    expected = expected.removeprefix("-") if not exact else expected
    code = "#,##0" + ("." + "0" * decimals if decimals else "")
    assert number_format(code).shown(number).text == expected


@given(st.datetimes(datetime(1900, 3, 1), datetime(9999, 12, 30)))
def test_moments_come_back(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    days = (moment - datetime(1899, 12, 30)) / timedelta(days=1)
    assert number_format("yyyy-mm-dd hh:mm:ss").shown(days).text == moment.isoformat(" ")


@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_without_a_format_are_whole(number: int) -> None:
    assert general(float(number)) == str(number)


@given(st.text(max_size=30), st.floats(allow_nan=False, allow_infinity=False))
def test_any_code_shows_any_number_somehow(code: str, number: float) -> None:
    assert isinstance(number_format(code).shown(number).text, str)


@given(st.text(st.sampled_from('0#?.,%/E+-@;[]"\\ymdhs_*$<>=1'), max_size=15), st.floats(-1e12, 1e12))
def test_any_mixture_of_marks_is_understood_somehow(code: str, number: float) -> None:
    assert isinstance(number_format(code).shown(number).text, str)


def test_built_in_formats_are_all_understood() -> None:
    assert {number_format(code).shown(45306.25).text for code in BUILT_IN_FORMATS.values()} >= {
        "45306.25",
        "45,306.25",
        "4530625%",
        "2024-01-15",
        "06:00",
    }
