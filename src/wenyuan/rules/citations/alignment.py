"""Where two sentences that say nearly the same differ: another value, another name, a denial more or less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import Literal

from wenyuan.language.assertions import VALUES, Reading, Unit, is_east_asian
from wenyuan.language.stemming import stem
from wenyuan.language.translation import everyday_share

Difference = Literal["denial", "value", "name", "word"]

_MOST_UNITS = 240
_LONGEST_DENIAL = 5
_LEAST_CHARACTERS = 2
_LONGEST_NAME_WORDS = 4
_EVERYDAY = 0.5
_SAME_ROOT = 4
_LEAST_TURNED = 3

_PAIRS = """
rise fall, rise drop, increase decrease, increase reduce, above below, over under, before after, more less,
more fewer, maximum minimum, most least, allow forbid, include exclude, open close, start end, begin end,
win lose, first last, higher lower, high low, up down, accept reject, enable disable, add remove, buy sell,
import export, north south, east west, left right, northern southern, eastern western, early late,
earlier later, success failure, succeed fail, gain loss, long short, large small, old young, hot cold,
upper lower, inside outside, exceed below, increase drop, 上 下, 前 后, 增 减, 升 降, 涨 跌, 高 低, 多 少,
大 小, 内 外, 进 出, 左 右, 东 西, 南 北, 买 卖, 胜 负, 男 女, 新 旧, 早 晚, 先 后, 长 短, 快 慢, 轻 重, 强 弱,
始 终, 正 反, 输 赢, 成 败
"""
_OPPOSITES: dict[str, set[str]] = {}
for _one, _other in (pair.split() for pair in _PAIRS.split(",")):
    _OPPOSITES.setdefault(stem(_one), set()).add(stem(_other))
    _OPPOSITES.setdefault(stem(_other), set()).add(stem(_one))


def differences(said: Reading, source: Reading, first: int, last: int) -> Iterator[Difference]:
    """How a sentence changes what the source's units from `first` to `last` say, in parts that both have in one place.

    What it leaves out or adds is no difference, but for a denial. Everyday words in the place of others (`word`) may
    mean the same. Long sentences are not compared, since that takes time with the product of their lengths.
    """
    units, others = said.units, source.units[first:last]
    if not units or len(units) > _MOST_UNITS or len(others) > _MOST_UNITS:
        return
    matcher = SequenceMatcher(None, [unit.key for unit in units], [unit.key for unit in others], autojunk=False)
    one_denies = _denies(units) != _denies(others)
    if one_denies and _turned(units, others, matcher.get_matching_blocks()):
        yield "denial"
    for operation, mine_first, mine_last, other_first, other_last in matcher.get_opcodes():
        mine, other = units[mine_first:mine_last], others[other_first:other_last]
        if operation == "equal":
            continue
        # A whole clause more or less may stand elsewhere.
        if operation == "insert" and _is_clause(others, other_first, other_last):
            continue
        if operation == "delete" and _is_clause(units, mine_first, mine_last):
            continue
        is_short = max(len(mine), len(other)) <= _LONGEST_DENIAL
        if is_short and ((one_denies and _denies(mine) != _denies(other)) or _is_opposite(mine, other)):
            yield "denial"
        elif operation != "replace":
            continue
        elif _is_other_value(mine, other):
            yield "value"
        elif _is_other_latin_name(said, mine, source, other):
            # Where a sentence begins, any word has a capital.
            yield "name" if mine_first or other_first else "word"
        elif _are_other_characters(mine, other):
            everyday = min(everyday_share(_written(mine)), everyday_share(_written(other)))
            yield "word" if everyday >= _EVERYDAY else "name"


def _is_clause(units: Sequence[Unit], first: int, last: int) -> bool:
    """Whether some units are parted from the others by more than words are: a clause, or an end of the sentence."""
    return (first == 0 or _is_apart(units[first - 1], units[first])) and (
        last == len(units) or _is_apart(units[last - 1], units[last])
    )


def _is_apart(one: Unit, next_one: Unit) -> bool:
    without_spaces = is_east_asian(one.key) or is_east_asian(next_one.key)
    return next_one.start - one.end > (0 if without_spaces else 1)


def _turned(units: Sequence[Unit], others: Sequence[Unit], blocks: Sequence[Match]) -> bool:
    """Whether right before words that both have, one of the two denies and the other nowhere does."""
    for mine, other, size in blocks:
        if sum(unit.kind != "filler" for unit in units[mine : mine + size]) < _LEAST_TURNED:
            continue
        before, other_before = units[max(0, mine - 2) : mine], others[max(0, other - 2) : other]
        if (_denies(other_before) and not _any_denies(units)) or (_denies(before) and not _any_denies(others)):
            return True
    return False


def _any_denies(units: Sequence[Unit]) -> bool:
    return any(unit.kind == "negation" for unit in units)


def _is_opposite(mine: Sequence[Unit], other: Sequence[Unit]) -> bool:
    """Whether a word stands in the place of its opposite."""
    theirs = {unit.key for unit in other}
    return any(not theirs.isdisjoint(_OPPOSITES.get(unit.key, ())) for unit in mine)


def _denies(units: Sequence[Unit]) -> bool:
    return sum(unit.kind == "negation" for unit in units) % 2 == 1


def _is_other_value(mine: Sequence[Unit], other: Sequence[Unit]) -> bool:
    """Whether values of one kind stand for one another."""
    own = [unit for unit in mine if unit.kind in VALUES]
    theirs = [unit for unit in other if unit.kind in VALUES]
    return len(own) == len(theirs) and any(
        one.kind == another.kind and one.key != another.key for one, another in zip(own, theirs, strict=True)
    )


def _is_other_latin_name(said: Reading, mine: Sequence[Unit], source: Reading, other: Sequence[Unit]) -> bool:
    """Whether words with capitals stand for others, and none has a root in common with one of them."""
    own = [unit.key for unit in mine if said.is_capitalised(unit)]
    theirs = [unit.key for unit in other if source.is_capitalised(unit)]
    if not own or not theirs or max(len(mine), len(other)) > _LONGEST_NAME_WORDS:
        return False
    return not {key[:_SAME_ROOT] for key in own} & {key[:_SAME_ROOT] for key in theirs}


def _are_other_characters(mine: Sequence[Unit], other: Sequence[Unit]) -> bool:
    """Whether some characters stand for others, none of which they share."""
    own = {unit.key for unit in mine if unit.kind == "character"}
    theirs = {unit.key for unit in other if unit.kind == "character"}
    return min(len(own), len(theirs)) >= _LEAST_CHARACTERS and not own & theirs


def _written(units: Sequence[Unit]) -> str:
    return "".join(unit.key for unit in units if unit.kind == "character")
