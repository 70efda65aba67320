"""Values from a file that anyone may have written, each asked for by name and kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wenyuan.errors import WenyuanError

_LONGEST = 1 << 16
_LARGEST_NUMBER = 1 << 53
_DEEPEST = 32


class Fields:
    """The fields of one JSON object. Every method raises what `invalid` makes of a reason."""

    def __init__(self, value: Any, where: str, invalid: Callable[[str], WenyuanError]) -> None:
        if not isinstance(value, dict):
            raise invalid(f"{where} is not an object")
        self._value = value
        self._where = where
        self._invalid = invalid

    def text(self, name: str, most: int = _LONGEST) -> str:
        value = self._value.get(name)
        if not isinstance(value, str) or len(value) > most:
            raise self.wrong(name)
        return self._storable(value, name)

    def one_of(self, name: str, *allowed: str) -> str:
        value = self.text(name)
        if value not in allowed:
            raise self.wrong(name)
        return value

    def number(self, name: str, least: int = 0, most: int = _LARGEST_NUMBER) -> int:
        value = self._value.get(name)
        if type(value) is not int or not least <= value <= most:
            raise self.wrong(name)
        return value

    def number_or_none(self, name: str) -> int | None:
        return None if self._value.get(name) is None else self.number(name)

    def numbers(self, name: str, most: int = _LONGEST) -> list[int]:
        """A list of whole numbers; empty where there is none."""
        value = self._value.get(name, [])
        if not isinstance(value, list) or len(value) > most or not all(type(one) is int for one in value):
            raise self.wrong(name)
        return value

    def flag(self, name: str) -> bool:
        value = self._value.get(name)
        if type(value) is not bool:
            raise self.wrong(name)
        return value

    def texts(self, name: str, most: int = _LONGEST) -> tuple[str, ...]:
        value = self._value.get(name)
        if not isinstance(value, list) or len(value) > most or not all(isinstance(one, str) for one in value):
            raise self.wrong(name)
        return tuple(self._storable(one, name) for one in value)

    def groups(self, name: str) -> tuple[tuple[str, ...], ...]:
        value = self._value.get(name)
        if not isinstance(value, list):
            raise self.wrong(name)
        return tuple(Fields({name: one}, self._where, self._invalid).texts(name) for one in value)

    def object(self, name: str) -> Mapping[str, Any]:
        """A JSON object of whatever is in it, not too deep and without what no database stores."""
        value = self._value.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name)
        self._check(value, name)
        return value

    def object_or_none(self, name: str) -> Mapping[str, Any] | None:
        return None if self._value.get(name) is None else self.object(name)

    def fields(self, name: str) -> Fields:
        return Fields(self._value.get(name), f"{name} of {self._where}", self._invalid)

    def fields_or_none(self, name: str) -> Fields | None:
        return None if self._value.get(name) is None else self.fields(name)

    def list_of_fields(self, name: str, most: int) -> list[Fields]:
        value = self._value.get(name)
        if not isinstance(value, list) or len(value) > most:
            raise self.wrong(name)
        return [Fields(one, f"{name} of {self._where}", self._invalid) for one in value]

    def wrong(self, name: str) -> WenyuanError:
        return self._invalid(f"{name} of {self._where} is not what it should be")

    def _check(self, value: Any, name: str) -> None:
        level = [value]
        for _ in range(_DEEPEST):
            inner: list[Any] = []
            for one in level:
                if isinstance(one, str):
                    self._storable(one, name)
                elif isinstance(one, dict):
                    inner += [*one.keys(), *one.values()]
                elif isinstance(one, list):
                    inner += one
            if not inner:
                return
            level = inner
        raise self._invalid(f"{name} of {self._where} is too deep")

    def _storable(self, text: str, name: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self.wrong(name) from error
        return text
