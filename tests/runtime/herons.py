"""A text that is found by days, codes and words of both languages."""

from __future__ import annotations

SECTIONS = "\n\n".join(
    f"## Heron {n} 苍鹭\n\nOn 2026-04-{n + 10} heron {n} was ringed at post PPR-98{n:02d}. 苍鹭{n}号在湖边过冬。"
    for n in range(6)
)
