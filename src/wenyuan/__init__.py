"""Wenyuan: a knowledge base you can trust.

import wenyuan as wy

with wy.open("./library") as library:
    library.add("notes/")
    answer = library.ask("四月十四号的会议定了什么？")
    print(answer.text, answer.citations)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wenyuan.runtime.backups import restore
    from wenyuan.runtime.library import Library, TextToAdd
    from wenyuan.runtime.library import open_library as open

__all__ = ["Library", "TextToAdd", "open", "restore"]


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that importing the package stays free of heavy libraries (PEP 562).
    if name == "restore":
        return import_module("wenyuan.runtime.backups").restore
    if name in __all__:
        return getattr(import_module("wenyuan.runtime.library"), "open_library" if name == "open" else name)
    raise AttributeError(f"module 'wenyuan' has no attribute {name!r}")
