"""The table of Simplified characters, derived from OpenCC: `python -m tests.language.simplified_table` writes it.

It is kept in the repository because tokens are made with it: a newer OpenCC on a user's machine must
not change how a library that exists was indexed.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import opencc

PATH = Path(__file__).resolve().parents[2] / "src" / "wenyuan" / "language" / "simplified_characters.py"

_BLOCKS = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x323B0))
_HEAD = '''"""Traditional characters and what each is in Simplified Chinese, in the same order.

Derived from the character tables of OpenCC (Apache License 2.0, https://github.com/BYVoid/OpenCC).
"""

'''


def pairs() -> dict[str, str]:
    """Every Han character that OpenCC alone converts into another one."""
    characters = [chr(code) for block in _BLOCKS for code in block]
    converted = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    return {a: b for a, b in zip(characters, converted, strict=True) if a != b}


def module() -> str:
    """The source of the module."""
    found = pairs()
    return _HEAD + _constant("TRADITIONAL", "".join(found)) + "\n" + _constant("SIMPLIFIED", "".join(found.values()))


def _constant(name: str, characters: str) -> str:
    lines = "\n".join(f'    "{line}"' for line in textwrap.wrap(characters, 50))
    return f"{name} = (\n{lines}\n)\n"


if __name__ == "__main__":
    PATH.write_text(module(), "utf-8")
