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
    from wenyuan.client.library import Client
    from wenyuan.runtime.backups import restore
    from wenyuan.runtime.library import Library, TextToAdd
    from wenyuan.runtime.opening import open_library as open

__all__ = ["Client", "Library", "TextToAdd", "open", "restore"]

_HOMES = {
    "Client": ("wenyuan.client.library", "Client"),
    "Library": ("wenyuan.runtime.library", "Library"),
    "TextToAdd": ("wenyuan.runtime.library", "TextToAdd"),
    "open": ("wenyuan.runtime.opening", "open_library"),
    "restore": ("wenyuan.runtime.backups", "restore"),
}


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that importing the package stays free of heavy libraries (PEP 562).
    if name not in _HOMES:
        raise AttributeError(f"module 'wenyuan' has no attribute {name!r}")
    module, inside = _HOMES[name]
    return getattr(import_module(module), inside)
