"""Filters as people write them become conditions: `{"author": ["a", "b"], "year": {"from": 2020}}`.

Each field names a value, a list of values of which any will do, a range, or what a value begins
with; a document must meet every field. `{"all": [...]}` asks for each of several things at once.
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from wenyuan.errors import InvalidFilter
from wenyuan.types import Condition

DATE_FIELD = "date"

_MOST_CONDITIONS = 20
_MOST_VALUES = 100
_LONGEST_FIELD = 100
_LONGEST_VALUE = 1000
_MOST_BITS = 256
_FIRST_DAY, _LAST_DAY = 1, datetime.date.max.toordinal()
_FIRST_YEAR, _LAST_YEAR = 1000, 2999

_number = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_date = re.compile(
    r"([0-9]{4})(?:[-/年]([0-9]{1,2})(?:[-/月]([0-9]{1,2}))?)?[年月日]?(?:[Tt ][0-9:.]+(?:[Zz]|[+-][0-9:]+)?)?"
)

Days = tuple[int, int]


def read_filters(filters: Mapping[str, Any]) -> tuple[Condition, ...]:
    """The conditions that filters set. Raises `InvalidFilter`, which names the field at fault."""
    conditions = tuple(condition for field, wanted in filters.items() for condition in _conditions(field, wanted))
    if len(conditions) > _MOST_CONDITIONS:
        raise InvalidFilter(field=conditions[-1].field, reason=f"there may be {_MOST_CONDITIONS} conditions at most")
    return conditions


def value_text(value: Any) -> str | None:
    """A scalar as the text by which it is compared, so that 3, 3.0 and "3" are one; None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, int):
        # Python refuses to write out what is longer than anyone means.
        return str(value) if value.bit_length() < _MOST_BITS else None
    return value if isinstance(value, str) else None


def value_number(text: str) -> float | None:
    """The number that a text is, where it is one."""
    return float(text) if _number.fullmatch(text) else None


def value_days(text: str) -> Days | None:
    """First and last day of the day, month or year that a text names in digits, where it does."""
    match = _date.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) if part is not None else None for part in match.groups())
    if year is None or not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    last_month = 12 if month is None else month
    try:
        first = datetime.date(year, 1 if month is None else month, 1 if day is None else day)
        last = datetime.date(year, last_month, calendar.monthrange(year, last_month)[1] if day is None else day)
    except ValueError:
        return None
    return first.toordinal(), last.toordinal()


def _conditions(field: Any, wanted: Any) -> list[Condition]:
    name = unicodedata.normalize("NFKC", " ".join(field.split())).casefold() if isinstance(field, str) else ""
    if not 1 <= len(name) <= _LONGEST_FIELD:
        reason = f"a field's name is a text of 1 to {_LONGEST_FIELD} characters"
        raise InvalidFilter(field=str(field)[:_LONGEST_FIELD], reason=reason)
    if isinstance(wanted, Mapping) and "all" in wanted:
        parts = wanted["all"]
        if set(wanted) != {"all"} or not _is_list(parts) or not parts:
            raise InvalidFilter(field=name, reason='"all" stands alone, with a list of what is wanted')
        return [_condition(name, part) for part in parts[: _MOST_CONDITIONS + 1]]
    return [_condition(name, wanted)]


def _condition(field: str, wanted: Any) -> Condition:
    items = wanted if _is_list(wanted) else [wanted]
    if not 1 <= len(items) <= _MOST_VALUES:
        raise InvalidFilter(field=field, reason=f"it names {len(items)} values; 1 to {_MOST_VALUES} are possible")
    alternatives = [
        _range_or_prefix(field, item) if isinstance(item, Mapping) else _value(field, item) for item in items
    ]
    return Condition(
        field,
        texts=tuple(dict.fromkeys(text for one in alternatives for text in one.texts)),
        prefixes=tuple(dict.fromkeys(prefix for one in alternatives for prefix in one.prefixes)),
        numbers=tuple(dict.fromkeys(numbers for one in alternatives for numbers in one.numbers)),
        days=tuple(dict.fromkeys(days for one in alternatives for days in one.days)),
    )


def _value(field: str, value: Any) -> Condition:
    text = value_text(value)
    if text is None or not text.strip():
        raise InvalidFilter(field=field, reason=f"{_shown(value)} is no text, number, date or truth value")
    if len(text) > _LONGEST_VALUE:
        raise InvalidFilter(field=field, reason=f"a value may have {_LONGEST_VALUE} characters at most")
    if field == DATE_FIELD:
        return Condition(field, days=(_date_days(field, text),))
    number = value_number(unicodedata.normalize("NFKC", text).strip()) if "." in text else None
    return Condition(field, texts=(text, value_text(number) or text) if number is not None else (text,))


def _range_or_prefix(field: str, wanted: Mapping[Any, Any]) -> Condition:
    match sorted(map(str, wanted)):
        case ["prefix"]:
            prefix = wanted["prefix"]
            if not isinstance(prefix, str) or not 1 <= len(prefix) <= _LONGEST_VALUE:
                raise InvalidFilter(field=field, reason=f"a prefix is a text of 1 to {_LONGEST_VALUE} characters")
            if field == DATE_FIELD:
                return Condition(field, days=(_date_days(field, prefix),))
            return Condition(field, prefixes=(prefix,))
        case ["from"] | ["to"] | ["from", "to"]:
            return _range(field, wanted.get("from"), wanted.get("to"))
        case names:
            reason = f"{', '.join(names) or 'nothing'} cannot be asked for; `from`, `to` and `prefix` can"
            raise InvalidFilter(field=field, reason=reason)


def _range(field: str, lower: Any, upper: Any) -> Condition:
    bounds = [text for text in (_bound(field, lower), _bound(field, upper)) if text is not None]
    numbers = [value_number(text) for text in bounds]
    days = [value_days(text) for text in bounds]
    is_date = field == DATE_FIELD
    # A bound such as 2020 may be either; the values are asked for both.
    made = Condition(
        field,
        numbers=(_numeric_range(lower, numbers),) if bounds and None not in numbers and not is_date else (),
        days=(_day_range(lower, days),) if bounds and None not in days else (),
    )
    if not (made.numbers or made.days):
        kinds = "dates" if is_date else "numbers, or both dates"
        raise InvalidFilter(field=field, reason=f"the ends of its range must be {kinds} such as 2026-04-14 or 2026")
    if all(last < first for first, last in made.days) and all(
        b is not None and a is not None and b < a for a, b in made.numbers
    ):
        raise InvalidFilter(field=field, reason=f"its range ends at {bounds[1]}, before it begins at {bounds[0]}")
    return made


def _numeric_range(lower: Any, numbers: Sequence[float | None]) -> tuple[float | None, float | None]:
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    return (numbers[0], None) if lower is not None else (None, numbers[0])


def _day_range(lower: Any, days: Sequence[Days | None]) -> Days:
    known = [one for one in days if one is not None]
    if len(known) == 2:
        return known[0][0], known[1][1]
    return (known[0][0], _LAST_DAY) if lower is not None else (_FIRST_DAY, known[0][1])


def _bound(field: str, value: Any) -> str | None:
    if value is None:
        return None
    text = None if isinstance(value, bool) else value_text(value)
    if text is None:
        raise InvalidFilter(field=field, reason=f"{_shown(value)} is neither a number nor a date")
    return unicodedata.normalize("NFKC", text).strip()


def _date_days(field: str, text: str) -> Days:
    days = value_days(unicodedata.normalize("NFKC", text).strip())
    if days is None:
        raise InvalidFilter(field=field, reason=f"{_shown(text)} is no date such as 2026-04-14, 2026-04 or 2026")
    return days


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _shown(value: Any) -> str:
    return repr(value if not isinstance(value, str) else value[:40])[:60]
