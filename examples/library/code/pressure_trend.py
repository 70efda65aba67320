"""三小时气压变化：苍鹭表盘上那支箭头的来历。"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

THREE_HOURS = 3 * 60
STEADY_HPA = 0.5
STORM_HPA = 3.6


@dataclass(frozen=True)
class PressureReading:
    minute: int
    hectopascals: float


def pressure_tendency(readings: Sequence[PressureReading]) -> float | None:
    """三小时内的变化量（百帕）；资料不足三小时则返回 None。

    两端各取十五分钟的中位数，而不取单个读数：开门、关门、电梯经过，
    都会让气压跳一两个十分之一百帕。
    """
    if not readings or readings[-1].minute - readings[0].minute < THREE_HOURS:
        return None
    end = readings[-1].minute
    start = end - THREE_HOURS
    before = [r.hectopascals for r in readings if start <= r.minute < start + 15]
    after = [r.hectopascals for r in readings if end - 15 < r.minute <= end]
    if not before:
        # 中间断过电，宁可不画箭头，也不拿更早的读数凑数
        return None
    return round(median(after) - median(before), 1)


def arrow_for(tendency: float | None) -> str:
    """把变化量换成表盘上的箭头。跌得太快时返回双箭头，提醒收衣服。"""
    if tendency is None:
        return ""
    if tendency <= -STORM_HPA:
        return "↓↓"
    if abs(tendency) < STEADY_HPA:
        return "→"
    return "↑" if tendency > 0 else "↓"


def reduce_to_sea_level(hectopascals: float, height_metres: float, celsius: float) -> float:
    """海平面订正。公式只在两千米以下可用，再高误差超过一百帕的十分之三。"""
    kelvin = celsius + 273.15 + 0.0065 * height_metres
    return round(hectopascals * (1 - 0.0065 * height_metres / kelvin) ** -5.257, 1)
