"""A few documents that come with the program, for whoever has none at hand yet."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

from wenyuan.errors import KnowledgeBaseExists
from wenyuan.runtime.knowledge_bases import KnowledgeBases
from wenyuan.runtime.uploads import Upload
from wenyuan.types import KnowledgeBase

_FOLDER = "example_documents"
_MOST_NAMES = 100


def example_documents() -> Iterator[tuple[str, bytes]]:
    """Their names and bytes: meetings, a handbook, a page, a sheet and a PDF, in Chinese and English."""
    folder = resources.files("wenyuan.runtime") / _FOLDER
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        yield file.name, file.read_bytes()


def new_base(bases: KnowledgeBases, name: str, description: str) -> KnowledgeBase:
    """A new knowledge base of this name, with a number behind it where there is one of this name already."""
    for number in range(1, _MOST_NAMES):
        try:
            return bases.create(name if number == 1 else f"{name} {number}", description=description)
        except KnowledgeBaseExists:
            continue
    raise KnowledgeBaseExists(name=name)


def add_example(upload: Upload, name: str, content: bytes) -> None:
    """Store one of them with the job that reads it."""
    try:
        upload.write(content)
        upload.finish(name)
    finally:
        upload.discard()
