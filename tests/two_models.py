"""Libraries with several embedding models, each a service of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.runtime.library import Library


def configure(home: Path, servers: Mapping[str, EmbeddingServer], default: str, more: str = "") -> None:
    """Write the wenyuan.toml of a library; `more` are further lines, such as of the section `worker`."""
    home.mkdir(parents=True, exist_ok=True)
    text = f'[defaults]\nembedding_model = "{default}"\n'
    for name, server in servers.items():
        text += described(name, server)
    (home / "wenyuan.toml").write_text(text + (more or "[worker]\nthreads = 1\n"), "utf-8")


def described(name: str, server: EmbeddingServer, more: str = "", model: str = "") -> str:
    """The settings of one model."""
    return (
        f'[models."{name}"]\nprotocol = "openai-compatible"\nmodel = "{model or name}"\n'
        f'base_url = "{server.base_url}"\ndimensions = {server.dimensions}\n{more}\n'
    )


@contextmanager
def opened(folder: Path, servers: Mapping[str, EmbeddingServer], default: str = "a") -> Iterator[Library]:
    """A library with one worker thread, whose models are called by the names of their servers."""
    configure(folder / "library", servers, default)
    with wy.open(folder / "library") as library:
        yield library


def found(library: Library, question: str) -> list[str]:
    """The documents that a question finds, best first, each once."""
    return list(dict.fromkeys(hit.passage.document_name for hit in library.search(question, top_k=100).hits))


def indexed_with(library: Library) -> str:
    return library.knowledge_bases.show("default").indexed_with


def embedded_texts(server: EmbeddingServer) -> list[str]:
    """What a server was asked to embed as passages, prefix and all; the questions of these tests end in ？."""
    return [text for text in server.inputs if not text.endswith("？")]
